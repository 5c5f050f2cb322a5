package sampler

import (
	"math"
	"math/bits"
)

// Shuffle takes every sample from 0 to n-1 once per epoch, in a random order
// that depends on seed and epoch alone. It takes neither memory nor time that
// grows with n: an order is a keyed bijection, so that At computes its value.
// A negative n, or one above 2⁶², panics.
//
// Up to 256 samples all permutations are equally likely. Above that the
// bijection is a Feistel network on pairs (x mod a, x div a) with a ≈ √n, whose
// halves are added modulo their own size; it has as good statistics, but is no
// cipher. Source: Black, Rogaway, "Ciphers with arbitrary finite domains", 2002.
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

const tableSize = 256

// table is a permutation that is small enough to be written down.
type table struct {
	n    int
	perm [tableSize]uint8
}

func newTable(n int, key uint64) *table {
	t := &table{n: n}
	for i := range t.perm {
		t.perm[i] = uint8(i)
	}
	s := stream(key)
	shuffle(&s, t.perm[:n])
	return t
}

func (t *table) Len() int { return t.n }

func (t *table) At(k int) int {
	mustPlace(k, t.n)
	return int(t.perm[k])
}

// Fewer rounds show: with six, the distances between neighbours of a small order
// are not all equally likely.
const rounds = 8

// feistel is a bijection on [0, a·b), which is at most a-1 wider than [0, n).
type feistel struct {
	n    uint64
	a, b uint64 // sizes of the halves
	keys [rounds]uint64
}

func newFeistel(n int, key uint64) *feistel {
	f := &feistel{n: uint64(n)}
	f.a = uint64(math.Sqrt(float64(n)))
	f.b = (f.n + f.a - 1) / f.a
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
		// the bijection and is rare: a share of less than 1/b is outside.
		if x < f.n {
			return int(x)
		}
	}
}

func (f *feistel) apply(x uint64) uint64 {
	left, right := x%f.a, x/f.a
	for i := 0; i < rounds; i += 2 {
		left = added(left, right, f.keys[i], f.a)
		right = added(right, left, f.keys[i+1], f.b)
	}
	return right*f.a + left
}

// added is (half + random(other)) mod size, where random(other) is below size.
func added(half, other, key, size uint64) uint64 {
	h := (other ^ key) * 0xbf58476d1ce4e5b9
	h = (h ^ h>>32) * 0x94d049bb133111eb
	r, _ := bits.Mul64(h, size)
	half += r
	if half >= size {
		half -= size
	}
	return half
}
