package main

import (
	"fmt"
	"time"

	"github.com/penstock-go/penstock/loader"
)

// progress prints a line per epoch and a summary.
type progress struct {
	t          *trainer
	first      int // epochs before this run
	begun, lap time.Time
	stats      loader.Stats // when the lap began
}

func newProgress(t *trainer) *progress {
	now := time.Now()
	return &progress{t: t, first: len(t.accuracy), begun: now, lap: now}
}

// epoch prints how the epoch went.
func (p *progress) epoch() {
	n := len(p.t.accuracy)
	losses := p.t.losses[(n-1)*p.t.perEpoch:]
	mean := 0.0
	for _, l := range losses {
		mean += float64(l) / float64(len(losses))
	}
	now, stats := time.Now(), p.t.trainLoader.Stats()
	took, spent := now.Sub(p.lap), stats.Sub(p.stats)
	fmt.Printf("epoch %2d of %d: loss %.3f; validation: loss %.3f, accuracy %.1f %%; %.1f s, %.0f images/s, %.1f %% of it waiting for data\n",
		n, p.t.epochs, mean, p.t.validLosses[n-1], 100*p.t.accuracy[n-1],
		took.Seconds(), float64(spent.Samples)/took.Seconds(), 100*spent.Wait.Total.Seconds()/took.Seconds())
	p.lap, p.stats = now, stats
}

// summary prints the results of this run.
func (p *progress) summary() {
	took, n := time.Since(p.begun), len(p.t.accuracy)
	fmt.Printf("\n%d epochs in %.1f s\n", n-p.first, took.Seconds())
	if n > 0 {
		fmt.Printf("accuracy:   %.1f %% of the validation images; always the most frequent class: %.1f %%\n", 100*p.t.accuracy[n-1], 100*p.t.chance)
	}
	fmt.Println("checkpoint:", p.t.checkpoint)
}
