// Package prng has generators of pseudo-random numbers: PyTorch's, with its permutations, so that an experiment that moves to Go
// keeps its order, and splitmix64, whose state is a counter.
package prng

import (
	"math"
	"math/bits"
)

// A Generator is PyTorch's CPU generator: torch.Generator().
type Generator struct{ twister twister }

// New makes a generator in the state after manual_seed(seed). As in PyTorch, it uses
// only the lowest 32 bits of seed.
func New(seed uint64) *Generator {
	g := new(Generator)
	g.twister.seed(uint32(seed))
	return g
}

// Seed is the next torch.empty((), dtype=torch.int64).random_(), which PyTorch
// draws when it needs a seed.
func (g *Generator) Seed() uint64 { return g.next64() & math.MaxInt64 }

func (g *Generator) next64() uint64 {
	high := uint64(g.twister.next())
	return high<<32 | uint64(g.twister.next())
}

// From this length on torch.randperm uses another algorithm. With 32-bit numbers the
// positions would no longer be nearly equally likely.
const border = math.MaxUint32 / 20

// Perm is the next torch.randperm(n).
func (g *Generator) Perm(n int) []int {
	if n < border {
		return g.swapped(n)
	}
	return g.insideOut(n)
}

// SkipSeeds advances the generator as n calls of [Generator.Seed] do. It takes some milliseconds
// at most, however many there are.
func (g *Generator) SkipSeeds(n uint64) { g.twister.skip(n, 2) }

// swapped is the Fisher–Yates shuffle, from the first element on.
func (g *Generator) swapped(n int) []int {
	perm := make([]int, n)
	for i := range perm {
		perm[i] = i
	}
	for i := range n - 1 {
		j := i + int(g.twister.next()%uint32(n-i))
		perm[i], perm[j] = perm[j], perm[i]
	}
	return perm
}

// Shuffle shuffles n elements as the next numpy.random.RandomState.shuffle of an array does, after RandomState(seed) for a
// generator of that seed. It swaps elements by swap.
func (g *Generator) Shuffle(n int, swap func(i, j int)) {
	for i := n - 1; i > 0; i-- {
		mask := uint64(1)<<bits.Len(uint(i)) - 1
		j := uint64(math.MaxUint64)
		for j > uint64(i) {
			if mask > math.MaxUint32 {
				j = g.next64() & mask
			} else {
				j = uint64(g.twister.next()) & mask
			}
		}
		swap(i, int(j))
	}
}

// insideOut is the inside-out variant of the shuffle, which adds one element after the
// other.
func (g *Generator) insideOut(n int) []int {
	perm := make([]int, n)
	for i := range perm {
		j := g.next64() % uint64(i+1)
		perm[i] = perm[j]
		perm[j] = i
	}
	return perm
}

// Perm is torch.randperm(n) after torch.manual_seed(seed).
func Perm(n int, seed uint64) []int { return New(seed).Perm(n) }

// The parameters of MT19937. Source: Matsumoto, Nishimura, "Mersenne Twister: a
// 623-dimensionally equidistributed uniform pseudo-random number generator",
// ACM TOMACS 8 (1998); the seeding is that of the authors' 2002 revision.
const (
	words  = 624        // of state
	middle = 397        // distance between the words that are mixed
	matrix = 0x9908b0df // last row of the twist matrix
)

// twister is the 32-bit Mersenne Twister.
type twister struct {
	state [words]uint32
	used  int // words of state that were returned
}

func (t *twister) seed(seed uint32) {
	t.used = words
	t.state[0] = seed
	for i := 1; i < words; i++ {
		previous := t.state[i-1]
		t.state[i] = 1812433253*(previous^previous>>30) + uint32(i)
	}
}

func (t *twister) next() uint32 {
	if t.used == words {
		t.twist()
	}
	y := t.state[t.used]
	t.used++
	y ^= y >> 11
	y ^= y << 7 & 0x9d2c5680
	y ^= y << 15 & 0xefc60000
	return y ^ y>>18
}

// far is from how many twists on a jump takes less time.
const far = 8000

// skip skips n numbers, as often as times says.
func (t *twister) skip(times, n uint64) {
	high, low := bits.Mul64(times, n)
	low, carry := bits.Add64(low, uint64(t.used), 0)
	high += carry
	// So many twists, and then so many words of the state.
	high, rest := high/words, high%words
	low, rest = bits.Div64(rest, low, words)
	if high > 0 || low >= far {
		t.jump(high, low)
	} else {
		for range low {
			t.twist()
		}
	}
	t.used = int(rest)
}

// twist replaces the whole state by the next one.
func (t *twister) twist() {
	s := &t.state
	for i := range words - middle {
		s[i] = s[i+middle] ^ twisted(s[i], s[i+1])
	}
	for i := words - middle; i < words-1; i++ {
		s[i] = s[i+middle-words] ^ twisted(s[i], s[i+1])
	}
	s[words-1] = s[middle-1] ^ twisted(s[words-1], s[0])
	t.used = 0
}

func twisted(high, low uint32) uint32 {
	y := high&(1<<31) | low&(1<<31-1)
	return y>>1 ^ -(y&1)&matrix
}
