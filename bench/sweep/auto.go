package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"runtime"
	"sync/atomic"
	"time"

	"github.com/penstock-go/penstock/bench"
	"github.com/penstock-go/penstock/bench/analysis"
	"github.com/penstock-go/penstock/bench/data"
	"github.com/penstock-go/penstock/bench/result"
	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/dataset/classic"
	"github.com/penstock-go/penstock/dataset/packed"
	"github.com/penstock-go/penstock/loader"
)

const (
	settling = 4       // turns before the first measurement of Auto, for each latency
	budget   = 1 << 30 // bytes, for Auto and for fixed numbers of workers
)

// A load is data and a loop body for which Auto is compared with fixed numbers of workers.
type load struct {
	name    string
	ds      dataset.Dataset
	batch   int
	body    float64         // samples per second of the loop body; 0 is no limit
	latency time.Duration   // of opening a file
	before  []time.Duration // latencies of the time before, which Auto has seen
	slow    *atomic.Int64   // is that latency, in nanoseconds, or nil
	workers []int           // the fixed numbers
}

// loads returns all loads. A folder of photos with latency is slow files.
func (o options) loads(ctx context.Context) ([]load, error) {
	dir, err := o.folder(ctx)
	if err != nil {
		return nil, err
	}
	photos, err := o.images(os.DirFS(dir))
	if err != nil {
		return nil, err
	}
	var latency atomic.Int64
	slow, err := o.images(bench.Throttle{Varies: &latency}.FS(os.DirFS(dir)))
	if err != nil {
		return nil, err
	}
	root, err := data.Root()
	if err != nil {
		return nil, err
	}
	// With few -samples, as in tests, little data is made up.
	if dir, err = data.Items(ctx, root, min(256, o.samples), dataset.Float32, 224); err != nil {
		return nil, err
	}
	items, err := packed.Items(os.DirFS(dir), "*.raw", data.Image(dataset.Float32, 224))
	if err != nil {
		return nil, err
	}
	if dir, err = data.CIFAR100(ctx, root, min(50_000, 50*o.samples)); err != nil {
		return nil, err
	}
	tiny, err := classic.CIFAR100(os.DirFS(dir), classic.Train)
	if err != nil {
		return nil, err
	}
	few, many := []int{1, 2, 4}, []int{32, 128, 256}
	const far, near = 80 * time.Millisecond, 2 * time.Millisecond
	return []load{
		{name: "photos", ds: photos, batch: 32, workers: few},
		{name: "preprocessed items", ds: items, batch: 64, workers: few},
		{name: "CIFAR-100 in memory", ds: tiny, batch: 64, workers: few},
		{name: "photos, loop of 200 samples/s", ds: photos, batch: 32, body: 200, workers: few},
		{name: "photos, loop of 1000 samples/s", ds: photos, batch: 32, body: 1000, workers: few},
		{name: "photos, loop of 5000 samples/s", ds: photos, batch: 32, body: 5000, workers: few},
		{name: "files of 80 ms", ds: slow, batch: 8, slow: &latency, latency: far, workers: many},
		{name: "files that were fast, now 80 ms", ds: slow, batch: 8, slow: &latency, before: []time.Duration{near}, latency: far, workers: many},
		{name: "files of 80 ms, now fast again", ds: slow, batch: 8, slow: &latency, before: []time.Duration{near, far}, latency: near, workers: []int{4, 8, 32}},
	}, nil
}

// compareAuto compares loader.Auto with fixed numbers of workers, on all loads, and prints a table.
func compareAuto(ctx context.Context, o options, machine result.Machine, out io.Writer) error {
	loads, err := o.loads(ctx)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "%s\n%d rounds of %v, in turns; Auto has loaded for %v before, for every latency\n\n", machine, o.rounds, o.turn, settling*o.turn)
	sheet := analysis.Sheet{Head: []string{"load", "Auto, samples/s", "best fixed, samples/s", "with workers", "Auto compared with it", "what Auto chose, and why"}}
	for _, l := range loads {
		row, err := l.compare(ctx, o)
		if err != nil {
			return fmt.Errorf("%s: %w", l.name, err)
		}
		sheet.Rows = append(sheet.Rows, row)
		fmt.Fprintf(out, "%s: %s\n", row[0], row[4])
	}
	_, err = fmt.Fprintf(out, "\n%s\nThe ratio is that of the two rates of a round, and the median over rounds with the least and the greatest.\n", sheet.Markdown())
	return err
}

// compare measures one load. Auto and all fixed numbers of workers take turns.
func (l load) compare(ctx context.Context, o options) (row []string, err error) {
	var open []*loader.Loader
	defer func() {
		for _, ld := range open {
			err = errors.Join(err, ld.Close())
		}
	}()
	for _, w := range append([]int{loader.Auto}, l.workers...) {
		ld, err := loader.New(l.ds, loader.Workers(w), loader.BatchSize(l.batch), loader.Shuffle(o.train), loader.Budget(budget),
			loader.Skip(loader.NoLimit))
		if err != nil {
			return nil, err
		}
		open = append(open, ld)
	}
	for _, latency := range append(l.before, l.latency) {
		l.becomes(latency)
		if _, err := l.rate(ctx, open[0], settling*o.turn); err != nil {
			return nil, err
		}
	}
	rates := make([][]float64, len(open)) // by loader and round
	for range o.rounds {
		for i, ld := range open {
			runtime.GC()
			rate, err := l.rate(ctx, ld, o.turn)
			if err != nil {
				return nil, err
			}
			rates[i] = append(rates[i], rate)
		}
	}
	best := 1
	for i := 2; i < len(open); i++ {
		if analysis.NewFigure(rates[i]...).Median > analysis.NewFigure(rates[best]...).Median {
			best = i
		}
	}
	var ratios []float64
	for k, rate := range rates[0] {
		ratios = append(ratios, rate/rates[best][k])
	}
	auto := open[0].Stats()
	return []string{l.name, analysis.NewFigure(rates[0]...).String(), analysis.NewFigure(rates[best]...).String(), fmt.Sprint(l.workers[best-1]),
		analysis.NewFigure(ratios...).String(), auto.Tuning}, nil
}

func (l load) becomes(latency time.Duration) {
	if l.slow != nil {
		l.slow.Store(int64(latency))
	}
}

// rate loops over epochs for a time, and returns the samples per second after its first third.
func (l load) rate(ctx context.Context, ld *loader.Loader, d time.Duration) (float64, error) {
	device := bench.Device{SamplesPerSecond: cmp.Or(l.body, math.Inf(1))}
	begun := time.Now()
	samples, before, since := 0, 0, time.Duration(0)
	for b, err := range ld.Epochs(ctx, 0, math.MaxInt32) {
		if err != nil {
			return 0, err
		}
		if l.body > 0 {
			if _, err := device.Run(ctx, b.Len(), 0); err != nil {
				return 0, err
			}
		}
		samples += b.Len()
		at := time.Since(begun)
		if at < d/3 || before == 0 {
			before, since = samples, at
		}
		if at >= d && samples > before {
			return float64(samples-before) / (at - since).Seconds(), nil
		}
	}
	return 0, errors.New("there is no data")
}
