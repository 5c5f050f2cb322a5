package gpu

import (
	"sync/atomic"
	"time"
)

// Stats counts what a [Stage] has done since it was made.
type Stats struct {
	Batches int64 // delivered to loop bodies
	Bytes   int64 // uploaded
	// Early batches were on the device before the loop asked for them. Early
	// divided by Batches is the part of uploads that was hidden behind the loop
	// body. Where it is below 1, Wait says what the rest costs.
	Early int64
	Wait  time.Duration // of the loop, for the loader or the upload
}

type counts struct {
	batches, bytes, early, wait atomic.Int64
}

func (c *counts) add(bytes int64) { c.bytes.Add(bytes) }

// receive takes the next item, and notes whether it had to be waited for.
func (c *counts) receive(ready <-chan item) (it item, ok bool) {
	select {
	case it, ok = <-ready:
		if ok && it.err == nil {
			c.early.Add(1)
		}
	default:
		start := time.Now()
		it, ok = <-ready
		c.wait.Add(int64(time.Since(start)))
	}
	if ok && it.err == nil {
		c.batches.Add(1)
	}
	return it, ok
}

// Stats may be called at any time by any goroutine.
func (s *Stage) Stats() Stats {
	return Stats{
		Batches: s.counts.batches.Load(),
		Bytes:   s.counts.bytes.Load(),
		Early:   s.counts.early.Load(),
		Wait:    time.Duration(s.counts.wait.Load()),
	}
}
