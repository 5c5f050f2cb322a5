// Package fit finds rows with space for items by the rule of best fit, for dataset/tokens and sampler.
package fit

import (
	"math"
	"math/bits"
)

// Rows are rows of one size, which are filled item by item.
type Rows struct {
	size        int
	n           int      // number of rows
	after       []uint32 // of every row the one with the same space that comes next
	front, back []uint32 // of the rows of every space, by age
	spaces      set      // those that a row has
}

const none = math.MaxUint32

// NewRows makes no rows yet. Their size is 1 or more.
func NewRows(size int) *Rows {
	return &Rows{size: size, front: make([]uint32, size), back: make([]uint32, size), spaces: newSet(size)}
}

// Reset removes all rows.
func (r *Rows) Reset() {
	r.n, r.after = 0, r.after[:0]
	for s, ok := r.spaces.next(0); ok; s, ok = r.spaces.next(s) {
		r.spaces.remove(s)
	}
}

// Take takes away the row with the least space that is n or more, and returns its number and space: of several, the one that
// has had this space for the longest time. If there is none, it makes a row. n is 1 to the size.
func (r *Rows) Take(n int) (row, space int) {
	space, ok := r.spaces.next(n)
	if !ok {
		r.n++
		r.after = append(r.after, none)
		return r.n - 1, r.size
	}
	row = int(r.front[space])
	if r.front[space] = r.after[row]; r.front[space] == none {
		r.spaces.remove(space)
	}
	return row, space
}

// Give gives back a row that was taken. It has less space than a new row, and none if it is full.
func (r *Rows) Give(row, space int) {
	if space == 0 {
		return
	}
	r.after[row] = none
	if r.spaces.has(space) {
		r.after[r.back[space]] = uint32(row)
	} else {
		r.front[space] = uint32(row)
		r.spaces.add(space)
	}
	r.back[space] = uint32(row)
}

// A set of numbers finds the next one in constant time. Its levels are bits: one for each word of the level below that is not 0.
type set [][]uint64

func newSet(n int) set {
	var s set
	for ; ; n = (n + 63) / 64 {
		s = append(s, make([]uint64, (n+63)/64))
		if n <= 64 {
			return s
		}
	}
}

func (s set) has(i int) bool { return s[0][i/64]>>(i%64)&1 == 1 }

func (s set) add(i int) {
	for _, level := range s {
		level[i/64] |= 1 << (i % 64)
		i /= 64
	}
}

func (s set) remove(i int) {
	for _, level := range s {
		if level[i/64] &^= 1 << (i % 64); level[i/64] != 0 {
			return
		}
		i /= 64
	}
}

// next is the least number that is not below i.
func (s set) next(i int) (int, bool) {
	for l, level := range s {
		if i/64 >= len(level) {
			return 0, false
		}
		if word := level[i/64] >> (i % 64); word != 0 {
			i += bits.TrailingZeros64(word)
			for l--; l >= 0; l-- {
				i = 64*i + bits.TrailingZeros64(s[l][i])
			}
			return i, true
		}
		i = i/64 + 1
	}
	return 0, false
}
