package sampler_test

import (
	"fmt"

	"github.com/penstock-go/penstock/sampler"
)

// DistributedSampler(dataset, num_replicas=3, rank=rank, seed=0) of ten samples, in the second
// epoch. There is no set_epoch that can be forgotten: the epoch is an argument.
func ExampleShard_distributedSampler() {
	for rank := range 3 {
		s, err := sampler.Shard(sampler.Torch(10, 0), rank, 3, sampler.PadToEven)
		if err != nil {
			fmt.Println(err)
			return
		}
		show(s.Epoch(1))
	}
	// Output:
	// 5 2 9 4
	// 6 0 3 5
	// 1 8 7 6
}

// WeightedRandomSampler with the reciprocals of the classes' sizes: every class is drawn
// equally often, although 90 of 100 samples are of class 0.
func ExampleWeighted_balancedClasses() {
	labels := make([]int, 100) // of a dataset.Folder, its method Labels gives them
	for i := 90; i < 100; i++ {
		labels[i] = 1
	}
	count := make([]float64, 2)
	for _, label := range labels {
		count[label]++
	}
	weights := make([]float64, len(labels))
	for i, label := range labels {
		weights[i] = 1 / count[label]
	}
	s, err := sampler.Weighted(weights, 1, sampler.Draws(10_000))
	if err != nil {
		fmt.Println(err)
		return
	}
	drawn := make([]int, 2)
	order := s.Epoch(0)
	for k := range order.Len() {
		drawn[labels[order.At(k)]]++
	}
	fmt.Println(drawn)
	// Output: [5141 4859]
}

// curriculum is a sampler of one's own: samples are sorted from easy to hard, and every epoch
// shuffles a tenth more of them.
type curriculum struct{ n int }

func (c curriculum) Epoch(epoch int) sampler.Order {
	return sampler.Shuffle(min(c.n, (epoch+1)*c.n/10), uint64(epoch)).Epoch(0)
}

// Shard divides the orders of any Sampler among ranks.
func ExampleSampler() {
	s, err := sampler.Shard(curriculum{50}, 0, 2, sampler.DropToEven)
	if err != nil {
		fmt.Println(err)
		return
	}
	show(s.Epoch(0))
	show(s.Epoch(1))
	// Output:
	// 0 2
	// 0 8 1 4 5
}

// The samples of a stream have numbers, and nobody knows the last one. Two ranks take every
// second one, and drop the last one when the stream turns out to have nine.
func ExampleEndless() {
	s, err := sampler.Shard(sampler.Endless(), 0, 2, sampler.DropToEven)
	if err != nil {
		fmt.Println(err)
		return
	}
	order := s.Epoch(0).(sampler.EndlessOrder)
	fmt.Println(order.At(1_000_000))
	show(order.Until(9))
	// Output:
	// 2000000
	// 0 2 4 6
}

// A loader saves the identity with a position, and refuses to resume in another order. Rank
// and world size may change.
func ExampleIdentified() {
	shuffle := sampler.Shuffle(1000, 7)
	shard, err := sampler.Shard(shuffle, 3, 8, sampler.PadToEven)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(shuffle.(sampler.Identified).Identity())
	fmt.Println(shard.(sampler.Identified).Identity())
	// Output:
	// Shuffle(1000 samples, seed 7)
	// Shuffle(1000 samples, seed 7)
}
