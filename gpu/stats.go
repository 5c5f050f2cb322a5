package gpu

import (
	"sync/atomic"
	"time"
)

// Stats counts what a [Stage] has done since it was made.
type Stats struct {
	Batches int64 // delivered to loop bodies
	Uploads int64 // complete, including batches that were not delivered because the loop ended
	Bytes   int64 // uploaded
	// Early counts the batches that were on the device before the loop asked for
	// them. If it is less than Batches, Wait is the time that the others cost.
	Early int64
	Wait  time.Duration // of the loop, for the loader or for an upload

	// Upload is the total time of all uploads: each from its start on the stream
	// until the Stage noticed its end. Hidden is the part of it during which a loop
	// body ran. A loop body that only launches kernels and calls [Batch.UsedBy]
	// returns at once: almost nothing then counts as hidden, although the device
	// computes during the uploads.
	Upload time.Duration
	Hidden time.Duration
}

// HiddenShare is Hidden divided by Upload, 0 to 1. Near 1, uploads cost the loop
// almost no time. Before the first upload it is 0.
func (s Stats) HiddenShare() float64 {
	if s.Upload <= 0 {
		return 0
	}
	return float64(s.Hidden) / float64(s.Upload)
}

type counts struct {
	batches, uploads, bytes, early, wait atomic.Int64
}

// receive takes the next item, and measures how long the loop has to wait for it.
func (c *counts) receive(ready <-chan item) (it item, ok bool) {
	select {
	case it, ok = <-ready:
		it.early = true
	default:
		start := time.Now()
		it, ok = <-ready
		c.wait.Add(int64(time.Since(start)))
	}
	return it, ok
}

// delivered counts a batch that the loop body receives.
func (c *counts) delivered(it item) {
	c.batches.Add(1)
	if it.early {
		c.early.Add(1)
	}
}

// Stats returns the counts so far. Any goroutine may call it at any time.
func (s *Stage) Stats() Stats {
	upload, hidden := s.meter.times()
	return Stats{
		Batches: s.counts.batches.Load(),
		Uploads: s.counts.uploads.Load(),
		Bytes:   s.counts.bytes.Load(),
		Early:   s.counts.early.Load(),
		Wait:    time.Duration(s.counts.wait.Load()),
		Upload:  upload,
		Hidden:  hidden,
	}
}
