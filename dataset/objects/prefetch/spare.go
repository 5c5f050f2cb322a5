package prefetch

import "math/bits"

// spare is memory of earlier blocks. A piece's capacity is at most an eighth more than
// what it was made for, rounded to one of eight steps per power of two.
type spare struct {
	bytes  int64
	pieces map[int][][]byte // by capacity
}

// take returns n bytes, which may hold anything.
func (s *spare) take(n int64) []byte {
	size := rounded(n)
	pieces := s.pieces[size]
	if len(pieces) == 0 {
		return make([]byte, n, size)
	}
	p := pieces[len(pieces)-1]
	s.pieces[size] = pieces[:len(pieces)-1]
	s.bytes -= int64(size)
	return p[:n]
}

// put keeps a piece, if all pieces have limit bytes at most.
func (s *spare) put(p []byte, limit int64) {
	size := cap(p)
	if s.bytes+int64(size) > limit {
		return
	}
	if s.pieces == nil {
		s.pieces = make(map[int][][]byte)
	}
	s.bytes += int64(size)
	s.pieces[size] = append(s.pieces[size], p)
}

func (s *spare) clear() { s.bytes, s.pieces = 0, nil }

// rounded is n, rounded up to one of eight steps per power of two.
func rounded(n int64) int {
	step := int64(1) << max(bits.Len64(uint64(n))-4, 0)
	return int((n + step - 1) / step * step)
}
