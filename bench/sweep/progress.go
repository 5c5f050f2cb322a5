package main

import (
	"fmt"
	"os"
	"sync/atomic"

	"github.com/vbauerster/mpb/v8"
	"github.com/vbauerster/mpb/v8/cwriter"
	"github.com/vbauerster/mpb/v8/decor"

	"github.com/penstock-go/penstock/bench/analysis"
)

// progress is a bar, where standard error is a terminal.
type progress struct {
	container *mpb.Progress
	bar       *mpb.Bar
	last      atomic.Pointer[string]
	done      int
}

func newProgress(total int) *progress {
	p := &progress{}
	if !cwriter.IsTerminal(int(os.Stderr.Fd())) {
		return p
	}
	p.container = mpb.New(mpb.WithOutput(os.Stderr))
	p.bar = p.container.AddBar(int64(total),
		mpb.PrependDecorators(decor.CountersNoUnit("%d / %d measurements")),
		mpb.AppendDecorators(decor.Any(func(decor.Statistics) string {
			if text := p.last.Load(); text != nil {
				return *text
			}
			return ""
		}), decor.AverageETA(decor.ET_STYLE_GO)))
	return p
}

// turn counts a measurement. The bar's end moves closer with every setting that
// is stopped.
func (p *progress) turn(s analysis.Setting, seconds float64, left int) {
	p.done++
	if p.bar == nil {
		return
	}
	text := fmt.Sprintf("%v: %.0f samples/s, ", s, 1/seconds)
	p.last.Store(&text)
	p.bar.SetTotal(int64(p.done+left), false)
	p.bar.SetCurrent(int64(p.done))
}

// close ends the bar, full or not.
func (p *progress) close() {
	if p.container != nil {
		p.bar.SetTotal(int64(p.done), true)
		p.container.Wait()
	}
}
