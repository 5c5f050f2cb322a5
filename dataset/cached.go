package dataset

import (
	"context"
	"encoding/binary"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/penstock-go/penstock/internal/figures"
	"github.com/penstock-go/penstock/internal/slots"
)

// Cached keeps the samples of ds in memory, up to limit bytes, in the form in which ds
// places them: the first epoch runs at the speed of ds, and later ones at that of memory. A
// sample is read once, even if several workers request it at the same time. What no longer
// fits is read from ds every time.
//
// Put random augmentations after the cache: transform.Images(cached, …). It is an error if ds
// makes a sample with the random numbers of [Slot.Rand], because it would be the same in
// every epoch.
//
// The cache takes 8 bytes per sample in addition to the limit, and may outlive the loaders
// that use it.
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

// CacheStats is what a [Cache], or the cache of a volume.Cohort, has done since it was made.
type CacheStats struct {
	Hits    int64 // samples that came from memory
	Misses  int64 // samples requested from the underlying dataset
	Samples int64 // in memory; of a cohort, patients
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

// stageWait lasts while another worker reads the sample that this one wants.
const stageWait = "wait"

type cacheReader struct {
	cache  *Cache
	inner  Reader
	counts *cacheCounts
}

func (r *cacheReader) Place(ctx context.Context, i int, dst Slot) error {
	c := r.cache
	if err := CheckIndex(i, c.Len()); err != nil {
		return err
	}
	entry := &c.entries[i]
	for {
		switch state := entry.Load(); state {
		case absent:
			if entry.CompareAndSwap(absent, reading) {
				return r.fill(ctx, i, dst)
			}
		case reading:
			dst.Stage(stageWait)
			if err := c.waiting.wait(ctx, i, entry); err != nil {
				return err
			}
		case passed:
			r.counts.misses.Add(1)
			return r.inner.Place(ctx, i, dst)
		default:
			r.counts.hits.Add(1)
			c.serve(state, dst)
			return nil
		}
	}
}

// fill places sample i, which this reader has claimed, and keeps it.
func (r *cacheReader) fill(ctx context.Context, i int, dst Slot) error {
	state := uint64(absent)
	defer func() { r.cache.settle(i, state) }() // also when user code panics
	r.counts.misses.Add(1)
	watch := watchDraw(i, dst)
	if err := r.inner.Place(ctx, i, dst); err != nil {
		return err
	}
	if err := watch.check(); err != nil {
		return err
	}
	state = r.cache.keep(dst)
	return nil
}

func (r *cacheReader) Close() error {
	r.cache.forget(r.counts)
	return r.inner.Close()
}

// A drawWatch notices whether a sample is made with random numbers.
type drawWatch struct {
	sample int
	slots.Watch
}

func watchDraw(sample int, s Slot) drawWatch {
	return drawWatch{sample, slots.Slot(s).Draw().Watch()}
}

func (w *drawWatch) check() error {
	if !w.Taken() {
		return nil
	}
	return fmt.Errorf("dataset: Cached: sample %d is made with random numbers, which would be the same in every epoch: want the random transforms after the cache", w.sample)
}

type cacheBatchReader struct {
	cacheReader
	batch   BatchReader
	read    part  // what the underlying reader has to place
	claimed []int // places in read
	others  []int // rows that other readers are placing
	slots   watchedSlots
}

func (r *cacheBatchReader) PlaceBatch(ctx context.Context, indices []int, dst Slots) error {
	c := r.cache
	for _, i := range indices {
		if err := CheckIndex(i, c.Len()); err != nil {
			return err
		}
	}
	r.others = r.others[:0]
	if err := r.placeMissing(ctx, indices, dst); err != nil {
		return err
	}
	// Wait only now that nobody waits for us: otherwise two readers might wait for
	// each other.
	for _, row := range r.others {
		if err := r.Place(ctx, indices[row], dst.At(row)); err != nil {
			return err
		}
	}
	return nil
}

// placeMissing places the samples that are in memory, and by one call those that
// nobody else is reading.
func (r *cacheBatchReader) placeMissing(ctx context.Context, indices []int, dst Slots) error {
	c := r.cache
	r.read.indices, r.read.rows, r.claimed = r.read.indices[:0], r.read.rows[:0], r.claimed[:0]
	settled := 0
	defer func() {
		r.slots.forget()
		for _, k := range r.claimed[settled:] {
			c.settle(r.read.indices[k], absent)
		}
	}()
	for row, i := range indices {
		state := c.entries[i].Load()
		switch {
		case state >= places:
			r.counts.hits.Add(1)
			c.serve(state, dst.At(row))
			continue
		case state == absent && c.entries[i].CompareAndSwap(absent, reading):
			r.claimed = append(r.claimed, len(r.read.rows))
		case state != passed:
			r.others = append(r.others, row)
			continue
		}
		r.read.indices = append(r.read.indices, i)
		r.read.rows = append(r.read.rows, row)
	}
	if len(r.read.rows) == 0 {
		return nil
	}
	r.counts.misses.Add(int64(len(r.read.rows)))
	r.slots.watch(dst, r.read)
	if err := r.batch.PlaceBatch(ctx, r.read.indices, &r.slots); err != nil {
		return err
	}
	if err := r.slots.check(); err != nil {
		return err
	}
	for _, k := range r.claimed {
		state := uint64(absent)
		if placed := r.slots.placed(k); placed.Len() > 0 {
			state = c.keep(placed)
		}
		c.settle(r.read.indices[k], state)
		settled++
	}
	return nil
}

// watchedSlots are some rows of a batch. Each of them is watched for random
// numbers until the next one is requested. They remember the cells of the rows,
// because requesting a slot again may empty its ragged fields.
type watchedSlots struct {
	all    Slots
	read   part
	fields int          // of a sample
	cells  []slots.Cell // of the requested rows, one row after the other
	asked  []int        // of every row, where its cells begin; -1 before it is requested
	draw   drawWatch
	err    error // the first one
}

func (s *watchedSlots) watch(all Slots, read part) {
	s.all, s.read = all, read
	for range read.rows {
		s.asked = append(s.asked, -1)
	}
}

// forget drops everything but the memory.
func (s *watchedSlots) forget() {
	clear(s.cells)
	*s = watchedSlots{cells: s.cells[:0], asked: s.asked[:0]}
}

func (s *watchedSlots) Len() int { return len(s.read.rows) }

func (s *watchedSlots) At(k int) Slot {
	s.err = s.check()
	slot := s.all.At(s.read.rows[k])
	s.fields = slot.Len()
	if s.asked[k] < 0 {
		s.asked[k] = len(s.cells)
		s.cells = append(s.cells, slots.Slot(slot).Cells()...)
	}
	s.draw = watchDraw(s.read.indices[k], slot)
	return slot
}

// placed is the slot of a row that was requested, or else a slot without fields.
func (s *watchedSlots) placed(k int) Slot {
	at := s.asked[k]
	if at < 0 {
		return Slot{}
	}
	return Slot(slots.New(s.cells[at:at+s.fields], nil))
}

func (s *watchedSlots) check() error {
	if s.err != nil {
		return s.err
	}
	return s.draw.check()
}

const (
	lengthBytes = 8        // of a ragged field's length before a sample
	minBlock    = 64 << 10 // bytes
	maxBlock    = 16 << 20 // bytes
	offsetBits  = 40       // of a place; the rest is the block's number plus one
)

// cacheMemory hands out pieces of a few large blocks, which the garbage
// collector need not scan. A new block is as large as all earlier ones
// together, but at least minBlock and at most maxBlock. A piece larger than an
// eighth of that gets a block of its own.
type cacheMemory struct {
	limit  int64                    // bytes of all blocks together
	blocks atomic.Pointer[[][]byte] // appended to with mu held, read without it

	mu      sync.Mutex
	bytes   int64 // of all blocks
	samples int64
	current int // number of the block that pieces are taken from
	used    int // bytes of it
}

// take finds n bytes. It reports the place, or false if there is no room.
func (m *cacheMemory) take(n int) (place uint64, piece []byte, ok bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	var blocks [][]byte
	if b := m.blocks.Load(); b != nil {
		blocks = *b
	}
	at, offset := m.current, m.used
	if at == len(blocks) || n > len(blocks[at])-offset {
		size := int(min(max(m.bytes, minBlock), maxBlock))
		own := n > size/8
		if own {
			size = n
		} else {
			size -= size % n // no bytes are left over if all samples have one size
		}
		if rest := m.limit - m.bytes; int64(size) > rest {
			if int64(n) > rest {
				return 0, nil, false
			}
			size = int(rest - rest%int64(n))
		}
		if int64(size) >= 1<<offsetBits {
			return 0, nil, false
		}
		at, offset = len(blocks), 0
		blocks = append(blocks, make([]byte, size))
		m.blocks.Store(&blocks)
		m.bytes += int64(size)
		if !own {
			m.current = at
		}
	}
	if at == m.current {
		m.used = offset + n
	}
	m.samples++
	return uint64(at+1)<<offsetBits | uint64(offset), blocks[at][offset : offset+n : offset+n], true
}

// at returns the memory that begins at place.
func (m *cacheMemory) at(place uint64) []byte {
	return (*m.blocks.Load())[place>>offsetBits-1][place&(1<<offsetBits-1):]
}

func (m *cacheMemory) taken() (samples, bytes int64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.samples, m.bytes
}

// keep copies a placed sample into memory: the lengths of its ragged fields in
// bytes, then the fields. It returns the place, or passed if there is no room.
func (c *Cache) keep(s Slot) uint64 {
	size := c.header
	for _, cell := range slots.Slot(s).Cells() {
		size += len(cell.Bytes())
	}
	place, piece, ok := c.memory.take(size)
	if !ok {
		return passed
	}
	rest := piece[c.header:]
	for _, cell := range slots.Slot(s).Cells() {
		row := cell.Bytes()
		if cell.IsRagged() {
			binary.NativeEndian.PutUint64(piece, uint64(len(row)))
			piece = piece[lengthBytes:]
		}
		rest = rest[copy(rest, row):]
	}
	return place
}

// serve copies a sample from memory.
func (c *Cache) serve(place uint64, dst Slot) {
	lengths := c.memory.at(place)
	rest := lengths[c.header:]
	for _, cell := range slots.Slot(dst).Cells() {
		row := cell.Bytes()
		if cell.IsRagged() {
			row = cell.Grow(int(binary.NativeEndian.Uint64(lengths)))
			lengths = lengths[lengthBytes:]
		}
		rest = rest[copy(row, rest):]
	}
}
