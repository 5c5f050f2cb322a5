package bench_test

import (
	"context"
	"flag"
	"fmt"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/penstock-go/penstock/bench"
	"github.com/penstock-go/penstock/bench/analysis"
	"github.com/penstock-go/penstock/bench/result"
)

var (
	full        = flag.Bool("full", false, "the studies' whole grids, which take hours: give -timeout too")
	resultsFile = flag.String("results", "", "file to append a record per configuration and round to, as JSON lines; relative to the folder bench")
	roundsFlag  = flag.Int("rounds", 0, "rounds in which configurations take turns; 3 by default, and 1 with -benchtime 1x")
)

// quick reports whether benchmarks only have to show that they work.
func quick() bool { return !*full && (testing.Short() || setting("test.benchtime") == "1x") }

func setting(name string) string {
	if f := flag.Lookup(name); f != nil {
		return f.Value.String()
	}
	return ""
}

// sized returns the value for the kind of run: quick, normal or the full grid.
func sized[T any](quickly, usual, whole T) T {
	switch {
	case *full:
		return whole
	case quick():
		return quickly
	}
	return usual
}

func rounds() int {
	switch {
	case *roundsFlag > 0:
		return *roundsFlag
	case quick():
		return 1
	}
	return 3
}

// A cell is one configuration of a study.
type cell struct {
	bench.Run
	run    func(ctx context.Context) (result.Measured, error) // replaces Run.Once if not nil
	report func(b *testing.B, rounds []result.Measured)       // reports what only this study measures; may be nil
}

// most is the greatest number of iterations that package testing requests.
const most = 1e9

// measure lets the cells take turns, in reverse order in every second round. It appends the
// records to the file of -results, and reports every cell as a benchmark whose iterations
// are its rounds.
func measure(b *testing.B, cells []cell) {
	if setting("test.count") != "1" {
		b.Fatal("use -rounds in place of -count: configurations take turns")
	}
	cells = slices.DeleteFunc(cells, func(c cell) bool { return !wanted(setting("test.bench"), b.Name()+"/"+named(c.Config)) })
	measured := make([][]result.Measured, len(cells))
	for round := range rounds() {
		for k := range cells {
			if round%2 == 1 {
				k = len(cells) - 1 - k
			}
			runtime.GC() // so that the garbage of one cell is not collected in the next
			c := cells[k]
			if c.run == nil {
				c.run = c.Once
			}
			m, err := c.run(b.Context())
			if err != nil {
				b.Fatalf("%s: %v", named(c.Config), err)
			}
			measured[k] = append(measured[k], m)
			keep(b, c, round, m)
		}
	}
	for k, c := range cells {
		b.Run(named(c.Config), func(b *testing.B) {
			b.StopTimer() // testing calls again with greater N, up to the greatest that it allows
			report(b, measured[k])
			if c.report != nil {
				c.report(b, measured[k])
			}
			if b.N == most {
				//lint:ignore SA3001 what was measured above is not repeated
				b.N = len(measured[k])
			}
		})
	}
}

// show reports the median of a quantity over rounds.
func show(b *testing.B, rounds []result.Measured, unit string, of func(m result.Measured) float64) {
	b.ReportMetric(analysis.NewFigure(each(rounds, of)...).Median, unit)
}

func each(rounds []result.Measured, of func(m result.Measured) float64) []float64 {
	values := make([]float64, len(rounds))
	for i, m := range rounds {
		values[i] = of(m)
	}
	return values
}

// spread is the difference between the least and the greatest value, in percent of the median.
func spread(values []float64) float64 {
	return 100 * (slices.Max(values) - slices.Min(values)) / analysis.NewFigure(values...).Median
}

// report reports the quantities that all studies have in common.
func report(b *testing.B, rounds []result.Measured) {
	b.ReportMetric(0, "ns/op") // removes it from the output
	rate := func(m result.Measured) float64 { return float64(m.Samples) / m.Seconds }
	show(b, rounds, "samples/s", rate)
	b.ReportMetric(spread(each(rounds, rate)), "spread-%")
	if len(rounds[0].Waits) == 0 {
		return
	}
	show(b, rounds, "ms-to-first-batch", func(m result.Measured) float64 { return 1000 * m.FirstBatch })
	if len(rounds[0].Waits) > 1 { // there are waits after the first one
		show(b, rounds, "median-wait-ms", func(m result.Measured) float64 { return 1000 * analysis.NewRhythm(m.Waits, 1).Median })
		show(b, rounds, "p99-wait-ms", func(m result.Measured) float64 { return 1000 * analysis.NewRhythm(m.Waits, 1).P99 })
		show(b, rounds, "longest-wait-ms", func(m result.Measured) float64 { return 1000 * analysis.NewRhythm(m.Waits, 1).Longest })
	}
	show(b, rounds, "allocs/batch", func(m result.Measured) float64 { return float64(m.Allocations) / float64(len(m.Waits)) })
}

// wanted reports whether the pattern of -bench chooses a benchmark, given that testing has
// chosen the first part of its name. If the pattern has alternatives and a slash, it reports
// true: it is better to measure too much than too little.
func wanted(pattern, name string) bool {
	if strings.ContainsAny(pattern, "|()[]") && strings.Contains(pattern, "/") {
		return true
	}
	parts := strings.Split(name, "/")
	for i, p := range strings.Split(pattern, "/") {
		if i >= len(parts) {
			break
		}
		if i == 0 {
			continue
		}
		if ok, err := regexp.MatchString(p, parts[i]); err == nil && !ok {
			return false
		}
	}
	return true
}

var blank = sync.OnceValues(func() (result.Record, error) { return bench.Blank(context.Background()) })

// keep appends a record to the file of -results, if there is one.
func keep(b *testing.B, c cell, round int, m result.Measured) {
	b.Helper()
	if *resultsFile == "" {
		return
	}
	r, err := blank()
	if err != nil {
		b.Fatal(err)
	}
	if c.Study != result.Loading {
		m.Waits = nil // thousands, which only the loading study needs
	}
	r.Study, r.Round, r.Config, r.Measured = c.Study, round, c.Config, m
	if c.Study == result.Inference {
		r.Side = "gorgonia" // its nets are measured, not this library
	}
	if err := result.AppendFile(*resultsFile, r); err != nil {
		b.Fatal(err)
	}
}

// named returns the part of a benchmark's name that describes its configuration.
func named(c result.Config) string {
	parts := []string{c.Data}
	add := func(on bool, format string, v any) {
		if on {
			parts = append(parts, fmt.Sprintf(format, v))
		}
	}
	add(c.Model != "", "%v", c.Model)
	add(c.Span != "", "%v", strings.ReplaceAll(c.Span, " ", "-"))
	add(true, "batch=%d", c.Batch)
	add(true, "workers=%d", c.Workers)
	add(c.ConsumerSeconds > 0, "consumer=%vs", c.ConsumerSeconds)
	add(c.Help != "", "help=%s", c.Help)
	return strings.Join(parts, "/")
}
