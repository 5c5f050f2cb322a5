package dataset

import (
	"context"
	"fmt"

	"github.com/penstock-go/penstock/internal/slots"
)

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
