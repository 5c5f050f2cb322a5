package sampler_test

import (
	"math"
	"slices"
	"testing"

	"github.com/penstock-go/penstock/internal/allocs"
	"github.com/penstock-go/penstock/internal/hostile"
	"github.com/penstock-go/penstock/sampler"
)

func TestRandperm(t *testing.T) {
	for _, c := range []struct {
		n     int
		seed  uint64
		epoch int
		want  []int
	}{
		{0, 1, 0, []int{}},
		{1, 1, 0, []int{0}},
		{10, 1, 0, []int{5, 6, 1, 2, 0, 8, 9, 3, 7, 4}},
		{10, 0, 0, []int{4, 1, 7, 5, 3, 9, 0, 8, 6, 2}},
		{10, 0, 1, []int{5, 6, 1, 2, 0, 8, 9, 3, 7, 4}}, // of seed+epoch
		{10, 1 << 32, 1, []int{5, 6, 1, 2, 0, 8, 9, 3, 7, 4}},
	} {
		s := sampler.Torch(c.n, c.seed)
		if got := indices(s.Epoch(c.epoch)); !slices.Equal(got, c.want) {
			t.Errorf("Torch(%d, %d) in epoch %d: got %v, want %v", c.n, c.seed, c.epoch, got, c.want)
		}
	}
}

// The orders are those of torch 2.15.0: list(DataLoader(range(10), batch_size=5,
// shuffle=True)) four times after torch.manual_seed(seed), or with
// generator=torch.Generator().manual_seed(seed).
func TestDataLoadersOrders(t *testing.T) {
	persistent := sampler.PersistentWorkers(true)
	for _, c := range []struct {
		name string
		s    sampler.Sampler
		want [4][]int
	}{
		{"manual_seed(0)", sampler.TorchManualSeed(10, 0), [4][]int{
			{6, 7, 1, 4, 2, 0, 9, 8, 3, 5}, {2, 4, 7, 0, 8, 9, 5, 3, 6, 1}, {7, 4, 5, 1, 9, 3, 8, 2, 0, 6}, {1, 6, 0, 4, 2, 9, 3, 5, 8, 7},
		}},
		{"manual_seed(42)", sampler.TorchManualSeed(10, 42), [4][]int{
			{8, 0, 9, 1, 4, 5, 6, 3, 2, 7}, {4, 6, 9, 3, 7, 5, 2, 0, 1, 8}, {6, 2, 1, 0, 3, 8, 5, 9, 4, 7}, {4, 3, 8, 9, 2, 0, 5, 1, 6, 7},
		}},
		{"manual_seed(2**40+3)", sampler.TorchManualSeed(10, 1<<40+3), [4][]int{
			{6, 2, 0, 1, 8, 3, 5, 4, 7, 9}, {3, 4, 0, 9, 6, 7, 1, 2, 5, 8}, {9, 7, 0, 6, 5, 2, 8, 4, 1, 3}, {5, 9, 6, 0, 7, 4, 1, 8, 3, 2},
		}},
		{"manual_seed(0), persistent_workers=True", sampler.TorchManualSeed(10, 0, persistent), [4][]int{
			{6, 7, 1, 4, 2, 0, 9, 8, 3, 5}, {3, 5, 0, 6, 1, 2, 4, 9, 7, 8}, {2, 4, 7, 0, 8, 9, 5, 3, 6, 1}, {2, 4, 9, 8, 7, 5, 6, 1, 0, 3},
		}},
		{"manual_seed(42), persistent_workers=True", sampler.TorchManualSeed(10, 42, persistent), [4][]int{
			{8, 0, 9, 1, 4, 5, 6, 3, 2, 7}, {4, 3, 2, 6, 7, 5, 0, 8, 1, 9}, {4, 6, 9, 3, 7, 5, 2, 0, 1, 8}, {6, 9, 3, 2, 0, 8, 4, 7, 1, 5},
		}},
		{"generator of 0", sampler.TorchGenerator(10, 0), [4][]int{
			{3, 7, 5, 2, 0, 8, 1, 6, 9, 4}, {1, 3, 2, 7, 5, 9, 0, 6, 4, 8}, {6, 8, 5, 7, 2, 4, 1, 0, 3, 9}, {3, 7, 9, 0, 8, 1, 6, 4, 2, 5},
		}},
		{"generator of 42", sampler.TorchGenerator(10, 42), [4][]int{
			{6, 5, 4, 0, 8, 9, 2, 1, 3, 7}, {3, 6, 5, 8, 9, 4, 2, 0, 7, 1}, {7, 4, 5, 0, 9, 1, 3, 2, 8, 6}, {0, 8, 1, 5, 7, 3, 9, 2, 6, 4},
		}},
		{"generator of 0, persistent_workers=True", sampler.TorchGenerator(10, 0, persistent), [4][]int{
			{3, 7, 5, 2, 0, 8, 1, 6, 9, 4}, {6, 3, 9, 5, 0, 4, 7, 2, 1, 8}, {1, 8, 4, 3, 0, 9, 5, 6, 7, 2}, {3, 5, 6, 1, 0, 2, 9, 7, 4, 8},
		}},
		{"generator of 42, persistent_workers=True", sampler.TorchGenerator(10, 42, persistent), [4][]int{
			{6, 5, 4, 0, 8, 9, 2, 1, 3, 7}, {9, 0, 3, 6, 1, 8, 7, 2, 4, 5}, {2, 4, 1, 0, 5, 9, 3, 6, 7, 8}, {5, 6, 4, 3, 1, 0, 2, 8, 7, 9},
		}},
	} {
		for _, epoch := range []int{0, 1, 2, 3, 1, 0} {
			if got := indices(c.s.Epoch(epoch)); !slices.Equal(got, c.want[epoch]) {
				t.Errorf("%s, epoch %d: got %v, want %v", c.name, epoch, got, c.want[epoch])
			}
		}
	}
	for name, c := range map[string]struct {
		s           sampler.Sampler
		first, last []int // of epoch 30 of 1000 samples
	}{
		"manual_seed(3)": {sampler.TorchManualSeed(1000, 3), []int{909, 638, 361, 621, 836}, []int{171, 432, 51, 382, 244}},
		"generator of 3": {sampler.TorchGenerator(1000, 3), []int{720, 93, 90, 37, 340}, []int{818, 867, 267, 949, 100}},
	} {
		got := indices(c.s.Epoch(30))
		if !slices.Equal(got[:5], c.first) || !slices.Equal(got[995:], c.last) {
			t.Errorf("%s: epoch 30 begins with %v and ends with %v, want %v and %v", name, got[:5], got[995:], c.first, c.last)
		}
	}
}

