package main

import (
	"fmt"
	"io"
	"math"
	"os"
	"sync/atomic"
	"time"

	"github.com/vbauerster/mpb/v8"
	"github.com/vbauerster/mpb/v8/cwriter"
	"github.com/vbauerster/mpb/v8/decor"

	"github.com/penstock-go/penstock/loader"
)

// progress prints a line per epoch and a summary, and a bar if standard error is a
// terminal.
type progress struct {
	t         *trainer
	container *mpb.Progress
	bar       *mpb.Bar
	out       io.Writer     // above the bar
	smooth    atomic.Uint64 // the loss, a running mean

	first      int // epochs before this run
	images     int64
	begun, lap time.Time
	stats      loader.Stats // when the lap began
}

func newProgress(t *trainer) *progress {
	now := time.Now()
	p := &progress{t: t, out: os.Stdout, first: len(t.accuracy), begun: now, lap: now}
	if !cwriter.IsTerminal(int(os.Stderr.Fd())) {
		return p
	}
	done := t.position.Epoch*t.data.train.Len() + t.position.Draw
	p.container = mpb.New(mpb.WithOutput(os.Stderr))
	p.bar = p.container.AddBar(int64(max(t.epochs*t.data.train.Len()-done, 0)),
		mpb.PrependDecorators(decor.CountersNoUnit("%d / %d images")),
		mpb.AppendDecorators(decor.AverageSpeed(0, "%.0f images/s"),
			decor.Any(func(decor.Statistics) string {
				return fmt.Sprintf(", loss %.3f, ", math.Float64frombits(p.smooth.Load()))
			}), decor.AverageETA(decor.ET_STYLE_GO)))
	p.out = p.container
	return p
}

// step counts a batch.
func (p *progress) step(batch *loader.Batch, loss float32) {
	p.images += int64(batch.Len())
	if p.bar == nil {
		return
	}
	smooth := float64(loss)
	if old := math.Float64frombits(p.smooth.Load()); old > 0 {
		smooth = 0.95*old + 0.05*smooth
	}
	p.smooth.Store(math.Float64bits(smooth))
	p.bar.IncrBy(batch.Len())
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
	took := now.Sub(p.lap)
	fmt.Fprintf(p.out, "epoch %2d of %d: loss %.3f; validation: loss %.3f, accuracy %.1f %%; %.1f s, %.1f %% of it waiting for data\n",
		n, p.t.epochs, mean, p.t.validLosses[n-1], 100*p.t.accuracy[n-1],
		took.Seconds(), share(stats.Sub(p.stats).Wait.Total, took))
	p.lap, p.stats = now, stats
}

// close ends the bar.
func (p *progress) close() {
	if p.container != nil {
		p.bar.Abort(false) // does nothing to a bar that is complete
		p.container.Wait()
	}
}

// summary prints the results of this run.
func (p *progress) summary() {
	took, stats := time.Since(p.begun), p.t.trainLoader.Stats()
	if epochs := len(p.t.accuracy) - p.first; p.images > 0 {
		fmt.Printf("\n%d images in %.1f s, %.0f images/s", p.images, took.Seconds(), float64(p.images)/took.Seconds())
		if epochs > 0 {
			fmt.Printf("; %.1f s per epoch", took.Seconds()/float64(epochs))
		}
		fmt.Printf("; %.2f %% of the time waiting for data\n", share(stats.Wait.Total, took))
	} else {
		fmt.Printf("\nthe run has already made its %d epochs\n", len(p.t.accuracy))
	}
	if n := len(p.t.accuracy); n > 0 {
		fmt.Printf("accuracy:   %.1f %% of the validation images; always the most frequent class: %.1f %%\n",
			100*p.t.accuracy[n-1], 100*p.t.chance)
	}
	fmt.Println("checkpoint:", p.t.checkpoint)
}

// share is a part of a whole, in percent.
func share(part, whole time.Duration) float64 {
	return 100 * part.Seconds() / max(whole.Seconds(), 1e-9)
}
