package dataset

import (
	"context"
	"encoding/binary"
	"fmt"
	"sync/atomic"

	"github.com/penstock-go/penstock/internal/figures"
	"github.com/penstock-go/penstock/internal/slots"
)

// Cached keeps the samples of ds in memory, up to limit bytes, in the form in which ds
// places them: the first epoch runs at the speed of ds, and later ones at that of memory. A
// sample is read once, even if several workers request it at the same time. What no longer
// fits is read from ds every time. [StatsOf] tells what the cache holds.
//
// Put random augmentations after the cache: transform.Images(cached, …). It is an error if ds
// makes a sample with the random numbers of [Slot.Rand], because it would be the same in
// every epoch.
//
// In addition to the limit, the cache takes up to 64 bytes per sample, and what Go's allocator
// rounds sizes up by: up to a fifth, and 8 KiB for samples of more than 32 KiB. It may outlive
// the loaders that use it. It reads samples one by one.
func Cached(ds Dataset, limit int64) (Dataset, error) {
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
	c := &cache{Wrap: Wrap{ds}, limit: limit, entries: make([]atomic.Pointer[cached], ds.Len())}
	for _, f := range spec {
		if f.Ragged {
			c.header += lengthBytes
		}
	}
	return c, nil
}

// CacheStats is what the cache of [Cached], or of a volume.Cohort, has done since it was made.
type CacheStats struct {
	Hits    int64 // samples that came from memory
	Misses  int64 // samples requested from the underlying dataset
	Samples int64 // in memory; of a cohort, patients
	Bytes   int64 // of their values
	Limit   int64 // bytes, as given to [Cached]
}

// StatsOf reports what a dataset that [Cached] made holds, and its hits and misses by all
// Readers together. It may be called at any time. For other datasets it is zero.
func StatsOf(ds Dataset) CacheStats {
	c, ok := ds.(*cache)
	if !ok {
		return CacheStats{}
	}
	return CacheStats{c.hits.Load(), c.misses.Load(), c.samples.Load(), c.bytes.Load(), c.limit}
}

// String is one line: "1000 samples in 12.5 MiB, limit 1 GiB, 3000 hits, 1000 misses".
func (s CacheStats) String() string {
	return fmt.Sprintf("%s in %s, limit %s, %s, %s",
		figures.Count(s.Samples, "sample", "samples"), figures.Bytes(s.Bytes), figures.Bytes(s.Limit),
		figures.Count(s.Hits, "hit", "hits"), figures.Count(s.Misses, "miss", "misses"))
}

// cache keeps the samples of a dataset after they were first read.
type cache struct {
	Wrap
	limit   int64
	header  int                      // bytes before a sample's values: a length per ragged field
	entries []atomic.Pointer[cached] // nil for samples that were not read yet, or with an error

	hits, misses, samples, bytes atomic.Int64
}

// cached is a sample that is being read, is in memory, or found no room there.
type cached struct {
	reading chan struct{} // closed when it is another one's turn to look; nil once it was read
	values  []byte        // the lengths of ragged fields in bytes, then the fields; nil if there was no room
}

const lengthBytes = 8 // of a ragged field's length before a sample

// passed is the entry of samples that were read, but found no room.
var passed = new(cached)

// Len is the number of samples of the underlying dataset when the cache was made.
func (c *cache) Len() int { return len(c.entries) }

// Foresee passes the future on to the underlying dataset, without the samples that are in
// memory by the time it looks at a batch.
func (c *cache) Foresee(f Future) (stop func()) {
	return Foresee(c.Dataset, translated{f, func(indices []int) []int {
		missing := indices[:0]
		for _, i := range indices {
			if CheckIndex(i, c.Len()) != nil {
				continue
			}
			if e := c.entries[i].Load(); e == nil || e.values == nil {
				missing = append(missing, i)
			}
		}
		return missing
	}})
}

// Open opens a Reader. It is no [BatchReader] and no [PartReader], because whole samples are kept.
func (c *cache) Open() (Reader, error) {
	inner, err := c.Wrap.Open()
	if err != nil {
		return nil, err
	}
	return &cacheReader{inner, c}, nil
}

// stageWait lasts while another worker reads the sample that this one wants.
const stageWait = "wait"

type cacheReader struct {
	Reader
	cache *cache
}

func (r *cacheReader) Place(ctx context.Context, i int, dst Slot) error {
	c := r.cache
	if err := CheckIndex(i, c.Len()); err != nil {
		return err
	}
	for {
		e := c.entries[i].Load()
		switch {
		case e == nil:
			claim := &cached{reading: make(chan struct{})}
			if c.entries[i].CompareAndSwap(nil, claim) {
				return r.fill(ctx, i, dst, claim)
			}
		case e.reading != nil:
			dst.Stage(stageWait)
			select {
			case <-e.reading:
			case <-ctx.Done():
				return ctx.Err()
			}
		case e.values == nil:
			c.misses.Add(1)
			return r.Reader.Place(ctx, i, dst)
		default:
			c.hits.Add(1)
			c.serve(e.values, dst)
			return nil
		}
	}
}

// fill places sample i, which this reader has claimed, and keeps it.
func (r *cacheReader) fill(ctx context.Context, i int, dst Slot, claim *cached) error {
	var read *cached
	defer func() { // also when user code panics
		r.cache.entries[i].Store(read)
		close(claim.reading)
	}()
	r.cache.misses.Add(1)
	watch := slots.Slot(dst).Draw().Watch()
	if err := r.Reader.Place(ctx, i, dst); err != nil {
		return err
	}
	if watch.Taken() {
		return fmt.Errorf("dataset: Cached: sample %d is made with random numbers, which would be the same in every epoch: want the random transforms after the cache", i)
	}
	read = r.cache.keep(dst)
	return nil
}

// keep copies a placed sample into memory, if there is room.
func (c *cache) keep(s Slot) *cached {
	size := c.header
	for _, cell := range slots.Slot(s).Cells() {
		size += len(cell.Bytes())
	}
	for { // a sample without room must not take it from others even for a moment
		taken := c.bytes.Load()
		if int64(size) > c.limit-taken {
			return passed
		}
		if c.bytes.CompareAndSwap(taken, taken+int64(size)) {
			break
		}
	}
	c.samples.Add(1)
	values := make([]byte, 0, size)
	for _, cell := range slots.Slot(s).Cells() {
		if cell.IsRagged() {
			values = binary.NativeEndian.AppendUint64(values, uint64(len(cell.Bytes())))
		}
	}
	for _, cell := range slots.Slot(s).Cells() {
		values = append(values, cell.Bytes()...)
	}
	return &cached{values: values}
}

// serve copies a sample from memory.
func (c *cache) serve(values []byte, dst Slot) {
	rest := values[c.header:]
	for _, cell := range slots.Slot(dst).Cells() {
		row := cell.Bytes()
		if cell.IsRagged() {
			row = cell.Grow(int(binary.NativeEndian.Uint64(values)))
			values = values[lengthBytes:]
		}
		rest = rest[copy(row, rest):]
	}
}