// The orders are those of torch 2.15.0: RandomSampler(range(10), num_samples=25)
// by itself with a generator of manual_seed(1), in a DataLoader after
// torch.manual_seed(1), and in a DataLoader with the same generator.
func TestRepeatOverTorchIsRandomSampler(t *testing.T) {
	for _, c := range []struct {
		name  string
		s     sampler.Sampler
		draws int
		want  [][]int // by epoch
	}{
		{"Torch", sampler.Torch(10, 1), 25, [][]int{
			{5, 6, 1, 2, 0, 8, 9, 3, 7, 4, 2, 3, 1, 8, 9, 0, 6, 7, 4, 5, 2, 8, 1, 5, 6},
		}},
		{"TorchManualSeed", sampler.TorchManualSeed(10, 1), 25, [][]int{
			{4, 2, 0, 6, 8, 7, 9, 1, 5, 3, 4, 0, 2, 8, 9, 6, 1, 7, 5, 3, 2, 7, 0, 8, 1},
			{4, 8, 1, 5, 0, 2, 3, 6, 9, 7, 3, 1, 4, 8, 5, 9, 6, 0, 2, 7, 7, 0, 8, 6, 5},
			{5, 8, 3, 7, 6, 9, 2, 1, 0, 4, 6, 1, 2, 5, 9, 0, 4, 3, 7, 8, 7, 6, 4, 1, 5},
		}},
		{"TorchManualSeed", sampler.TorchManualSeed(10, 1), 3, [][]int{{4, 2, 0}, {4, 8, 1}, {5, 8, 3}}},
		{"TorchGenerator", sampler.TorchGenerator(10, 1), 25, [][]int{
			{4, 6, 9, 2, 3, 1, 0, 7, 8, 5, 9, 2, 0, 5, 4, 7, 3, 1, 8, 6, 0, 7, 4, 9, 1},
			{6, 7, 9, 5, 1, 8, 3, 2, 0, 4, 5, 6, 3, 7, 2, 0, 8, 4, 9, 1, 4, 0, 3, 5, 1},
			{6, 8, 5, 7, 3, 1, 4, 9, 2, 0, 8, 5, 1, 0, 6, 7, 4, 9, 2, 3, 9, 8, 0, 2, 6},
		}},
		{"TorchGenerator", sampler.TorchGenerator(10, 1), 3, [][]int{{4, 6, 9}, {3, 5, 6}, {3, 1, 4}}},
		{"TorchGenerator", sampler.TorchGenerator(10, 1), 20, [][]int{
			{4, 6, 9, 2, 3, 1, 0, 7, 8, 5, 9, 2, 0, 5, 4, 7, 3, 1, 8, 6},
			{6, 7, 9, 5, 1, 8, 3, 2, 0, 4, 5, 6, 3, 7, 2, 0, 8, 4, 9, 1},
			{6, 8, 5, 7, 3, 1, 4, 9, 2, 0, 8, 5, 1, 0, 6, 7, 4, 9, 2, 3},
		}},
	} {
		s := must(sampler.Repeat(c.s, c.draws))
		for epoch, want := range c.want {
			if got := indices(s.Epoch(epoch)); !slices.Equal(got, want) {
				t.Errorf("%s, %d draws, epoch %d: got %v, want %v", c.name, c.draws, epoch, got, want)
			}
		}
	}
}

