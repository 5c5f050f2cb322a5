package sampler_test

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"testing"

	"github.com/penstock-go/penstock/sampler"
)

// digest is the first 64 bits of SHA-256 over the samples of epochs 0, 1 and 7,
// with the lengths of orders and batches.
func digest(epoch func(epoch int) [][]int) string {
	sum := sha256.New()
	add := func(n int) {
		var word [8]byte
		binary.LittleEndian.PutUint64(word[:], uint64(n))
		sum.Write(word[:])
	}
	for _, e := range []int{0, 1, 7} {
		for _, list := range epoch(e) {
			add(len(list))
			for _, i := range list {
				add(i)
			}
		}
	}
	return fmt.Sprintf("%x", sum.Sum(nil)[:8])
}

// TestOrdersStayTheSame pins the orders, because repeated runs and saved
// positions depend on them. An algorithm that changes must get a new name.
func TestOrdersStayTheSame(t *testing.T) {
	weights := make([]float64, 500)
	lengths := make([]int, 500)
	var ends []int
	for i := range weights {
		weights[i] = float64(i * i % 97)
		lengths[i] = 1 + i*i%89
		if i%7 == 3 {
			ends = append(ends, i)
		}
	}
	for _, c := range []struct {
		name string
		s    sampler.Sampler
		want string
	}{
		{"Shuffle of 10", sampler.Shuffle(10, 3), "804b4c24af2f0c1d"},
		{"Shuffle of 256", sampler.Shuffle(256, 3), "98df6f0e676f34d8"},
		{"Shuffle of 4096", sampler.Shuffle(4096, 1<<63+5), "fc699198ad7fab9e"},
		{"Shuffle of 4097", sampler.Shuffle(4097, 3), "07956299b57c3862"},
		{"Shuffle of 100,000", sampler.Shuffle(100_000, 3), "95558b0ee7188d07"},
		{"Random", sampler.Random(500, 3, sampler.Draws(800)), "77401a7facfb1871"},
		{"Random of many", sampler.Random(3<<60, 3, sampler.Draws(800)), "7fdbe35e25ccf529"},
		{"Repeat", must(sampler.Repeat(sampler.Shuffle(300, 3), 800)), "fe94eadaa72a7016"},
		{"Torch", sampler.Torch(500, 3), "fed34a37b4e7587c"},
		{"Repeat of Torch", must(sampler.Repeat(sampler.Torch(300, 3), 800)), "f7800cfbb1d5e1f8"},
		{"TorchManualSeed", sampler.TorchManualSeed(500, 3), "9a7bf333bf18232c"},
		{"TorchGenerator", sampler.TorchGenerator(500, 3), "c11888cd91b2dc03"},
		{"Weighted", must(sampler.Weighted(weights, 3, sampler.Draws(800))), "24e1618d0d0a4481"},
		{"WeightedWithoutReplacement", must(sampler.WeightedWithoutReplacement(weights, 3)), "1e5aaf7564efd583"},
		{"WeightedWithoutReplacement of some", must(sampler.WeightedWithoutReplacement(weights, 3, sampler.Draws(100))), "0505059256a1864f"},
		{"Grouped", sampler.Grouped(ends, 3), "f5dc680483215219"},
		{"Grouped together", sampler.Grouped(ends, 3, sampler.Together(5)), "dd8c3f66344b1ce3"},
		{"Grouped in lanes", sampler.Grouped(ends, 3, sampler.Together(9), sampler.Lanes(4)), "bf061e7dc412b820"},
		{"Grouped, 200,000 together", sampler.Grouped([]int{90_000, 200_000}, 3, sampler.Together(2)), "58c637369457f5e0"},
		{"Shard, padded", must(sampler.Shard(sampler.Shuffle(10, 3), 2, 4, sampler.PadToEven)), "05aaa82171b2c6f8"},
		{"Shard, dropped", must(sampler.Shard(sampler.Shuffle(10, 3), 1, 4, sampler.DropToEven)), "e16c66288e2822fb"},
		{"Shard, exact", must(sampler.Shard(sampler.Shuffle(10, 3), 1, 4, sampler.KeepExact)), "061d3e532033a248"},
	} {
		if got := digest(func(epoch int) [][]int { return [][]int{indices(c.s.Epoch(epoch))} }); got != c.want {
			t.Errorf("%s: got %s, want %s", c.name, got, c.want)
		}
	}
	for _, c := range []struct {
		name string
		s    sampler.BatchSampler
		want string
	}{
		{"ByLength", sampler.ByLength(lengths, 3, sampler.BatchSize(8)), "ec2b2a5835ec4263"},
		{"ByLength, dropped", sampler.ByLength(lengths, 3, sampler.BatchSize(8), sampler.DropLast(true)), "0509a321ac773ef5"},
		{"ShardBatches", must(sampler.ShardBatches(sampler.Fixed(sampler.Shuffle(50, 3), sampler.BatchSize(8)), 1, 3, sampler.PadToEven)), "557791094950ae13"},
	} {
		if got := digest(func(epoch int) [][]int { return batches(c.s.Epoch(epoch)) }); got != c.want {
			t.Errorf("%s: got %s, want %s", c.name, got, c.want)
		}
	}
}
