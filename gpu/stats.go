package gpu

import (
	"sync/atomic"
	"time"
)

// Stats counts what a [Stage] has done since it was made.
type Stats struct {
	Batches int64 // delivered to loop bodies
	Uploads int64 // ended; those of batches that a break left undelivered too
	Bytes   int64 // uploaded
	// Early batches were on the device before the loop asked for them. Where they
	// are fewer than Batches, Wait says what that costs.
	Early int64
	Wait  time.Duration // of the loop, for the loader or the upload

	// Upload is the time that uploads took, one after the other, from the moment
	// they were given to the stream until their end was noticed. Hidden is the part
	// of it in which a loop body ran. A body that only launches work, and names
	// its stream to [Batch.UsedBy], hides nothing by this count, although the
	// device computes meanwhile.
	Upload time.Duration
	Hidden time.Duration
}

// HiddenShare is Hidden divided by Upload: near 1, uploads cost the loop nothing.
// It is 0 before the first upload.
func (s Stats) HiddenShare() float64 {
	if s.Upload <= 0 {
		return 0
	}
	return float64(s.Hidden) / float64(s.Upload)
}

type counts struct {
	batches, uploads, bytes, early, wait atomic.Int64
}

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
	return it, ok
}

// Stats may be called at any time by any goroutine.
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
