package prefetch

import (
	"math/bits"
	"weak"
)

// mostLarger is how many steps larger than a block a piece may be. Blocks differ in size: the
// last one of a shard is shorter, and all others end with a sample.
const mostLarger = 2

// spare is memory of earlier blocks. A piece's capacity is one of eight steps per power of two,
// and at most three eighths more than the block that uses it.
type spare struct {
	*pieces
	rested weak.Pointer[pieces] // those of earlier loops, until the garbage collector runs
}

type pieces struct {
	bytes int64
	of    map[int][][]byte // by capacity
	made  int              // capacity of the last one that was made
}

// wake makes the pieces of earlier loops usable, as far as they still exist.
func (s *spare) wake() {
	if s.pieces != nil {
		return
	}
	if s.pieces = s.rested.Value(); s.pieces == nil {
		s.pieces = &pieces{of: make(map[int][][]byte)}
	}
}

// rest lets the garbage collector take the pieces.
func (s *spare) rest() {
	if s.pieces != nil {
		s.rested = weak.Make(s.pieces)
	}
	s.pieces = nil
}

// take returns n bytes, which may hold anything. A new piece is as large as the last one, if it
// may be: then one size is enough for blocks that differ little.
func (s *spare) take(n int64) []byte {
	s.wake()
	least := rounded(n)
	size, made := least, least
	for range mostLarger + 1 {
		if list := s.of[size]; len(list) > 0 {
			p := list[len(list)-1]
			list[len(list)-1] = nil
			s.of[size] = list[:len(list)-1]
			s.bytes -= int64(size)
			return p[:n]
		}
		if size == s.made {
			made = size
		}
		size = rounded(int64(size) + 1)
	}
	s.made = made
	s.drop(made)
	return make([]byte, n, made)
}

// drop frees that many bytes, or all there are, for a new piece to take their place.
func (s *spare) drop(n int) {
	for size, list := range s.of {
		for len(list) > 0 && n > 0 {
			list[len(list)-1] = nil
			list = list[:len(list)-1]
			s.bytes -= int64(size)
			n -= size
		}
		s.of[size] = list
	}
}

// put keeps a piece, if it is the only one or if all pieces have limit bytes at most.
func (s *spare) put(p []byte, limit int64) {
	s.wake()
	size := cap(p)
	if s.bytes > 0 && s.bytes+int64(size) > limit {
		return
	}
	s.bytes += int64(size)
	s.of[size] = append(s.of[size], p)
}

// rounded is n, rounded up to one of eight steps per power of two.
func rounded(n int64) int {
	step := int64(1) << max(bits.Len64(uint64(n))-4, 0)
	return int((n + step - 1) / step * step)
}
