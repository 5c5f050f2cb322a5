package sampler_test

import (
	"fmt"
	"log"
	"os"

	"github.com/penstock-go/penstock/sampler"
)

// show prints the samples of an order.
func show(o sampler.Order) {
	var samples []any
	for k := range o.Len() {
		samples = append(samples, o.At(k))
	}
	fmt.Println(samples...)
}

func ExampleSequential() {
	show(sampler.Sequential(4).Epoch(0))
	// Output: 0 1 2 3
}

func ExampleShuffle() {
	s := sampler.Shuffle(5, 42)
	show(s.Epoch(0))
	show(s.Epoch(1))
	// Any place of a very long order is computed in nanoseconds.
	fmt.Println(sampler.Shuffle(1_000_000_000, 42).Epoch(0).At(999_999_999))
	// Output:
	// 2 3 0 1 4
	// 1 4 3 0 2
	// 139422164
}

// torch.randperm(10, generator=torch.Generator().manual_seed(1)).
func ExampleTorch() {
	show(sampler.Torch(10, 1).Epoch(0))
	// Output: 5 6 1 2 0 8 9 3 7 4
}

// torch.manual_seed(42), then DataLoader(dataset, shuffle=True) for three epochs.
func ExampleTorchManualSeed() {
	s := sampler.TorchManualSeed(10, 42)
	for epoch := range 3 {
		show(s.Epoch(epoch))
	}
	// Output:
	// 8 0 9 1 4 5 6 3 2 7
	// 4 6 9 3 7 5 2 0 1 8
	// 6 2 1 0 3 8 5 9 4 7
}

// Eight draws from three samples, with replacement.
func ExampleRandom() {
	show(sampler.Random(3, 1, sampler.Draws(8)).Epoch(0))
	// Output: 0 1 0 2 1 1 2 1
}

// Sample 0 is eight times as likely as sample 1 or sample 3. Sample 2 is never drawn.
func ExampleWeighted() {
	s, err := sampler.Weighted([]float64{8, 1, 0, 1}, 1, sampler.Draws(12))
	if err != nil {
		fmt.Println(err)
		return
	}
	show(s.Epoch(0))
	// Output: 0 0 1 0 0 0 3 0 0 0 1 3
}

// Every sample of positive weight is drawn once. Sample 0, the heaviest, usually comes
// early.
func ExampleWeightedWithoutReplacement() {
	s, err := sampler.WeightedWithoutReplacement([]float64{8, 1, 0, 1}, 3)
	if err != nil {
		fmt.Println(err)
		return
	}
	show(s.Epoch(0))
	// Output: 0 3 1
}

// Rank 1 of 3 takes its share of seven samples. Training repeats samples, so that
// all ranks have equally many. Validation repeats none.
func ExampleShard() {
	rank, world := 1, 3 // or from FromEnv
	training, err := sampler.Shard(sampler.Sequential(7), rank, world, sampler.PadToEven)
	if err != nil {
		fmt.Println(err)
		return
	}
	validation, err := sampler.Shard(sampler.Sequential(7), rank, world, sampler.KeepExact)
	if err != nil {
		fmt.Println(err)
		return
	}
	show(training.Epoch(0))
	show(validation.Epoch(0))
	// Output:
	// 1 4 0
	// 1 4
}

// Four ranks stop after two samples each, and two ranks continue the epoch.
func ExamplePart() {
	all := sampler.Sequential(13)
	before, err := sampler.Shard(all, 0, 4, sampler.KeepExact)
	if err != nil {
		fmt.Println(err)
		return
	}
	draws := before.Epoch(0).(sampler.Part).Consumed(2)
	for rank := range 2 {
		after, err := sampler.Shard(all, rank, 2, sampler.KeepExact)
		if err != nil {
			fmt.Println(err)
			return
		}
		show(after.Epoch(0).(sampler.Part).From(draws))
	}
	// Output:
	// 8 10 12
	// 9 11
}

