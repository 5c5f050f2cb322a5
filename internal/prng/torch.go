// Package prng has generators of pseudo-random numbers: PyTorch's, with its permutations, so that an experiment that moves to Go
// keeps its order, and splitmix64, whose state is a counter.
package prng

import "math"

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

// SkipSeeds advances the generator as n calls of [Generator.Seed] do.
func (g *Generator) SkipSeeds(n uint64) { g.twister.skip(n, 2) }

// SkipPerms advances the generator as that many permutations do (see [Generator.Perm]), times over.
// Like SkipSeeds it takes some milliseconds at most, however many there are.
func (g *Generator) SkipPerms(times uint64, permutations, n int) {
	numbers := max(n-1, 0)
	if n >= border {
		numbers = 2 * n
	}
	g.twister.skip(times, uint64(permutations)*uint64(numbers))
}

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
