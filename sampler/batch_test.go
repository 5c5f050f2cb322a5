package sampler_test

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"testing"

	"github.com/penstock-go/penstock/internal/allocs"
	"github.com/penstock-go/penstock/sampler"
)

func batches(b sampler.Batches) [][]int {
	var all [][]int
	for k := range b.Len() {
		all = append(all, b.At(k, nil))
	}
	return all
}

func TestBatchSamplers(t *testing.T) {
	five := sampler.List{{0}, {1, 2}, {3}, {4}, {5, 6}}
	share := func(rank, world int, mode sampler.Mode) sampler.BatchSampler {
		return must(sampler.ShardBatches(five, rank, world, mode))
	}
	for _, c := range []struct {
		name string
		s    sampler.BatchSampler
		want string
	}{
		{"Fixed", sampler.Fixed(sampler.Sequential(7), sampler.BatchSize(3)), "[[0 1 2] [3 4 5] [6]]"},
		{"Fixed, last dropped", sampler.Fixed(sampler.Sequential(7), sampler.BatchSize(3), sampler.DropLast(true)), "[[0 1 2] [3 4 5]]"},
		{"Fixed that divides", sampler.Fixed(sampler.Sequential(6), sampler.BatchSize(3)), "[[0 1 2] [3 4 5]]"},
		{"Fixed of none", sampler.Fixed(sampler.Sequential(0), sampler.BatchSize(3)), "[]"},
		{"Fixed larger than all", sampler.Fixed(sampler.Sequential(2), sampler.BatchSize(3)), "[[0 1]]"},
		{"Fixed larger than all, dropped", sampler.Fixed(sampler.Sequential(2), sampler.BatchSize(3), sampler.DropLast(true)), "[]"},
		{"List", five, "[[0] [1 2] [3] [4] [5 6]]"},
		{"share padded", share(1, 2, sampler.PadToEven), "[[1 2] [4] [0]]"},
		{"share dropped", share(1, 2, sampler.DropToEven), "[[1 2] [4]]"},
		{"share exact", share(0, 2, sampler.KeepExact), "[[0] [3] [5 6]]"},
		{"share of the other rank", share(1, 2, sampler.KeepExact), "[[1 2] [4]]"},
		{"share of more ranks than batches", share(11, 12, sampler.PadToEven), "[[1 2]]"},
	} {
		b := c.s.Epoch(2)
		if got := fmt.Sprint(batches(b)); got != c.want {
			t.Errorf("%s: got %s, want %s", c.name, got, c.want)
		}
		if b.Len() == 0 {
			continue
		}
		if got, want := b.At(0, []int{-7}), append([]int{-7}, b.At(0, nil)...); !slices.Equal(got, want) {
			t.Errorf("%s: appended to -7: %v, want %v", c.name, got, want)
		}
		dst := make([]int, 0, 8)
		if n := allocs.PerRun(0, 10, func() { b.At(0, dst) }); n != 0 {
			t.Errorf("%s: %v allocations per batch", c.name, n)
		}
	}
}

func TestSharedBatchesKnowTheirPlaces(t *testing.T) {
	places := map[int64]bool{}
	for rank := range 3 {
		b := must(sampler.ShardBatches(sampler.List{{0}, {1}, {2}, {3}}, rank, 3, sampler.PadToEven)).Epoch(0).(sampler.BatchPart)
		for k := range b.Len() {
			d := b.Draw(k, 0) >> 32
			if got, want := b.At(k, nil), []int{int(d % 4)}; !slices.Equal(got, want) || places[d] {
				t.Errorf("rank %d: batch %d of place %d is %v, want %v", rank, k, d, got, want)
			}
			places[d] = true
		}
	}
	if len(places) != 6 || !places[5] {
		t.Errorf("places %v, want 0 to 5", places)
	}
}

