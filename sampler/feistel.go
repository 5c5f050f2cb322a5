package sampler

import "math/bits"

// feistel is a permutation of the numbers from 0 to n-1. It computes a bijection on
// [0, count<<width), which has fewer than 1<<width numbers more than [0, n).
type feistel struct {
	n      uint64
	width  int    // of the lower half, in bits
	count  uint64 // values of the upper half
	rounds int
	keys   [manyRounds]uint64
}

// Two places that share a half keep their difference if every round that reads
// this half gives the same number for both. With r such rounds, on halves of √n
// values, a difference is kept more often than by chance. The excess, relative to
// chance, is n^(1-r/2): 4·10⁻⁶ with five rounds on each half at n = 4097, and less
// than 2·10⁻⁵ for all n.
const (
	fewRounds  = 10 // for n from 4097 on
	moreRounds = 12 // for n from 257 on
	manyRounds = 24 // for n from 17 on
)

// newFeistel needs an n of at least 17.
func newFeistel(n int, key uint64) *feistel {
	f := new(feistel)
	f.set(n, key)
	return f
}

func (f *feistel) set(n int, key uint64) {
	f.n, f.rounds = uint64(n), manyRounds
	switch {
	case n > 4096:
		f.rounds = fewRounds
	case n > 256:
		f.rounds = moreRounds
	}
	f.width = bits.Len64(f.n-1) / 2
	f.count = (f.n-1)>>f.width + 1
	s := stream(key)
	for i := range f.rounds {
		f.keys[i] = s.next()
	}
}

func (f *feistel) Len() int { return int(f.n) }

func (f *feistel) At(k int) int {
	x := uint64(k)
	if x >= f.n {
		panic(outside{k, int(f.n)})
	}
	for {
		x = f.apply(x)
		// A value of n or more is mapped again until one is below n. The result is
		// still a bijection. Such values are rare: less than 1/count of all.
		if x < f.n {
			return int(x)
		}
	}
}

func (f *feistel) apply(x uint64) uint64 {
	width, count := f.width&63, f.count
	lower, upper := x&(1<<width-1), x>>width
	for i := 0; i+1 < min(f.rounds, len(f.keys)); i += 2 {
		lower ^= spread(upper^f.keys[i]) >> (-width & 63) // 64 - width
		r, _ := bits.Mul64(spread(lower^f.keys[i+1]), count)
		if upper += r; upper >= count {
			upper -= count
		}
	}
	return upper<<width | lower
}

// spread makes the upper bits depend on every bit of x.
func spread(x uint64) uint64 {
	x *= 0xbf58476d1ce4e5b9
	return (x ^ x>>32) * 0x94d049bb133111eb
}

// permuted is number k of a random permutation of 0 to n-1.
func permuted(k, n int, key uint64) int {
	if n > 16 {
		var f feistel
		f.set(n, key)
		return f.At(k)
	}
	var list [16]uint8
	for i := range list {
		list[i] = uint8(i)
	}
	s := stream(key)
	shuffle(&s, list[:n])
	return int(list[k])
}
