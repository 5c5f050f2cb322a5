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
// shuffle=True)) four times after torch.manual_seed(seed).
func TestDataLoadersOrders(t *testing.T) {
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
	} {
		got := indices(c.s.Epoch(30))
		if !slices.Equal(got[:5], c.first) || !slices.Equal(got[995:], c.last) {
			t.Errorf("%s: epoch 30 begins with %v and ends with %v, want %v and %v", name, got[:5], got[995:], c.first, c.last)
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
	for name, make := range map[string]func() sampler.Sampler{
		"Torch":           func() sampler.Sampler { return sampler.Torch(n, 1) },
		"TorchManualSeed": func() sampler.Sampler { return sampler.TorchManualSeed(n, 1) },
	} {
		var s sampler.Sampler
		hostile.Bounded(t, 0, 8*n, func() {
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
