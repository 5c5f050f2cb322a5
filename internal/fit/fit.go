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

// Len is the number of rows.
func (r *Rows) Len() int { return r.n }

// Reset removes all rows.
func (r *Rows) Reset() {
	r.n, r.after = 0, r.after[:0]
	for s, ok := r.spaces.next(0); ok; s, ok = r.spaces.next(s) {
		r.spaces.remove(s)
	}
}

// Put puts an item of n, from 1 to the size, into the row with the least space that suffices: of several, into the one that has
// had this space for the longest time. If there is none, it makes a row. It returns the number of the row.
func (r *Rows) Put(n int) (row int) {
	space, ok := r.spaces.next(n)
	if ok {
		row = int(r.front[space])
		if r.front[space] = r.after[row]; r.front[space] == none {
			r.spaces.remove(space)
		}
	} else {
		row, space = r.n, r.size
		r.n++
		r.after = append(r.after, none)
	}
	if space -= n; space > 0 {
		r.give(uint32(row), space)
	}
	return row
}

// give makes a row the youngest one with a space.
func (r *Rows) give(row uint32, space int) {
	r.after[row] = none
	if r.spaces.has(space) {
		r.after[r.back[space]] = row
	} else {
		r.front[space] = row
		r.spaces.add(space)
	}
	r.back[space] = row
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
