package sampler_test

import (
	"fmt"
	"slices"
	"testing"

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
		{"BatchFunc", sampler.BatchFunc(func(epoch int) sampler.Batches { return sampler.List{{epoch}} }), "[[2]]"},
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
		if allocs := testing.AllocsPerRun(10, func() { b.At(0, dst) }); allocs != 0 {
			t.Errorf("%s: %v allocations per batch", c.name, allocs)
		}
	}
}

func TestSharedBatchesKnowTheirPlaces(t *testing.T) {
	places := map[int]bool{}
	for rank := range 3 {
		b := must(sampler.ShardBatches(sampler.List{{0}, {1}, {2}, {3}}, rank, 3, sampler.PadToEven)).Epoch(0).(sampler.BatchPart)
		for k := range b.Len() {
			d := b.Draw(k)
			if got, want := b.At(k, nil), []int{d % 4}; !slices.Equal(got, want) || places[d] {
				t.Errorf("rank %d: batch %d of place %d is %v, want %v", rank, k, d, got, want)
			}
			places[d] = true
		}
	}
	if len(places) != 6 || !places[5] {
		t.Errorf("places %v, want 0 to 5", places)
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
		for _, size := range []int{1, 2, 32, 1 << 61} {
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

// Which samples dropLast leaves out must not depend on their length.
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