func TestTorchKeepsTheLastTwoEpochs(t *testing.T) {
	s := sampler.Torch(1000, 1)
	s.Epoch(0)
	s.Epoch(1)
	epoch := 0
	n := allocs.PerRun(1, 10, func() {
		s.Epoch(epoch)
		epoch = 1 - epoch
	})
	if n > 1 { // the interface's
		t.Errorf("asking again takes %v allocations", n)
	}
}

// TestALateEpochTakesTheTimeOfAnEarlyOne: whoever asks a service for the last epoch would keep it
// from answering anybody if all earlier ones were drawn.
func TestALateEpochTakesTheTimeOfAnEarlyOne(t *testing.T) {
	const n = 1000
	repeated := func(s sampler.Sampler) sampler.Sampler { return must(sampler.Repeat(s, 100*n)) }
	for name, make := range map[string]func() sampler.Sampler{
		"Torch":                     func() sampler.Sampler { return sampler.Torch(n, 1) },
		"TorchManualSeed":           func() sampler.Sampler { return sampler.TorchManualSeed(n, 1) },
		"TorchGenerator":            func() sampler.Sampler { return sampler.TorchGenerator(n, 1) },
		"TorchManualSeed, repeated": func() sampler.Sampler { return repeated(sampler.TorchManualSeed(n, 1)) },
		"TorchGenerator, repeated":  func() sampler.Sampler { return repeated(sampler.TorchGenerator(n, 1)) },
	} {
		var s sampler.Sampler
		hostile.Bounded(t, 0, 8*100*n, func() {
			s = make()
			s.Epoch(math.MaxInt32 - 2)
		})
		next := s.Epoch(math.MaxInt32 - 1)
		if !slices.Equal(indices(make().Epoch(math.MaxInt32-1)), indices(next)) {
			t.Errorf("%s: the last epoch differs after another one was made", name)
		}
		if slices.Equal(indices(next), indices(s.Epoch(math.MaxInt32-2))) {
			t.Errorf("%s: two epochs are equal", name)
		}
	}
}