// batchSequences are batch samplers whose batches are shared by ranks.
func batchSequences(size int) map[string]sampler.BatchSampler {
	list := make(sampler.List, 23)
	for k := range list {
		list[k] = []int{2 * k, 2*k + 1}
	}
	order := sampler.Shuffle(46, 6)
	return map[string]sampler.BatchSampler{
		"list":           list,
		"fixed":          sampler.Fixed(order, sampler.BatchSize(size)),
		"fixed, dropped": sampler.Fixed(order, sampler.BatchSize(size), sampler.DropLast(true)),
		"fixed share":    sampler.Fixed(must(sampler.Shard(order, 1, 2, sampler.PadToEven)), sampler.BatchSize(size)),
	}
}

// After ranks have consumed any number of draws, another number of ranks takes the
// rest, each draw once.
func TestSharedBatchesContinueOnAnotherWorldSize(t *testing.T) {
	for name, global := range batchSequences(5) {
		share := func(rank, world int, mode sampler.Mode) sampler.BatchPart {
			return must(sampler.ShardBatches(global, rank, world, mode)).Epoch(3).(sampler.BatchPart)
		}
		all := map[int64]int{} // the sample of every draw
		whole := share(0, 1, sampler.KeepExact)
		for k := range whole.Len() {
			for row, i := range whole.At(k, nil) {
				all[whole.Draw(k, row)] = i
			}
		}
		for _, before := range []int{1, 2, 4} {
			first := share(0, before, sampler.KeepExact)
			for taken := range first.Len() + 1 {
				left := maps.Clone(all)
				for rank := range before {
					part := share(rank, before, sampler.KeepExact)
					for k := range min(taken, part.Len()) {
						for row := range part.At(k, nil) {
							delete(left, part.Draw(k, row))
						}
					}
				}
				for _, after := range []int{1, 3, 5, 30} {
					checkRestOfBatches(t, fmt.Sprintf("%s, %d ranks, %d batches each, then %d ranks", name, before, taken, after), left, after, func(rank int, mode sampler.Mode) sampler.BatchPart {
						return share(rank, after, mode).From(first.Consumed(taken))
					})
				}
			}
		}
	}
}

// checkRestOfBatches compares what all ranks draw with the draws that are left.
func checkRestOfBatches(t *testing.T, what string, left map[int64]int, world int, share func(rank int, mode sampler.Mode) sampler.BatchPart) {
	t.Helper()
	drawn := map[int64]int{}
	padded := map[int64]bool{}
	for rank := range world {
		part := share(rank, sampler.KeepExact)
		for k := range part.Len() {
			for row, i := range part.At(k, nil) {
				drawn[part.Draw(k, row)] = i
			}
		}
		even := share(rank, sampler.PadToEven)
		if got, want := even.Len(), share(0, sampler.PadToEven).Len(); got != want {
			t.Errorf("%s: padded, rank %d has %d batches, rank 0 %d", what, rank, got, want)
		}
		for k := range even.Len() {
			for row := range even.At(k, nil) {
				d := even.Draw(k, row)
				if padded[d] {
					t.Errorf("%s: padded, two rows have draw %d", what, d)
				}
				padded[d] = true
			}
		}
	}
	if !maps.Equal(drawn, left) {
		t.Errorf("%s: %d draws, want the %d that are left", what, len(drawn), len(left))
	}
}

func TestFixedBatchesContinueInAnotherSize(t *testing.T) {
	order := sampler.Shuffle(46, 6)
	want := indices(order.Epoch(1))
	for _, world := range []int{1, 2, 3} {
		before := sampler.Fixed(must(sampler.Shard(order, 0, world, sampler.KeepExact)), sampler.BatchSize(4)).Epoch(1).(sampler.BatchPart)
		if got, want := before.Step(), 4*world; got != want {
			t.Errorf("%d ranks: a step is %d, want %d", world, got, want)
		}
		for k := range before.Len() + 1 {
			var rest []int
			for _, b := range batches(sampler.Fixed(order, sampler.BatchSize(7)).Epoch(1).(sampler.BatchPart).From(before.Consumed(k))) {
				rest = append(rest, b...)
			}
			if want := want[min(4*k*world, 46):]; !slices.Equal(rest, want) {
				t.Errorf("%d ranks, after %d batches: got %v, want %v", world, k, rest, want)
			}
		}
	}
}

