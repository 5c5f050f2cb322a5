package sampler

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
