package loader

import (
	"fmt"
	"slices"
	"sync/atomic"
)

// Copy is the same batch in Go's memory. It belongs to the caller and stays valid
// as long as it is used.
func (b *Batch) Copy() *Batch {
	c := &Batch{l: b.l, plan: b.plan, k: b.k, rows: b.rows, at: b.at, own: true}
	c.holders.Store(1) // the caller, who does not give it up
	c.job = &job{indices: slices.Clone(b.Indices()), slab: b.job.slab.clone(b.rows)}
	return c
}

// Detach makes the batch the caller's for good, without copying it: the loader
// takes new memory in place of the batch's. Calling free gives the batch's memory
// back to the [Allocator], which has to outlive it; with [Heap] that is left to the
// garbage collector and free need not be called. The batch is not valid after it.
//
// Detach is called in the loop body, before other goroutines use the batch. It is
// an error if the Allocator has no memory; then nothing has changed.
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
	fresh, err := newSlab(b.l.spec, j.slab.rows, &b.l.stocks)
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

// detach takes what the slab holds from the loader's stocks.
func (s *slab) detach() {
	from := s.from
	s.from = &stocks{values: stock{memory: from.values.memory}, padded: stock{memory: from.padded.memory}}
	for i := range s.ragged {
		c := &s.ragged[i]
		from.values.size.Add(-int64(len(c.block)))
		s.from.values.size.Add(int64(len(c.block)))
		from.padded.size.Add(-int64(len(c.padded)))
		s.from.padded.size.Add(int64(len(c.padded)))
	}
}

// clone copies the first rows into Go's memory.
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

// onHeap is n aligned bytes of Go's memory.
func onHeap(n int) []byte {
	b, err := Heap{}.Alloc(n)
	if err != nil {
		panic(fmt.Errorf("loader: Copy: %w", err))
	}
	return b
}
