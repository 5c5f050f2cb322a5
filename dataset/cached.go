package dataset

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/penstock-go/penstock/internal/figures"
)

// Cached keeps the samples of ds in memory, up to limit bytes, in the form in
// which ds places them. The first request for a sample reads it from ds. This
// happens once, even if several workers request it at the same time. Later
// requests copy it from memory. So a loader's first epoch runs at the speed of
// ds, and later epochs at the speed of memory.
//
// Samples are kept in the order in which they are first read. A sample that no
// longer fits is read from ds every time; smaller ones may still fit. Which
// samples are kept depends on which worker was first, but the content of
// batches does not. A sample that fails is not kept: the next request tries
// again.
//
// It is an error if ds makes a sample with the random numbers of [Slot.Rand],
// because the sample would be the same in every epoch. Put random augmentations
// after the cache instead: transform.Images(cached, …). Cached cannot notice
// random numbers from elsewhere: such a sample stays as it was first made.
//
// The cache takes 8 bytes per sample in addition to the limit. The
// garbage collector frees the memory after the program's last reference to the
// Cache. A Cache may outlive the loaders that use it.
func Cached(ds Dataset, limit int64) (*Cache, error) {
	if limit < 0 {
		return nil, fmt.Errorf("dataset: Cached: limit of %d bytes: want 0 or more", limit)
	}
	if err := needsLength("Cached", ds); err != nil {
		return nil, err
	}
	spec := ds.Spec()
	if err := spec.Validate(); err != nil {
		return nil, err
	}
	c := &Cache{Wrap: Wrap{ds}, entries: make([]atomic.Uint64, ds.Len()), readers: make(map[*cacheCounts]struct{})}
	c.memory.limit = limit
	c.waiting.calls = make(map[int]chan struct{})
	for _, f := range spec {
		if f.Ragged {
			c.header += lengthBytes
		}
	}
	return c, nil
}

// A Cache is a dataset that keeps its samples in memory after they were first
// read. [Cached] makes it.
type Cache struct {
	Wrap
	header  int             // bytes before a sample's values: a length per ragged field
	entries []atomic.Uint64 // of every sample: absent, reading, passed, or its place in memory
	memory  cacheMemory
	waiting waitingList

	mu      sync.Mutex
	readers map[*cacheCounts]struct{} // of open Readers
	closed  CacheStats                // hits and misses of closed ones
}

// The states of a sample that is not in memory. Higher values are places.
const (
	absent  = iota // not read yet, or read with an error
	reading        // a reader is about to place it
	passed         // read, but there was no room for it
	places
)

// CacheStats is what a [Cache] has done since it was made.
type CacheStats struct {
	Hits    int64 // samples that came from memory
	Misses  int64 // samples requested from the underlying dataset
	Samples int64 // samples in memory
	Bytes   int64 // of memory allocated, including the part that is not filled yet
	Limit   int64 // bytes, as given to [Cached]
}

// String is one line: "1000 samples in 12.5 MiB, limit 1 GiB, 3000 hits, 1000 misses".
func (s CacheStats) String() string {
	return fmt.Sprintf("%s in %s, limit %s, %s, %s",
		figures.Count(s.Samples, "sample", "samples"), figures.Bytes(s.Bytes), figures.Bytes(s.Limit),
		figures.Count(s.Hits, "hit", "hits"), figures.Count(s.Misses, "miss", "misses"))
}

// cacheCounts are what one Reader has done. Its worker alone writes them.
type cacheCounts struct {
	hits, misses atomic.Int64
	_            [48]byte // fills the cache line, so that the counts of two workers do not share one
}

// Len is the number of samples of the underlying dataset when the cache was made.
func (c *Cache) Len() int { return len(c.entries) }

// Foresee passes the future on to the underlying dataset, without the samples that are in
// memory by the time it looks at a batch.
func (c *Cache) Foresee(f Future) (stop func()) {
	return Foresee(c.Dataset, translated{f, func(indices []int) []int {
		missing := indices[:0]
		for _, i := range indices {
			if CheckIndex(i, c.Len()) == nil && c.entries[i].Load() < places {
				missing = append(missing, i)
			}
		}
		return missing
	}})
}

// Stats reports what the cache holds, and its hits and misses by all Readers
// together. It may be called at any time.
func (c *Cache) Stats() CacheStats {
	c.mu.Lock()
	s := c.closed
	for r := range c.readers {
		s.Hits += r.hits.Load()
		s.Misses += r.misses.Load()
	}
	c.mu.Unlock()
	s.Samples, s.Bytes = c.memory.taken()
	s.Limit = c.memory.limit
	return s
}

// Open opens a Reader. It is a [BatchReader] if the underlying dataset's Reader
// is one. It is no [PartReader], because whole samples are kept.
func (c *Cache) Open() (Reader, error) {
	inner, err := c.Wrap.Open()
	if err != nil {
		return nil, err
	}
	one := cacheReader{cache: c, inner: inner, counts: new(cacheCounts)}
	c.mu.Lock()
	c.readers[one.counts] = struct{}{}
	c.mu.Unlock()
	if b, ok := inner.(BatchReader); ok {
		return &cacheBatchReader{cacheReader: one, batch: b}, nil
	}
	return &one, nil
}

// forget adds the counts of a Reader that closes to those of closed Readers.
func (c *Cache) forget(r *cacheCounts) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, ok := c.readers[r]; ok {
		delete(c.readers, r)
		c.closed.Hits += r.hits.Load()
		c.closed.Misses += r.misses.Load()
	}
}

// settle ends the claim on sample i, sets its state, and wakes the readers that
// wait for it.
func (c *Cache) settle(i int, state uint64) {
	c.entries[i].Store(state)
	c.waiting.wake(i)
}

// waitingList holds the readers that wait for samples which others are reading.
type waitingList struct {
	mu    sync.Mutex
	calls map[int]chan struct{} // closed when the sample is settled
}

// wait returns once sample i is no longer being read, or with the context's error.
// entry is the sample's state.
func (w *waitingList) wait(ctx context.Context, i int, entry *atomic.Uint64) error {
	w.mu.Lock()
	if entry.Load() != reading { // wake takes the lock after the entry has changed
		w.mu.Unlock()
		return nil
	}
	done, ok := w.calls[i]
	if !ok {
		done = make(chan struct{})
		w.calls[i] = done
	}
	w.mu.Unlock()
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (w *waitingList) wake(i int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if done, ok := w.calls[i]; ok {
		close(done)
		delete(w.calls, i)
	}
}