// Two ranks stop after one batch of four each, and one rank continues in batches
// of six.
func ExampleBatchPart() {
	all := sampler.Sequential(17)
	before, err := sampler.ShardBatches(sampler.Fixed(all, sampler.BatchSize(4)), 0, 2, sampler.KeepExact)
	if err != nil {
		fmt.Println(err)
		return
	}
	draws := before.Epoch(0).(sampler.BatchPart).Consumed(1)
	after := sampler.Fixed(all, sampler.BatchSize(6)).Epoch(0).(sampler.BatchPart)
	showBatches(after.From(draws))
	// Output: [8 9 10 11 12 13] [14 15 16]
}

// A launcher such as torchrun sets the variables. Here the example sets them.
func ExampleFromEnv() {
	os.Setenv("RANK", "1")
	os.Setenv("WORLD_SIZE", "4")
	defer os.Unsetenv("RANK")
	defer os.Unsetenv("WORLD_SIZE")

	rank, world, err := sampler.FromEnv()
	if err != nil {
		fmt.Println(err)
		return
	}
	s, err := sampler.Shard(sampler.Shuffle(1000, 0), rank, world, sampler.PadToEven)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("rank %d of %d has %d samples\n", rank, world, s.Epoch(0).Len())
	// Output: rank 1 of 4 has 250 samples
}

// Every process uses its own device of the machine. A launcher such as torchrun
// sets the variables. Here the example sets them.
func ExampleLocalRankFromEnv() {
	os.Setenv("RANK", "5")
	os.Setenv("WORLD_SIZE", "8")
	os.Setenv("LOCAL_RANK", "1")
	defer os.Unsetenv("RANK")
	defer os.Unsetenv("WORLD_SIZE")
	defer os.Unsetenv("LOCAL_RANK")

	device, err := sampler.LocalRankFromEnv()
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("device of this rank:", device)
	// Output: device of this rank: 1
}

// showBatches prints the batches of an epoch.
func showBatches(b sampler.Batches) {
	var all []any
	for k := range b.Len() {
		all = append(all, b.At(k, nil))
	}
	fmt.Println(all...)
}

// Batches of three consecutive samples, with and without the short last one.
func ExampleFixed() {
	showBatches(sampler.Fixed(sampler.Sequential(7), sampler.BatchSize(3)).Epoch(0))
	showBatches(sampler.Fixed(sampler.Sequential(7), sampler.BatchSize(3), sampler.DropLast(true)).Epoch(0))
	// Output:
	// [0 1 2] [3 4 5] [6]
	// [0 1 2] [3 4 5]
}

// Eight texts in batches of two. Both texts of a batch have about the same number
// of tokens.
func ExampleByLength() {
	tokens := []int{9, 2, 8, 1, 2, 9, 1, 8}
	showBatches(sampler.ByLength(tokens, 1, sampler.BatchSize(2)).Epoch(0))
	// Output: [0 5] [2 6] [7 3] [4 1]
}

// Two batches with the given samples, the same ones in every epoch.
func ExampleList() {
	showBatches(sampler.List{{4, 2}, {0, 1, 3}}.Epoch(0))
	// Output: [4 2] [0 1 3]
}

// Rank 1 of 2 takes its share of three batches. PadToEven repeats the first one.
func ExampleShardBatches() {
	s, err := sampler.ShardBatches(sampler.List{{0, 1}, {2}, {3, 4}}, 1, 2, sampler.PadToEven)
	if err != nil {
		fmt.Println(err)
		return
	}
	showBatches(s.Epoch(0))
	// Output: [2] [0 1]
}

// Three patients of four slices each. The slices of two patients are mixed, then
// those of the third follow.
func ExampleGrouped() {
	show(sampler.Grouped([]int{4, 8, 12}, 1, sampler.Together(2)).Epoch(0))
	// Output: 7 11 10 5 6 4 9 8 0 3 2 1
}

func ExampleBatchSize() {
	showBatches(sampler.Fixed(sampler.Sequential(5), sampler.BatchSize(2)).Epoch(0))
	// Output: [0 1] [2 3] [4]
}

