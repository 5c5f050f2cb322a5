package sampler

import "math/bits"

// feistel is a bijection on [0, count<<width), which is less than 1<<width wider
// than [0, n).
type feistel struct {
	n      uint64
	width  int    // of the lower half, in bits
	count  uint64 // of the upper half's values
	rounds int
	keys   [manyRounds]uint64
}

// Two samples that share a half keep their difference where all rounds on that
// half give nothing to tell them apart. With r such rounds on halves of √n values
// that happens n^(1-r/2) times as often as chance has it: 4·10⁻⁶ times with five
// rounds on each half where a shuffle first needs a network, and less than 2·10⁻⁵
// times anywhere.
const (
	fewRounds  = 10 // from 4097 on
	moreRounds = 12 // from 257 on
	manyRounds = 24 // from 17 on
)

// newFeistel needs an n of 17 or more.
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
		// Values outside are walked through until one is inside, which keeps
		// the bijection and is rare: a share of less than 1/count is outside.
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

// spread lets every bit of x count in the upper bits.
func spread(x uint64) uint64 {
	x *= 0xbf58476d1ce4e5b9
	return (x ^ x>>32) * 0x94d049bb133111eb
}

// permuted is place k of a random permutation of n numbers.
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
