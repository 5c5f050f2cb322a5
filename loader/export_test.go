package loader

import (
	"time"

	"github.com/penstock-go/penstock/loader/internal/tune"
)

// Restless makes a loader with Auto change the number of workers all the time:
// to random numbers, up to n.
func Restless(n int, random func(n int) int) Option {
	return Option{func(c *config) {
		c.slice = 4 * time.Microsecond
		c.processorWait = func() (time.Duration, bool) { return 0, false }
		c.decide = func(t *tune.Tuner, _ tune.Window, _ tune.Limits) bool {
			t.Workers, t.Reason = 1+random(n), "a whim"
			t.Changes++
			return true
		}
	}}
}

// ProcessTime sets where the loader reads the processor time of the process, and that its
// threads never wait for processors. Simulated time passes without any.
func ProcessTime(read func() (used time.Duration, known bool)) Option {
	return Option{func(c *config) {
		c.processTime = read
		c.processorWait = func() (time.Duration, bool) { return 0, false }
	}}
}

// ProcessorWait sets where the loader reads for how long threads have waited for processors.
func ProcessorWait(read func() (waited time.Duration, known bool)) Option {
	return Option{func(c *config) { c.processorWait = read }}
}

// Options are several options as one.
func Options(options ...Option) Option {
	return Option{func(c *config) {
		for _, o := range options {
			o.set(c)
		}
	}}
}

// Changes is how often Auto has changed the number of workers.
func Changes(l *Loader) int { return l.chosen.Load().Changes }
