package sampler_test

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"math"
	"strconv"
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
	thousands := make([]int, 70_000)
	for i := range thousands {
		thousands[i] = 2 * (i + 1)
	}
	for i := range weights {
		weights[i] = float64(i * i % 97)
		lengths[i] = 1 + i*i%89
		if i%7 == 3 {
			ends = append(ends, i)
		}
	}
	type order struct {
		name string
		s    sampler.Sampler
		want string
	}
	orders := []order{
		{"Shuffle of 10", sampler.Shuffle(10, 3), "804b4c24af2f0c1d"},
		{"Shuffle of 256", sampler.Shuffle(256, 3), "98df6f0e676f34d8"},
		{"Shuffle of 4096", sampler.Shuffle(4096, 1<<63+5), "fc699198ad7fab9e"},
		{"Shuffle of 4097", sampler.Shuffle(4097, 3), "07956299b57c3862"},
		{"Shuffle of 100,000", sampler.Shuffle(100_000, 3), "95558b0ee7188d07"},
		{"Random", sampler.Random(500, 3, sampler.Draws(800)), "77401a7facfb1871"},
		{"Torch", sampler.Torch(500, 3), "fed34a37b4e7587c"},
		{"TorchManualSeed", sampler.TorchManualSeed(500, 3), "9a7bf333bf18232c"},
		{"Weighted", must(sampler.Weighted(weights, 3, sampler.Draws(800))), "24e1618d0d0a4481"},
		{"WeightedWithoutReplacement", must(sampler.WeightedWithoutReplacement(weights, 3)), "1e5aaf7564efd583"},
		{"WeightedWithoutReplacement of some", must(sampler.WeightedWithoutReplacement(weights, 3, sampler.Draws(100))), "0505059256a1864f"},
		{"Grouped", sampler.Grouped(ends, 3), "f5dc680483215219"},
		{"Grouped together", sampler.Grouped(ends, 3, sampler.Together(5)), "dd8c3f66344b1ce3"},
		{"Grouped in lanes", sampler.Grouped(ends, 3, sampler.Together(9), sampler.Lanes(4)), "bf061e7dc412b820"},
		{"Grouped, 200,000 together", sampler.Grouped([]int{90_000, 200_000}, 3, sampler.Together(2)), "58c637369457f5e0"},
		{"Mix, proportions", must(sampler.Mix(sequences(40, 500, 70), sampler.Stage{Proportions: []int{3, 5, 2}})), "6a4ff31699d93f68"},
		{"Mix, weights", must(sampler.Mix(sequences(40, 500, 70), sampler.Stage{Weights: []float64{0.3, 0.5, 0.2}, AllExhausted: true})), "b937da1f93c9ca93"},
		{"Shard, padded", must(sampler.Shard(sampler.Shuffle(10, 3), 2, 4, sampler.PadToEven)), "05aaa82171b2c6f8"},
		{"Shard, dropped", must(sampler.Shard(sampler.Shuffle(10, 3), 1, 4, sampler.DropToEven)), "e16c66288e2822fb"},
		{"Shard, exact", must(sampler.Shard(sampler.Shuffle(10, 3), 1, 4, sampler.KeepExact)), "061d3e532033a248"},
		{"Random of 2³¹-1", sampler.Random(math.MaxInt32, 3, sampler.Draws(800)), "b03d890d2e6b0b09"},
		{"Grouped, 60,000 together in 50,000 lanes", sampler.Grouped(thousands, 3, sampler.Together(60_000), sampler.Lanes(50_000)), "d2601e6f5d0f0672"},
	}
	if math.MaxInt > math.MaxInt32 {
		orders = append(orders, order{"Random of many", sampler.Random(3<<(strconv.IntSize-4), 3, sampler.Draws(800)), "7fdbe35e25ccf529"})
	}
	for _, c := range orders {
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
		{"ByTokens", must(sampler.ByTokens(lengths, 300, 3)), "ea4fdb264576b93a"},
		{"ByTokens, padded", must(sampler.ByTokens(lengths, 300, 3, sampler.Padded())), "93017217383ff460"},
		{"ShardBatches", must(sampler.ShardBatches(sampler.Fixed(sampler.Shuffle(50, 3), sampler.BatchSize(8)), 1, 3, sampler.PadToEven)), "557791094950ae13"},
	} {
		if got := digest(func(epoch int) [][]int { return batches(c.s.Epoch(epoch)) }); got != c.want {
			t.Errorf("%s: got %s, want %s", c.name, got, c.want)
		}
	}
}

// TestLargeOrdersStayTheSame pins places of orders that are too long to go
// through. They are the same where an int has 32 bits.
func TestLargeOrdersStayTheSame(t *testing.T) {
	const n = math.MaxInt32
	for _, c := range []struct {
		name  string
		order sampler.Order
		want  string
	}{
		{"Shuffle", sampler.Shuffle(n, 3).Epoch(1), "314964011b2a65aa"},
		{"Shard", must(sampler.Shard(sampler.Shuffle(n, 3), 5, 7, sampler.PadToEven)).Epoch(1), "ae7d2729590f4abc"},
		{"Grouped", sampler.Grouped([]int{n / 3, n / 2, n}, 3, sampler.Together(2), sampler.Lanes(3)).Epoch(1), "418e776802bb0520"},
	} {
		places := make([]int, 0, 2000)
		last := c.order.Len() - 1
		for i := range 1000 {
			places = append(places, c.order.At(last/1000*i), c.order.At(last-i))
		}
		if got := digest(func(int) [][]int { return [][]int{places} }); got != c.want {
			t.Errorf("%s: got %s, want %s", c.name, got, c.want)
		}
	}
}

// TestDrawsOfLargeOrdersDoNotOverflow checks numbers that a 32-bit int cannot hold.
func TestDrawsOfLargeOrdersDoNotOverflow(t *testing.T) {
	const n, world, size = math.MaxInt32, 7, 1 << 20
	padded := must(sampler.Shard(sampler.Sequential(n), world-1, world, sampler.PadToEven))
	part := padded.Epoch(0).(sampler.Part)
	last := part.Len() - 1
	if got, want := part.Draw(last), int64(last)*world+world-1; got != want || want < n {
		t.Errorf("the last draw is %d, want %d, which is padding", got, want)
	}
	if got, want := part.At(last), int(part.Draw(last)-n); got != want {
		t.Errorf("the padding is sample %d, want %d", got, want)
	}
	if got := part.Consumed(last + 1); got != n {
		t.Errorf("%d draws are consumed at the end, want %d", got, n)
	}
	batches := sampler.Fixed(padded, sampler.BatchSize(size)).Epoch(0).(sampler.BatchPart)
	end := batches.Len() - 1
	if got, want := batches.At(end, nil), part.Len()-end*size; len(got) != want || got[len(got)-1] != part.At(last) {
		t.Errorf("the last batch has %d samples, want %d, which end with %d", len(got), want, part.At(last))
	}
	if got := batches.Consumed(end + 1); got != n {
		t.Errorf("%d draws are consumed after the last batch, want %d", got, n)
	}
	if got, want := batches.Draw(end+1, 3), (int64(end+1)*size+3)*world+world-1; got != want {
		t.Errorf("a row of padding has draw %d, want %d", got, want)
	}
	lists := must(sampler.ShardBatches(sampler.List{{0}, {1}, {2}}, 0, 1, sampler.KeepExact)).Epoch(0).(sampler.BatchPart)
	if got, want := lists.Draw(2, 5), int64(2<<32|5); got != want {
		t.Errorf("row 5 of batch 2 has draw %d, want %d", got, want)
	}
}