// waste is the share of padding where every batch is as long as its longest.
func waste(b sampler.Batches, lengths []int) float64 {
	used, padded := 0, 0
	for _, batch := range batches(b) {
		longest := 0
		for _, i := range batch {
			longest = max(longest, lengths[i])
			used += lengths[i]
		}
		padded += longest * len(batch)
	}
	return 1 - float64(used)/float64(padded)
}

func spread(n, longest int) []int {
	lengths := make([]int, n)
	for k, i := range indices(sampler.Shuffle(n, 77).Epoch(0)) {
		lengths[k] = 1 + i*longest/n
	}
	return lengths
}

func TestByLengthTakesEverySampleOnce(t *testing.T) {
	for _, n := range []int{0, 1, 2, 31, 32, 33, 128, 129, 1000} {
		for _, size := range []int{1, 2, 32, math.MaxInt/4 + 1} {
			for epoch := range 5 {
				var got []int
				short := 0
				for _, batch := range batches(sampler.ByLength(spread(n, 50), 1, sampler.BatchSize(size)).Epoch(epoch)) {
					got = append(got, batch...)
					if len(batch) == 0 || len(batch) > size {
						t.Fatalf("n %d, size %d: a batch of %d", n, size, len(batch))
					}
					if len(batch) < size {
						short++
					}
				}
				if len(got) != n || !isPermutation(got) || short > 1 {
					t.Fatalf("n %d, size %d: %d short batches, samples %v", n, size, short, got)
				}
				for _, batch := range batches(sampler.ByLength(spread(n, 50), 1, sampler.BatchSize(size), sampler.DropLast(true)).Epoch(epoch)) {
					if len(batch) != size {
						t.Fatalf("n %d, size %d: a batch of %d is not dropped", n, size, len(batch))
					}
					got = append(got, batch...)
				}
				if want := n + n/size*size; len(got) != want {
					t.Fatalf("n %d, size %d: %d samples in whole batches, want %d", n, size, len(got)-n, want-n)
				}
			}
		}
	}
}

func TestByLengthSavesPadding(t *testing.T) {
	lengths := spread(10_000, 1000)
	grouped := waste(sampler.ByLength(lengths, 1, sampler.BatchSize(32)).Epoch(0), lengths)
	random := waste(sampler.Fixed(sampler.Shuffle(len(lengths), 1), sampler.BatchSize(32)).Epoch(0), lengths)
	t.Logf("padding: %.2f %% grouped, %.2f %% at random", 100*grouped, 100*random)
	if grouped > .02 || random < .4 {
		t.Errorf("padding is %.4f of all, at random %.4f", grouped, random)
	}
}

func TestByLengthGroupsAnewInEveryEpoch(t *testing.T) {
	lengths := spread(1000, 1000)
	s := sampler.ByLength(lengths, 1, sampler.BatchSize(10))
	first, second := batches(s.Epoch(0)), batches(s.Epoch(1))
	common, longer := 0, 0
	for _, b := range first {
		slices.Sort(b)
	}
	for k, b := range second {
		slices.Sort(b)
		if slices.ContainsFunc(first, func(f []int) bool { return slices.Equal(f, b) }) {
			common++
		}
		if k > 0 && lengths[b[0]] > lengths[second[k-1][0]] {
			longer++
		}
	}
	if common > 5 {
		t.Errorf("%d of %d batches are the same in two epochs", common, len(first))
	}
	if longer < 30 || longer > 70 {
		t.Errorf("%d of 99 batches are longer than the one before", longer)
	}
}

// The samples that DropLast leaves out must not depend on their length.
func TestByLengthDropsSamplesOfAnyLength(t *testing.T) {
	const n, size, epochs = 100, 9, 5000
	lengths := make([]int, n)
	for i := range lengths {
		lengths[i] = i
	}
	s := sampler.ByLength(lengths, 1, sampler.BatchSize(size), sampler.DropLast(true))
	dropped := make([]int, 2)
	for epoch := range epochs {
		in := make([]bool, n)
		for _, batch := range batches(s.Epoch(epoch)) {
			for _, i := range batch {
				in[i] = true
			}
		}
		i := slices.Index(in, false)
		dropped[i*2/n]++
	}
	checkChi(t, "dropped in the shorter and longer half", dropped, equally(epochs, 2))
}
