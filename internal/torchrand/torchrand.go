// Package torchrand reproduces the random permutations of PyTorch's CPU
// generator, so that an experiment moved from there keeps its order.
package torchrand

// Perm is what torch.randperm(n) gives after a manual_seed of seed, for n below
// 2³². Like the generator there, it uses the low 32 bits of seed only.
func Perm(n int, seed uint64) []int {
	g := newTwister(uint32(seed))
	perm := make([]int, n)
	for i := range perm {
		perm[i] = i
	}
	for i := range n - 1 {
		j := i + int(g.next()%uint32(n-i))
		perm[i], perm[j] = perm[j], perm[i]
	}
	return perm
}
