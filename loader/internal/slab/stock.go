package slab

import (
	"errors"
	"math"
	"slices"
	"sync"
	"sync/atomic"
)

// A stock hands out blocks of memory whose size differs from batch to batch, and takes them back. It keeps as many free
// bytes as its batches need on average, and half as many more. The rest goes back to its Allocator: the blocks that
// were unused the longest first, and at once a block that is much larger than most batches need.
type stock struct {
	memory  Allocator
	room    func(n int) error // called before an allocation of n bytes
	batches int               // number of batches that it serves at once
	size    atomic.Int64      // bytes from memory, handed out or free

	mu        sync.Mutex
	free      [][]byte // as the Allocator returned them, the longest unused first
	freeBytes int
	count     int     // number of batches noted
	mean      float64 // average of their bytes
}

// stocks are the stocks of a pool.
type stocks struct {
	pieces stock // of rows, until they are joined, in Go's memory
	values stock // of rows that are joined
	padded stock // of fields made by Pad, in Go's memory

	budget  int64        // bytes of all blocks and slabs
	slabs   atomic.Int64 // bytes of all slabs
	largest atomic.Int64 // bytes that the largest batch has used at once; 0 before the first one
}

func (s *stocks) bind(memory Allocator, budget int) {
	s.budget = int64(budget)
	s.pieces.memory, s.values.memory, s.padded.memory = Heap{}, memory, Heap{}
	s.padded.batches = 2 // one in the loop body, one that is kept
	for _, stock := range s.all() {
		stock.room = s.makeRoom
	}
}

// makeRoom gives all free blocks back if otherwise n more bytes exceed the budget.
func (s *stocks) makeRoom(n int) error {
	if s.slabs.Load()+s.size() <= s.budget-int64(n) {
		return nil
	}
	return s.each((*stock).clear)
}

func (s *stocks) all() [3]*stock { return [...]*stock{&s.pieces, &s.values, &s.padded} }

func (s *stocks) each(f func(*stock) error) (err error) {
	for _, stock := range s.all() {
		err = errors.Join(err, f(stock))
	}
	return err
}

// note tells how many bytes a batch needed when its rows were joined, and how many it has used at once.
func (s *stocks) note(joined, peak int) {
	s.values.note(joined)
	s.pieces.note(joined)
	bytes := int64(max(1, peak))
	for n := s.largest.Load(); bytes > n && !s.largest.CompareAndSwap(n, bytes); n = s.largest.Load() {
	}
}

// serve sets for how many batches there are blocks to keep.
func (s *stocks) serve(slabs, workers int) {
	s.pieces.serve(min(slabs, workers+1))
	s.values.serve(slabs)
}

func (s *stocks) size() int64 {
	return s.pieces.size.Load() + s.values.size.Load() + s.padded.size.Load()
}

// note tells the stock how many bytes a batch needed.
func (s *stock) note(bytes int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.count = min(s.count+1, 1000) // so that older batches count less and less
	s.mean += (float64(bytes) - s.mean) / float64(s.count)
}

// typical is the number of bytes that a batch needs on average, plus an eighth.
func (s *stock) typical() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return int(min(s.mean*9/8, math.MaxInt/2))
}

// used is the number of bytes that are handed out.
func (s *stock) used() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return int(s.size.Load() - int64(s.freeBytes))
}

// get hands out a block of at least n bytes, more than 0.
func (s *stock) get(n int) ([]byte, error) {
	if b := s.find(n); b != nil {
		return b, nil
	}
	size := align(n + n/8) // a little more, so that it fits later batches too
	if err := s.room(size); err != nil {
		return nil, err
	}
	b, err := alloc(s.memory, size)
	if err == nil {
		s.size.Add(int64(len(b)))
	}
	return b, err
}

// find takes the smallest free block of at least n bytes. It returns nil if there is none, or if more than half of the
// block would be wasted.
func (s *stock) find(n int) []byte {
	const small = 64 << 10 // so little waste is cheaper than a call of an Allocator
	s.mu.Lock()
	defer s.mu.Unlock()
	best := -1
	for i, b := range s.free {
		if len(b) >= n && len(b) <= 2*n+small && (best < 0 || len(b) < len(s.free[best])) {
			best = i
		}
	}
	if best < 0 {
		return nil
	}
	b := s.free[best]
	s.free = slices.Delete(s.free, best, best+1)
	s.freeBytes -= len(b)
	return b
}

// put takes a block back.
func (s *stock) put(b []byte) error {
	if len(b) == 0 {
		return nil
	}
	return s.release(s.surplus(b))
}

// surplus adds a block, which may be nil, to the free ones. It removes and returns the blocks that the stock does not
// keep.
func (s *stock) surplus(b []byte) (surplus [][]byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case float64(len(b)) > 3*s.mean:
		return [][]byte{b}
	case b != nil:
		s.free = append(s.free, b)
		s.freeBytes += len(b)
	}
	keep := int(s.mean * float64(s.batches) * 3 / 2)
	for s.freeBytes > keep {
		surplus = append(surplus, s.free[0])
		s.freeBytes -= len(s.free[0])
		s.free = slices.Delete(s.free, 0, 1)
	}
	return surplus
}

// release gives blocks back to the Allocator.
func (s *stock) release(blocks [][]byte) (err error) {
	for _, b := range blocks {
		s.size.Add(-int64(len(b)))
		err = errors.Join(err, s.memory.Free(b))
	}
	return err
}

func (s *stock) serve(batches int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.batches = batches
}

// clear frees all free blocks.
func (s *stock) clear() error {
	s.mu.Lock()
	blocks := s.free
	s.free, s.freeBytes = nil, 0
	s.mu.Unlock()
	return s.release(blocks)
}

// close frees all free blocks. Blocks that are put back later are freed at once.
func (s *stock) close() error {
	s.mu.Lock()
	s.batches = 0
	s.mu.Unlock()
	return s.release(s.surplus(nil))
}
