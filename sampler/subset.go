package sampler

import "slices"

// Subset takes the listed samples in the order that s gives to their places in
// the list: Subset(Sequential(len(indices)), indices) keeps the list's order,
// and with a [Shuffle] it is PyTorch's SubsetRandomSampler. s draws places from
// 0 to len(indices)-1; an order panics where s draws another one.
func Subset(s Sampler, indices []int) Sampler {
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
