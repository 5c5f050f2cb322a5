package sampler

import "slices"

// Subset takes only the samples in indices: where s gives k, it gives indices[k].
// With [Sequential] of len(indices) it keeps the order of indices. With [Shuffle]
// of len(indices) it is PyTorch's SubsetRandomSampler. At panics if s gives a
// number that is not from 0 to len(indices)-1. Subset copies indices, and panics
// if s is nil.
func Subset(s Sampler, indices []int) Sampler {
	mustSampler("Subset", s)
	return subset{s, slices.Clone(indices)}
}

type subset struct {
	of      Sampler
	indices []int
}

func (s subset) Epoch(epoch int) Order { return subsetOrder{s.of.Epoch(epoch), s.indices} }

type subsetOrder struct {
	Order
	indices []int
}

func (o subsetOrder) At(k int) int { return o.indices[o.Order.At(k)] }
