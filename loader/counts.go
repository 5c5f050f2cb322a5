package loader

import (
	"slices"
	"sync"
	"time"
)

// maxFailures bounds Stats.Failures.
const maxFailures = 1000

// counts holds the part of Stats that the loop writes.
type counts struct {
	mu       sync.Mutex
	samples  int64
	batches  int64
	empty    int64
	dropped  int64
	failures []*SampleError
	noBatch  string
	wait     Wait
	body     time.Duration

	since  time.Time // when the loop began to wait or entered its body; zero if no loop runs
	inBody bool
}

// loops notes that a loop runs and waits since begun, or that it has ended if begun is zero.
func (c *counts) loops(begun time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.since, c.inBody = begun, false
	if !begun.IsZero() {
		c.noBatch = ""
	}
}

func (c *counts) waited(d time.Duration, first bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.since, c.inBody = c.since.Add(d), true
	c.wait.Count++
	c.wait.Total += d
	c.wait.Longest = max(c.wait.Longest, d)
	if first {
		c.wait.First = d
	}
}

func (c *counts) bodyTook(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.body += d
	c.since, c.inBody = c.since.Add(d), false
}

func (c *counts) delivered(samples int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.batches++
	c.samples += int64(samples)
}

// vacant notes why a loop had no batch, if it had none.
func (c *counts) vacant(why string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.noBatch = why
}

func (c *counts) emptied() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.empty++
}

// failed counts samples that could not be placed here, or by a service.
func (c *counts) failed(failed []failure, dropped int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.dropped += int64(len(failed) + dropped)
	for _, f := range failed {
		if len(c.failures) < maxFailures {
			c.failures = append(c.failures, f.err)
		}
	}
}

func (c *counts) stats() Stats {
	c.mu.Lock()
	defer c.mu.Unlock()
	return Stats{
		Samples:  c.samples,
		Batches:  c.batches,
		Emptied:  c.empty,
		Dropped:  c.dropped,
		Failures: slices.Clone(c.failures),
		NoBatch:  c.noBatch,
		Wait:     c.wait,
		Body:     c.body,
	}
}
