package sampler

import "slices"

// Subset takes only the samples in indices: where s gives k, it gives indices[k].
// With [Sequential] of len(indices) it keeps the order of indices. With [Shuffle]
// of len(indices) it is PyTorch's SubsetRandomSampler. At panics if s gives a
// number that is not from 0 to len(indices)-1. Subset of a [Shard] is the same as
// Shard of the Subset. Subset copies indices, and panics if s is nil.
func Subset(s Sampler, indices []int) Sampler {
	mustSampler("Subset", s)
	return subset{s, slices.Clone(indices)}
}

type subset struct {
	of      Sampler
	indices []int
}

func (s subset) Epoch(epoch int) Order {
	order := s.of.Epoch(epoch)
	if part, ok := order.(Part); ok {
		return subsetPart{part, s.indices}
	}
	return subsetOrder{order, s.indices}
}

type subsetOrder struct {
	Order
	indices []int
}

func (o subsetOrder) At(k int) int { return o.indices[o.Order.At(k)] }

// subsetPart is the subset of one rank's share, which is the rank's share of the subset.
type subsetPart struct {
	Part
	indices []int
}

func (p subsetPart) At(k int) int       { return p.indices[p.Part.At(k)] }
func (p subsetPart) Global() Order      { return subsetOrder{p.Part.Global(), p.indices} }
func (p subsetPart) From(draw int) Part { return subsetPart{p.Part.From(draw), p.indices} }
