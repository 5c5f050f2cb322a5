package sampler

import (
	"fmt"
	"math"
	"math/bits"

	"github.com/penstock-go/penstock/internal/prng"
)

// Sequential takes the samples 0 to n-1 in ascending order, in every epoch. A
// negative n panics.
func Sequential(n int) Sampler {
	mustCount("Sequential", "n", n)
	return sequential(n)
}

type sequential int

func (s sequential) Epoch(int) Order { return s }
func (s sequential) Len() int        { return int(s) }

func (s sequential) At(k int) int {
	mustPlace(k, int(s))
	return k
}

func mustCount(name, what string, n int) {
	if n < 0 {
		panic(fmt.Sprintf("sampler: %s: %s is %d: want 0 or more", name, what, n))
	}
}

func mustSampler(name string, s Sampler) {
	if s == nil {
		panic(fmt.Sprintf("sampler: %s: the sampler is nil", name))
	}
}

func mustPlace(k, n int) {
	if uint(k) >= uint(n) {
		panic(outside{k, n})
	}
}

// outside is formatted only where the panic is shown, so that the check is
// small enough to be inlined.
type outside struct{ k, n int }

func (o outside) Error() string {
	return fmt.Sprintf("sampler: At(%d): index out of range with length %d", o.k, o.n)
}

// Random draws n samples per epoch, or as many as [Draws] sets, with replacement.
// At every draw each of the n samples is equally likely, so some samples come
// several times and others not at all. This is PyTorch's RandomSampler with
// replacement=True. It takes no memory that grows with n or the draws. A negative
// n panics, and so does an n of 0 with Draws above 0.
//
// For draws without replacement, use [Shuffle].
func Random(n int, seed uint64, options ...DrawOption) Sampler {
	mustCount("Random", "n", n)
	r := random{n, newDraws("Random", n, options), seed}
	if n == 0 && r.draws > 0 {
		panic("sampler: Random: n is 0: no samples to draw from")
	}
	return r
}

type random struct {
	n, draws int
	seed     uint64
}

func (r random) Epoch(epoch int) Order {
	return &randomOrder{r, epochKey(forRandom, r.seed, epoch)}
}

type randomOrder struct {
	random
	key uint64
}

func (o *randomOrder) Len() int { return o.draws }

func (o *randomOrder) At(k int) int {
	mustPlace(k, o.draws)
	return int(below(prng.Mix(o.key^uint64(k)), uint64(o.n)))
}

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

// Endless takes the samples 0, 1, 2 and so on, in every epoch. It is the order of a
// dataset whose length is not known (see dataset.Unknown), and the default of a loader
// for one. [Shard] divides it among ranks.
func Endless() Sampler { return endless{} }

// An EndlessOrder is an Order whose Len is [math.MaxInt], because its end is not known
// yet. [Endless] makes one, and so does a [Shard] of it.
type EndlessOrder interface {
	Order

	// Until is the order if there are n samples. It is the same as before, except for the
	// last draws, which depend on the [Mode] of a Shard.
	Until(n int) Order
}

type endless struct{}

func (endless) Epoch(int) Order   { return endless{} }
func (endless) Len() int          { return math.MaxInt }
func (endless) Until(n int) Order { return sequential(n) }

func (endless) At(k int) int {
	mustPlace(k, math.MaxInt)
	return k
}

// Identity does not name a length, so it is the same where an int has 32 bits.
func (endless) Identity() string { return "Endless()" }

// endlessPart is one rank's share of an order without a known end.
type endlessPart struct {
	*shardOrder
	global EndlessOrder
}

func (p endlessPart) From(draw int) Part {
	mustDraw(draw)
	return endlessPart{newPart(p.global, p.share, draw), p.global}
}

func (p endlessPart) Until(n int) Order { return newPart(p.global.Until(n), p.share, p.start) }
