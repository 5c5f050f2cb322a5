package main

import (
	"fmt"
	"io"
	"os"
	"time"

	"github.com/penstock-go/penstock/bench/analysis"
)

// progress is a line on a terminal that is overwritten with the progress.
type progress struct {
	out   io.Writer // nil if there is no terminal
	begun time.Time
	done  int
}

func newProgress(f *os.File) *progress {
	p := &progress{begun: time.Now()}
	if info, err := f.Stat(); err == nil && info.Mode()&os.ModeCharDevice != 0 {
		p.out = f
	}
	return p
}

// turn counts a measurement. left is the greatest number of measurements still to come.
func (p *progress) turn(s analysis.Setting, seconds float64, left int) {
	p.done++
	if p.out == nil {
		return
	}
	rest := time.Duration(float64(time.Since(p.begun)) / float64(p.done) * float64(left)).Round(time.Second)
	fmt.Fprintf(p.out, "\r\x1b[K%d of %d measurements, %v at most; %v: %.0f samples/s", p.done, p.done+left, rest, s, 1/seconds)
}

// close clears the line.
func (p *progress) close() {
	if p.out != nil {
		fmt.Fprint(p.out, "\r\x1b[K")
	}
}
