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
	Hits   int64 // requests for a patient that was in the cache or that another worker was loading
	Misses int64 // patients loaded; more than Cohort.Len means that volumes were decoded again
	// Evictions counts patients dropped to stay within the limit. A large number
	// means that the limit is too small for the order of samples; see [CacheSize].
	Evictions int64
	Patients  int   // in the cache now
	Bytes     int64 // in the cache now, including patients in use beyond the limit
	Limit     int64 // bytes, as set by [CacheSize]
}

// String is one line: "2 patients in 1.5 GiB, limit 2 GiB, 40 hits, 3 misses, 1 eviction".
func (s CacheStats) String() string {
	return fmt.Sprintf("%s in %s, limit %s, %s, %s, %s",
		figures.Count(s.Patients, "patient", "patients"), figures.Bytes(s.Bytes), figures.Bytes(s.Limit),
		figures.Count(s.Hits, "hit", "hits"), figures.Count(s.Misses, "miss", "misses"), figures.Count(s.Evictions, "eviction", "evictions"))
}

// A cache holds the volumes of patients. Several requests for a patient at the same
// time load it once. Patients in use stay in the cache. The others are kept up to the
// limit; the least recently used one is dropped first.
type cache struct {
	load func(ctx context.Context, patient int) (*patientVolumes, error)

	mu      sync.Mutex
	entries map[int]*cacheEntry
	idle    cacheEntry // head of the ring of unused entries; next is the most recently used
	held    int64      // bytes that count against the limit: of entries that are not larger than it
	stats   CacheStats
}

// A cacheEntry is one patient, from when its loading begins.
type cacheEntry struct {
	patient    int
	users      int
	ready      chan struct{} // closed once volumes or err is set
	volumes    *patientVolumes
	err        error
	abandoned  bool // the loading goroutine was cancelled or panicked: load again
	bytes      int64
	prev, next *cacheEntry // in the ring, or nil
}

func newCache(limit int64, load func(context.Context, int) (*patientVolumes, error)) *cache {
	c := &cache{load: load, entries: map[int]*cacheEntry{}}
	c.idle.prev, c.idle.next = &c.idle, &c.idle
	c.stats.Limit = limit
	return c
}

// acquire returns the patient's volumes, to be given back by release. The first
// request loads them, in its own goroutine and with its own context; the others
// wait. An error goes to all requests that waited for it, and to no later one.
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
		// The entry is no longer in the map, so it need not be released.
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

// grow counts further bytes of an entry in use.
func (c *cache) grow(e *cacheEntry, bytes int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.count(e, bytes)
}

// count adds to the size of an entry in use. An entry larger than the limit cannot
// stay, so it evicts no other.
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

// evict drops the least recently used entries until the limit is kept or all that
// remain are in use.
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

// has reports whether the patient is in the cache or being loaded.
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
