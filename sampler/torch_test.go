package sampler_test

import (
	"slices"
	"testing"

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

func TestTorchKeepsTheLastTwoEpochs(t *testing.T) {
	s := sampler.Torch(1000, 1)
	s.Epoch(0)
	s.Epoch(1)
	epoch := 0
	bytes := testing.AllocsPerRun(10, func() {
		s.Epoch(epoch)
		epoch = 1 - epoch
	})
	if bytes > 1 { // the interface's
		t.Errorf("asking again takes %v allocations", bytes)
	}
}
