package loader

import (
	"fmt"
	"slices"
	"sync/atomic"
)

// Copy copies the batch into Go's memory. The copy belongs to the caller and stays
// valid.
func (b *Batch) Copy() *Batch {
	c := &Batch{l: b.l, ref: b.ref, rows: b.rows, at: b.at, own: true}
	c.holders.Store(1) // the caller, who never releases it
	c.job = &job{indices: slices.Clone(b.Indices()), slab: b.job.slab.clone(b.rows)}
	return c
}

// Detach gives the batch to the caller without copying it. The loader allocates new
// memory for later batches. The batch stays valid until free is called. Calling
// free gives its memory back to the [Allocator], which must outlive the batch. With
// [Heap] free need not be called, because the garbage collector takes the memory.
//
// Call Detach in the loop body, before other goroutines use the batch. If the
// Allocator has no memory, Detach returns an error and changes nothing.
func (b *Batch) Detach() (free func() error, err error) {
	b.check()
	b.holders.Add(1)
	if !b.own {
		if err := b.detach(); err != nil {
			b.holders.Add(-1)
			return nil, fmt.Errorf("loader: Detach: %w", err)
		}
	}
	var freed atomic.Bool
	return func() error {
		if freed.CompareAndSwap(false, true) {
			return b.release()
		}
		return nil
	}, nil
}

func (b *Batch) detach() error {
	j := b.job
	fresh, err := newSlab(b.l.collation.columns, j.slab.rows, &b.l.stocks)
	if err != nil {
		return err
	}
	b.own = true
	b.job = &job{indices: slices.Clone(j.indices), slab: j.slab}
	j.slab.detach()
	b.l.mu.Lock()
	j.slab = fresh
	b.l.mu.Unlock()
	b.l.release(j)
	return nil
}

// detach moves the slab's ragged fields from the loader's stocks to its own.
func (s *slab) detach() {
	from := s.from
	s.from = &stocks{values: stock{memory: from.values.memory}, padded: stock{memory: from.padded.memory}}
	size := s.size.Load()
	from.slabs.Add(-size)
	s.from.slabs.Add(size)
	for i := range s.ragged {
		c := &s.ragged[i]
		from.values.size.Add(-int64(len(c.block)))
		s.from.values.size.Add(int64(len(c.block)))
		padded := int64(len(c.padded) + len(c.mask))
		from.padded.size.Add(-padded)
		s.from.padded.size.Add(padded)
	}
}

// clone copies the first rows of the slab into Go's memory.
func (s *slab) clone(rows int) *slab {
	c := &slab{spec: s.spec, memory: Heap{}, from: &stocks{padded: stock{memory: Heap{}}}, ragged: make([]raggedColumn, len(s.spec))}
	c.block = onHeap(slabBytes(s.spec, rows))
	c.lay(rows)
	for i, f := range s.spec {
		if !f.Ragged {
			copy(c.column(i, rows), s.column(i, rows))
			continue
		}
		from, to := &s.ragged[i], &c.ragged[i]
		to.values = onHeap(len(from.values))
		copy(to.values, from.values)
		to.ends = slices.Clone(from.ends)
	}
	return c
}

// onHeap allocates n aligned bytes of Go's memory.
func onHeap(n int) []byte {
	b, err := Heap{}.Alloc(n)
	if err != nil {
		panic(fmt.Errorf("loader: Copy: %w", err))
	}
	return b
}
