package sampler

import "math/bits"

// Shuffle takes every sample from 0 to n-1 once per epoch, in a random order
// that depends on seed and epoch alone. It takes neither memory nor time that
// grows with n: an order of more than 4096 samples is a keyed bijection, so that
// At computes its value. A negative n, or one above 2⁶², panics.
//
// Up to 4096 samples an order is written down in 8 KiB, as Fisher and Yates
// shuffle. Above that the bijection is a Feistel network on the two halves of a
// place's bits, of which the upper one has its own size; it has as good
// statistics, but is no cipher. Source: Black, Rogaway, "Ciphers with arbitrary
// finite domains", 2002.
func Shuffle(n int, seed uint64) Sampler {
	mustCount("Shuffle", n)
	if uint64(n) > 1<<62 {
		panic("sampler: Shuffle of more than 2⁶² samples")
	}
	return shuffled{n, seed}
}

type shuffled struct {
	n    int
	seed uint64
}

func (s shuffled) Epoch(epoch int) Order {
	key := epochKey(forShuffle, s.seed, epoch)
	if s.n <= tableSize {
		return newTable(s.n, key)
	}
	return newFeistel(s.n, key)
}

const tableSize = 1 << 12

// table is a permutation that is small enough to be written down.
type table []uint16

func newTable(n int, key uint64) table {
	t := make(table, n)
	for i := range t {
		t[i] = uint16(i)
	}
	s := stream(key)
	shuffle(&s, t)
	return t
}

func (t table) Len() int { return len(t) }

func (t table) At(k int) int {
	mustPlace(k, len(t))
	return int(t[k])
}

// Two samples that share a half keep their difference where all rounds on that
// half give nothing to tell them apart. With r such rounds on halves of √n values
// that happens to a share of n^(1-r/2) of the pairs that chance gives: five rounds
// of each half make it 4·10⁻⁶ at the smallest size that needs a network.
const rounds = 10

// feistel is a bijection on [0, count<<width), which is less than 1<<width wider
// than [0, n).
type feistel struct {
	n     uint64
	width int    // of the lower half, in bits
	count uint64 // of the upper half's values
	keys  [rounds]uint64
}

func newFeistel(n int, key uint64) *feistel {
	f := &feistel{n: uint64(n)}
	f.width = bits.Len64(f.n-1) / 2
	f.count = (f.n-1)>>f.width + 1
	s := stream(key)
	for i := range f.keys {
		f.keys[i] = s.next()
	}
	return f
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
	for i := 0; i < rounds; i += 2 {
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