func ExampleDropLast() {
	showBatches(sampler.Fixed(sampler.Sequential(5), sampler.BatchSize(2), sampler.DropLast(true)).Epoch(0))
	// Output: [0 1] [2 3]
}

func ExampleDraws() {
	fmt.Println(sampler.Random(1000, 1).Epoch(0).Len())
	fmt.Println(sampler.Random(1000, 1, sampler.Draws(50)).Epoch(0).Len())
	// Output:
	// 1000
	// 50
}

// Three patients of three slices each: one patient after the other, then all
// mixed.
func ExampleTogether() {
	ends := []int{3, 6, 9}
	show(sampler.Grouped(ends, 1).Epoch(0))
	show(sampler.Grouped(ends, 1, sampler.Together(len(ends))).Epoch(0))
	// Output:
	// 3 5 4 6 8 7 1 2 0
	// 7 2 6 1 4 5 3 0 8
}

// The share of each of three ranks in seven samples.
func ExampleMode() {
	for _, mode := range []sampler.Mode{sampler.PadToEven, sampler.DropToEven, sampler.KeepExact} {
		fmt.Println(mode)
		for rank := range 3 {
			s, err := sampler.Shard(sampler.Sequential(7), rank, 3, mode)
			if err != nil {
				fmt.Println(err)
				return
			}
			show(s.Epoch(0))
		}
	}
	// Output:
	// PadToEven
	// 0 3 6
	// 1 4 0
	// 2 5 1
	// DropToEven
	// 0 3
	// 1 4
	// 2 5
	// KeepExact
	// 0 3 6
	// 1 4
	// 2 5
}

// Two ranks read twelve blocks of three samples in two lanes. Only one rank reads
// each block.
func ExampleLanes() {
	ends := []int{3, 6, 9, 12, 15, 18, 21, 24, 27, 30, 33, 36}
	for rank := range 2 {
		s, err := sampler.Shard(sampler.Grouped(ends, 1, sampler.Lanes(2)), rank, 2, sampler.KeepExact)
		if err != nil {
			fmt.Println(err)
			return
		}
		show(s.Epoch(0))
	}
	// Output:
	// 6 8 7 24 26 25 22 23 21 31 32 30 20 19 18 17 16 15
	// 0 2 1 33 34 35 27 28 29 10 9 11 13 14 12 5 4 3
}

// Two photos in three are of dogs. Batches have as many cats.
func ExampleBalanced() {
	labels := make([]string, 300) // usually Labels of a folder
	for i := range labels {
		labels[i] = "dog"
		if i%3 == 0 {
			labels[i] = "cat"
		}
	}
	s, err := sampler.Balanced(labels, 1, sampler.Draws(100_000))
	if err != nil {
		fmt.Println(err)
		return
	}
	drawn := map[string]int{}
	order := s.Epoch(0)
	for k := range order.Len() {
		drawn[labels[order.At(k)]]++
	}
	fmt.Printf("cats %.0f %%, dogs %.0f %%\n", float64(drawn["cat"])/1000, float64(drawn["dog"])/1000)
	// Output: cats 50 %, dogs 50 %
}

// Batches of at most 8 tokens. With padding, each sample counts as long as the longest one of its batch.
func ExampleByTokens() {
	lengths := []int{5, 3, 1, 7, 2, 2, 4}
	for _, options := range [][]sampler.TokenOption{nil, {sampler.Padded()}} {
		s, err := sampler.ByTokens(lengths, 8, 1, options...)
		if err != nil {
			log.Fatal(err)
		}
		var list [][]int
		for k := range s.Epoch(0).Len() {
			var batch []int
			for _, i := range s.Epoch(0).At(k, nil) {
				batch = append(batch, lengths[i])
			}
			list = append(list, batch)
		}
		fmt.Println(list)
	}
	// Output:
	// [[4 2 2] [5 3] [7 1]]
	// [[5] [2 2 1] [4 3] [7]]
}
