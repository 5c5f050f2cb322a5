package volume

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/penstock-go/penstock/internal/figures"
)

// CacheStats counts what the cache of a [Cohort] has done.
type CacheStats struct {
	Hits   int64 // requests for a patient that was there, or that another worker was just loading
	Misses int64 // patients loaded: more than Cohort.Len means that volumes are decoded again
	// Evictions are patients given up to keep within the limit. Many of them mean
	// that the limit is small for the order of samples; see [CacheSize].
	Evictions int64
	Patients  int   // held now
	Bytes     int64 // held now, those in use beyond the limit included
	Limit     int64
}

// String is one line: "2 patients in 1.5 GiB, limit 2 GiB, 40 hits, 3 misses, 1 eviction".
func (s CacheStats) String() string {
	return fmt.Sprintf("%s in %s, limit %s, %s, %s, %s",
		figures.Count(s.Patients, "patient", "patients"), figures.Bytes(s.Bytes), figures.Bytes(s.Limit),
		figures.Count(s.Hits, "hit", "hits"), figures.Count(s.Misses, "miss", "misses"), figures.Count(s.Evictions, "eviction", "evictions"))
}

// A cache holds patients' volumes, each loaded once however many ask at
// the same time. What is in use stays; the rest is held up to the limit, the
// one used last the longest.
type cache struct {
	load func(ctx context.Context, patient int) (*patientVolumes, error)

	mu      sync.Mutex
	entries map[int]*cacheEntry
	idle    cacheEntry // head of the ring of entries that nobody uses: next is the latest
	held    int64      // bytes that count against the limit: those of entries that fit it
	stats   CacheStats
}

// A cacheEntry is one patient, from when its loading begins.
type cacheEntry struct {
	patient    int
	users      int
	ready      chan struct{} // closed once volumes or err is set
	volumes    *patientVolumes
	err        error
	abandoned  bool // the one who loaded was canceled or panicked: load again
	bytes      int64
	prev, next *cacheEntry // in the ring, or nil
}

func newCache(limit int64, load func(context.Context, int) (*patientVolumes, error)) *cache {
	c := &cache{load: load, entries: map[int]*cacheEntry{}}
	c.idle.prev, c.idle.next = &c.idle, &c.idle
	c.stats.Limit = limit
	return c
}

// acquire is the patient's volumes, to be given back by release. Whoever asks
// first loads them, in its own goroutine and under its own context; the others
// wait. An error goes to all who waited for it, and to nobody who asks later.
func (c *cache) acquire(ctx context.Context, patient int) (*cacheEntry, error) {
	for {
		c.mu.Lock()
		e := c.entries[patient]
		if e == nil {
			e = &cacheEntry{patient: patient, users: 1, ready: make(chan struct{})}
			c.entries[patient] = e
			c.stats.Misses++
			c.mu.Unlock()
			return c.fill(ctx, e)
		}
		e.users++
		e.unlink()
		if e.volumes != nil {
			c.stats.Hits++
			c.mu.Unlock()
			return e, nil
		}
		c.mu.Unlock()
		select {
		case <-e.ready:
		case <-ctx.Done():
			c.release(e)
			return nil, ctx.Err()
		}
		if e.err == nil {
			c.mu.Lock()
			c.stats.Hits++
			c.mu.Unlock()
			return e, nil
		}
		// The entry has left the map, so that nothing needs to be given back.
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
		if e.err != nil {
			delete(c.entries, e.patient)
		} else {
			c.stats.Patients++
			c.count(e, e.volumes.bytes)
		}
		close(e.ready)
	}()
	volumes, err := c.load(ctx, e.patient)
	if err == nil {
		c.mu.Lock()
		e.volumes, e.err, e.abandoned = volumes, nil, false
		c.mu.Unlock()
		return e, nil
	}
	e.err, e.abandoned = err, ctx.Err() != nil
	return nil, err
}

// release gives back what acquire gave.
func (c *cache) release(e *cacheEntry) {
	c.mu.Lock()
	defer c.mu.Unlock()
	e.users--
	if e.users > 0 || e.volumes == nil || c.entries[e.patient] != e {
		return
	}
	if !e.fits(c) {
		c.drop(e)
		return
	}
	e.prev, e.next = &c.idle, c.idle.next
	e.prev.next, e.next.prev = e, e
	c.evict()
}

// grow counts bytes that an entry in use has taken more.
func (c *cache) grow(e *cacheEntry, bytes int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.count(e, bytes)
}

// count adds to what an entry in use takes. One larger than the limit cannot
// stay, so it drives out nothing.
func (c *cache) count(e *cacheEntry, bytes int64) {
	if e.fits(c) {
		c.held -= e.bytes
	}
	e.bytes += bytes
	c.stats.Bytes += bytes
	if e.fits(c) {
		c.held += e.bytes
	}
	c.evict()
}

func (e *cacheEntry) fits(c *cache) bool { return e.bytes <= c.stats.Limit }

// evict drops what was used longest ago until the limit is kept or all that is
// left is in use.
func (c *cache) evict() {
	for c.held > c.stats.Limit && c.idle.prev != &c.idle {
		c.drop(c.idle.prev)
	}
}

func (c *cache) drop(e *cacheEntry) {
	e.unlink()
	delete(c.entries, e.patient)
	if e.fits(c) {
		c.held -= e.bytes
	}
	c.stats.Bytes -= e.bytes
	c.stats.Patients--
	c.stats.Evictions++
}

func (e *cacheEntry) unlink() {
	if e.next != nil {
		e.prev.next, e.next.prev = e.next, e.prev
		e.prev, e.next = nil, nil
	}
}

// has reports whether the patient is there or on its way.
func (c *cache) has(patient int) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.entries[patient] != nil
}

func (c *cache) snapshot() CacheStats {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.stats
}
