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
	"time"

	"github.com/penstock-go/penstock/bench"
	"github.com/penstock-go/penstock/bench/analysis"
	"github.com/penstock-go/penstock/bench/result"
)

var (
	full        = flag.Bool("full", false, "the studies' whole grids, which take hours: give -timeout too")
	resultsFile = flag.String("results", "", "file to append a record per configuration and round to, as JSON lines; relative to the folder bench")
	roundsFlag  = flag.Int("rounds", 0, "rounds in which configurations take turns; 3 by default, and 1 with -benchtime 1x")
)

// quick tells that benchmarks are to show that they work, and no more.
func quick() bool { return !*full && (testing.Short() || setting("test.benchtime") == "1x") }

func setting(name string) string {
	if f := flag.Lookup(name); f != nil {
		return f.Value.String()
	}
	return ""
}

// sized is what a run of this kind takes.
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
	name   string // of the benchmark
	config result.Config
	epoch  int // of the loader that is measured
	run    func(ctx context.Context) (result.Measured, error)
	report func(b *testing.B, rounds []result.Measured) // what the study shows besides; may be nil
}

// most is the greatest number of iterations that testing asks for.
const most = 1e9

// measure lets cells take turns, every other round backwards, keeps what comes
// out in the file of -results, and reports every cell as a benchmark, whose
// iterations are its rounds.
func measure(b *testing.B, study result.Study, cells []cell) {
	if setting("test.count") != "1" {
		b.Fatal("use -rounds in place of -count: configurations take turns")
	}
	cells = slices.DeleteFunc(cells, func(c cell) bool { return !wanted(setting("test.bench"), b.Name()+"/"+c.name) })
	measured := make([][]result.Measured, len(cells))
	for round := range rounds() {
		for k := range cells {
			if round%2 == 1 {
				k = len(cells) - 1 - k
			}
			runtime.GC() // what one cell leaves is not collected in the next
			m, err := cells[k].run(b.Context())
			if err != nil {
				b.Fatalf("%s: %v", cells[k].name, err)
			}
			measured[k] = append(measured[k], m)
			keep(b, study, cells[k], round, m)
		}
	}
	for k, c := range cells {
		b.Run(c.name, func(b *testing.B) {
			b.StopTimer() // testing calls again, with greater N, until the last that it allows
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

// report shows what all studies have in common.
func report(b *testing.B, rounds []result.Measured) {
	show := func(unit string, of func(m result.Measured) float64) analysis.Figure {
		values := make([]float64, len(rounds))
		for i, m := range rounds {
			values[i] = of(m)
		}
		f := analysis.NewFigure(values...)
		b.ReportMetric(f.Median, unit)
		return f
	}
	b.ReportMetric(0, "ns/op") // of nothing
	rate := show("samples/s", func(m result.Measured) float64 { return float64(m.Samples) / m.Seconds })
	b.ReportMetric(100*(rate.High-rate.Low)/rate.Median, "spread-%")
	if len(rounds[0].Waits) == 0 {
		return
	}
	show("ms-to-first-batch", func(m result.Measured) float64 { return 1000 * m.FirstBatch })
	if len(rounds[0].Waits) > 1 { // there are others than the first
		show("median-wait-ms", func(m result.Measured) float64 { return 1000 * analysis.NewRhythm(m.Waits, 1).Median })
		show("p99-wait-ms", func(m result.Measured) float64 { return 1000 * analysis.NewRhythm(m.Waits, 1).P99 })
		show("longest-wait-ms", func(m result.Measured) float64 { return 1000 * analysis.NewRhythm(m.Waits, 1).Longest })
	}
	if rounds[0].Allocations == 0 {
		return // they were not counted
	}
	show("allocs/batch", func(m result.Measured) float64 { return float64(m.Allocations) / float64(len(m.Waits)) })
}

// allocating runs f and counts what the process allocates on Go's heap meanwhile.
func allocating(m *result.Measured, f func() error) error {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	err := f()
	runtime.ReadMemStats(&after)
	m.Allocations, m.AllocatedBytes = int64(after.Mallocs-before.Mallocs), int64(after.TotalAlloc-before.TotalAlloc)
	return err
}

// wanted tells whether the pattern of -bench chooses a benchmark whose first name
// testing has chosen. Where an expression has alternatives beside a slash, all are
// wanted: measuring too much is better than too little.
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
func keep(b *testing.B, study result.Study, c cell, round int, m result.Measured) {
	b.Helper()
	if *resultsFile == "" {
		return
	}
	r, err := blank()
	if err != nil {
		b.Fatal(err)
	}
	r.Study, r.Round, r.Epoch, r.Config, r.Measured = study, round, c.epoch, c.config, brief(m)
	if study != result.Loading {
		r.Measured.Waits = nil // thousands, that no other study is about
	}
	if err := result.AppendFile(*resultsFile, r); err != nil {
		b.Fatal(err)
	}
}

// brief has its times in as many digits as a clock can be believed.
func brief(m result.Measured) result.Measured {
	for _, t := range []*float64{&m.Seconds, &m.FirstBatch, &m.Waiting, &m.Transfer, &m.Compute, &m.LoadingEnd, &m.EndToEnd, &m.CPU} {
		*t = microseconds(*t)
	}
	m.Waits = slices.Clone(m.Waits)
	for i := range m.Waits {
		m.Waits[i] = microseconds(m.Waits[i])
	}
	for i := range m.Usage {
		m.Usage[i].Seconds = microseconds(m.Usage[i].Seconds)
		m.Usage[i].CPUPercent = float64(int(10*m.Usage[i].CPUPercent)) / 10
	}
	for i := range m.Stages {
		m.Stages[i].Self, m.Stages[i].Total = microseconds(m.Stages[i].Self), microseconds(m.Stages[i].Total)
	}
	return m
}

// microseconds rounds seconds; what is shorter than one is not 0.
func microseconds(s float64) float64 {
	if s > 0 && s < 1e-6 {
		return 1e-6
	}
	return time.Duration(s * float64(time.Second)).Round(time.Microsecond).Seconds()
}

func help(on bool) string {
	if on {
		return result.HelpOn
	}
	return result.HelpOff
}

// named joins what a benchmark's name says of its configuration.
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
