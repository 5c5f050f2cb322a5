package bench_test

import (
	"strings"
	"testing"
	"time"

	"github.com/penstock-go/penstock/bench/analysis"
	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/loader"
)

// A side is one of several ways to do the same work. Its function returns the time that it
// took.
type side struct {
	name string
	run  func() time.Duration
}

// compare lets the sides take turns as long as the benchmark runs, and for at least three
// rounds unless -benchtime gives a count. It reports the median of each side in samples per
// second. For every side other than the last it also reports the median ratio to the last,
// in percent.
func compare(b *testing.B, samples int, sides ...side) {
	b.Helper()
	took := make([][]time.Duration, len(sides))
	round := func() {
		for i, s := range sides {
			took[i] = append(took[i], s.run())
		}
	}
	timed := !strings.HasSuffix(setting("test.benchtime"), "x")
	for b.Loop() {
		round()
	}
	for timed && len(took[0]) < 3 { // testing stopped after fewer, long rounds
		round()
	}
	last := len(sides) - 1
	for i, s := range sides {
		b.ReportMetric(float64(samples)/median(took[i]).Seconds(), s.name+"/s")
		if i == last {
			continue
		}
		percent := make([]float64, len(took[i]))
		for k := range percent {
			percent[k] = 100 * took[last][k].Seconds() / took[i][k].Seconds()
		}
		b.ReportMetric(median(percent), s.name+"-%-of-"+sides[last].name)
	}
	b.ReportMetric(0, "ns/op")
}

// median returns the median of durations or numbers.
func median[T time.Duration | float64](values []T) T {
	list := make([]float64, len(values))
	for i, v := range values {
		list[i] = float64(v)
	}
	return T(analysis.NewFigure(list...).Median)
}

func newLoader(b *testing.B, ds dataset.Dataset, options ...loader.Option) *loader.Loader {
	b.Helper()
	l, err := loader.New(ds, options...)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { l.Close() })
	return l
}

// epoch loads one epoch and does nothing with it.
func epoch(b *testing.B, l *loader.Loader, n int) time.Duration {
	b.Helper()
	begun := time.Now()
	for _, err := range l.Epoch(b.Context(), n) {
		if err != nil {
			b.Fatal(err)
		}
	}
	return time.Since(begun)
}
