package loader

import (
	"errors"
	"math"
	"slices"
	"sync"
	"sync/atomic"
)

// A stock is memory for what differs in size from batch to batch: blocks that are
// handed out and come back. It keeps as many free bytes as the batches that it
// serves need on average, with some to spare, and gives the rest back to its
// Allocator: first those that nobody has had use for the longest, and at once those
// that are much larger than most batches need.
type stock struct {
	memory  Allocator
	batches int          // that it serves at once
	size    atomic.Int64 // bytes from memory, handed out or free

	mu        sync.Mutex
	free      [][]byte // as memory gave them, the longest unused first
	freeBytes int
	count     int     // batches noted
	mean      float64 // of their bytes
}

// stocks are a loader's. Single rows and padded fields lie in Go's memory.
type stocks struct {
	pieces stock // of rows, until they are joined
	values stock // joined
	padded stock
}

func (s *stocks) size() int64 {
	return s.pieces.size.Load() + s.values.size.Load() + s.padded.size.Load()
}

func (s *stocks) used() int { return s.pieces.used() + s.values.used() + s.padded.used() }

func (s *stocks) close() error {
	return errors.Join(s.pieces.close(), s.values.close(), s.padded.close())
}

// note tells the stock how many bytes a batch needed.
func (s *stock) note(bytes int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.count = min(s.count+1, 1000) // what is older counts less and less
	s.mean += (float64(bytes) - s.mean) / float64(s.count)
}

// noted reports whether any batch has told what it needed.
func (s *stock) noted() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.count > 0
}

// typical is how many bytes batches need on average, with an eighth to spare.
func (s *stock) typical() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return int(min(s.mean*9/8, math.MaxInt32))
}

// used is how many bytes are handed out.
func (s *stock) used() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return int(s.size.Load()) - s.freeBytes
}

// get hands out a block of at least n bytes, more than 0.
func (s *stock) get(n int) ([]byte, error) {
	if b := s.find(n); b != nil {
		return b, nil
	}
	b, err := alloc(s.memory, align(n+n/8)) // so that it fits a little more another time
	if err == nil {
		s.size.Add(int64(len(b)))
	}
	return b, err
}

// find takes the smallest free block that n bytes fit in, unless they would waste
// most of it.
func (s *stock) find(n int) []byte {
	const small = 64 << 10 // not worth the call of an Allocator
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

// surplus adds a block, which may be nil, to the free ones and takes those from
// them that are more than the stock keeps.
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

// close frees what is free, and from now on what is put back.
func (s *stock) close() error {
	s.mu.Lock()
	s.batches = 0
	s.mu.Unlock()
	return s.release(s.surplus(nil))
}
