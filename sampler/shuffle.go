package sampler

// Shuffle takes every sample from 0 to n-1 once per epoch, in a random order that
// depends only on n, seed and epoch. For any n, an order takes at most 8 KiB, and
// making it takes some microseconds. A negative n panics, and so does one above
// 2⁶².
//
// For up to 4096 samples an order is a table, shuffled by the method of Fisher and
// Yates. For more samples it is a keyed bijection, a Feistel network on the bits of a
// place, which At computes. It passes the same statistical tests as the table, but
// is not a cipher. Source: Black, Rogaway, "Ciphers with arbitrary finite domains",
// 2002.
func Shuffle(n int, seed uint64) Sampler {
	mustCount("Shuffle", "n", n)
	if uint64(n) > 1<<62 {
		panic("sampler: Shuffle: n is above 2⁶²")
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

// table is a permutation that is small enough to be kept in memory.
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
