package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"runtime"
	"time"

	"github.com/penstock-go/penstock/bench"
	"github.com/penstock-go/penstock/bench/analysis"
	"github.com/penstock-go/penstock/loader"
)

const (
	settling = 4       // turns before the first measurement of Auto, for each latency
	budget   = 1 << 30 // bytes, for Auto and for fixed numbers of workers
)

// compareAuto compares loader.Auto with fixed numbers of workers, on all loads, and prints a table.
func compareAuto(ctx context.Context, o options, out io.Writer) error {
	loads, err := o.loads(ctx)
	if err != nil {
		return err
	}
	blank, err := bench.Blank(ctx)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "%s\n%d rounds of %v, in turns; Auto has loaded for %v before, for every latency\n\n", blank.Machine, o.rounds, o.turn, settling*o.turn)
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
			loader.OnError(loader.Skip, loader.NoLimit))
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
	if l.moody != nil {
		l.moody.latency.Store(int64(latency))
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
			if _, _, err := device.Run(ctx, b, 0); err != nil {
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
