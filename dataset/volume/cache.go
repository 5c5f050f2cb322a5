package volume

import (
	"container/list"
	"context"
	"errors"
	"sync"

	"github.com/penstock-go/penstock/dataset"
)

// A cache holds the volumes of patients. Several requests for a patient at the same
// time load it once. What has been loaded is kept up to the limit; the least recently
// used one is dropped first, and lives on where it is in use.
type cache struct {
	load func(ctx context.Context, patient int) (*patientVolumes, error)

	mu      sync.Mutex
	entries map[int]*cacheEntry
	recent  list.List // of *cacheEntry that are kept, the most recently used one first
	stats   dataset.CacheStats
}

// A cacheEntry is one patient, from when its loading begins.
type cacheEntry struct {
	patient   int
	ready     chan struct{} // closed once volumes or err is set
	volumes   *patientVolumes
	err       error
	abandoned bool          // the loading goroutine was cancelled or panicked: load again
	place     *list.Element // in recent; nil while it is loaded and after it was dropped
}

func newCache(limit int64, load func(context.Context, int) (*patientVolumes, error)) *cache {
	return &cache{load: load, entries: map[int]*cacheEntry{}, stats: dataset.CacheStats{Limit: limit}}
}

// acquire returns the patient's volumes. The first request loads them, in its own
// goroutine and with its own context; the others wait. An error goes to all requests
// that waited for it, and to no later one.
func (c *cache) acquire(ctx context.Context, patient int) (*cacheEntry, error) {
	for {
		c.mu.Lock()
		e := c.entries[patient]
		if e == nil {
			e = &cacheEntry{patient: patient, ready: make(chan struct{})}
			c.entries[patient] = e
			c.stats.Misses++
			c.mu.Unlock()
			return c.fill(ctx, e)
		}
		if e.place != nil {
			c.recent.MoveToFront(e.place)
			c.stats.Hits++
			c.mu.Unlock()
			return e, nil
		}
		c.mu.Unlock()
		select {
		case <-e.ready:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
		if e.err == nil {
			c.mu.Lock()
			c.stats.Hits++
			c.mu.Unlock()
			return e, nil
		}
		if !e.abandoned {
			return nil, e.err
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
	}
}

var errAbandoned = errors.New("volume: loading was abandoned")

func (c *cache) fill(ctx context.Context, e *cacheEntry) (*cacheEntry, error) {
	e.err, e.abandoned = errAbandoned, true // unless load returns
	defer func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		if e.err == nil {
			c.keep(e)
		} else {
			delete(c.entries, e.patient)
		}
		close(e.ready)
	}()
	volumes, err := c.load(ctx, e.patient)
	if err != nil {
		e.err, e.abandoned = err, ctx.Err() != nil
		return nil, err
	}
	e.volumes, e.err, e.abandoned = volumes, nil, false
	return e, nil
}

// keep drops the entries that were used least recently to make room for one that was loaded, if it is not larger than
// the limit.
func (c *cache) keep(e *cacheEntry) {
	if e.volumes.bytes > c.stats.Limit {
		delete(c.entries, e.patient)
		return
	}
	e.place = c.recent.PushFront(e)
	c.stats.Samples++
	c.stats.Bytes += e.volumes.bytes
	for c.stats.Bytes > c.stats.Limit {
		c.drop(c.recent.Back().Value.(*cacheEntry))
	}
}

func (c *cache) drop(e *cacheEntry) {
	c.recent.Remove(e.place)
	e.place = nil
	delete(c.entries, e.patient)
	c.stats.Bytes -= e.volumes.bytes
	c.stats.Samples--
}

// has reports whether the patient is in the cache or being loaded.
func (c *cache) has(patient int) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.entries[patient] != nil
}

func (c *cache) snapshot() dataset.CacheStats {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.stats
}
