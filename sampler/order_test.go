package sampler_test

import (
	"fmt"
	"math"
	"slices"
	"sync"
	"testing"

	"github.com/penstock-go/penstock/internal/allocs"
	"github.com/penstock-go/penstock/sampler"
)

// must returns s, and panics if its arguments were wrong.
func must[S any](s S, err error) S {
	if err != nil {
		panic(err)
	}
	return s
}

// all has a sampler of every constructor.
func all() map[string]sampler.Sampler {
	weights := []float64{1, 0, 3, 2, .5}
	return map[string]sampler.Sampler{
		"Sequential":                 sampler.Sequential(5),
		"Shuffle":                    sampler.Shuffle(5, 1),
		"large Shuffle":              sampler.Shuffle(5000, 1),
		"Torch":                      sampler.Torch(5, 1),
		"TorchManualSeed":            sampler.TorchManualSeed(5, 1),
		"Random":                     sampler.Random(5, 1, sampler.Draws(12)),
		"Weighted":                   must(sampler.Weighted(weights, 1, sampler.Draws(12))),
		"WeightedWithoutReplacement": must(sampler.WeightedWithoutReplacement(weights, 1, sampler.Draws(4))),
		"Grouped":                    sampler.Grouped([]int{2, 3, 5}, 1, sampler.Together(2), sampler.Lanes(2)),
		"Shard":                      must(sampler.Shard(sampler.Shuffle(5, 1), 1, 3, sampler.PadToEven)),
	}
}

func TestEpochsAreTheSameInAnyOrderOfCalls(t *testing.T) {
	again := all()
	for name, s := range all() {
		var first [4][]int
		for epoch := range first {
			first[epoch] = indices(s.Epoch(epoch))
		}
		for _, epoch := range []int{2, 0, 3, 1, 1} {
			if got := indices(again[name].Epoch(epoch)); !slices.Equal(got, first[epoch]) {
				t.Errorf("%s: epoch %d is %v, then %v", name, epoch, first[epoch], got)
			}
		}
		if name != "Sequential" && name != "Shard" && slices.Equal(first[0], first[1]) && slices.Equal(first[1], first[2]) {
			t.Errorf("%s: three epochs are %v", name, first[0])
		}
	}
}

func TestOrdersAreSafeForConcurrentUse(t *testing.T) {
	for name, s := range all() {
		want := indices(s.Epoch(1))
		var group sync.WaitGroup
		for range 4 {
			group.Go(func() {
				for epoch := range 4 {
					indices(s.Epoch(epoch))
				}
				if got := indices(s.Epoch(1)); !slices.Equal(got, want) {
					t.Errorf("%s: got %v, want %v", name, got, want)
				}
			})
		}
		group.Wait()
	}
}

func TestAtAllocatesNothing(t *testing.T) {
	for name, s := range all() {
		order := s.Epoch(0)
		k := 0
		if n := allocs.PerRun(0, 100, func() { k = (k + 1) % order.Len(); order.At(k) }); n != 0 {
			t.Errorf("%s: %v allocations", name, n)
		}
	}
}

func TestPlacesOutsidePanic(t *testing.T) {
	for name, s := range all() {
		order := s.Epoch(0)
		for _, k := range []int{-1, order.Len()} {
			if !panics(func() { order.At(k) }) {
				t.Errorf("%s: At(%d) of %d does not panic", name, k, order.Len())
			}
		}
	}
}

func TestWrongUsePanics(t *testing.T) {
	uses := map[string]func(){
		"Sequential(-1)":                 func() { sampler.Sequential(-1) },
		"Shuffle(-1)":                    func() { sampler.Shuffle(-1, 0) },
		"Torch(-1)":                      func() { sampler.Torch(-1, 0) },
		"TorchManualSeed(-1)":            func() { sampler.TorchManualSeed(-1, 0) },
		"Random(-1, 0)":                  func() { sampler.Random(-1, 0, sampler.Draws(0)) },
		"Random(1, -1)":                  func() { sampler.Random(1, 0, sampler.Draws(-1)) },
		"Random(0, 1)":                   func() { sampler.Random(0, 0, sampler.Draws(1)) },
		"Weighted(-1)":                   func() { sampler.Weighted([]float64{1}, 0, sampler.Draws(-1)) },
		"WeightedWithoutReplacement(-1)": func() { sampler.WeightedWithoutReplacement([]float64{1}, 0, sampler.Draws(-1)) },
		"Fixed of size 0":                func() { sampler.Fixed(sampler.Sequential(1), sampler.BatchSize(0)) },
		"ByLength of size 0":             func() { sampler.ByLength([]int{1}, 0, sampler.BatchSize(0)) },
		"Grouped by 0":                   func() { sampler.Grouped([]int{3}, 0, sampler.Together(0)) },
		"Grouped in 0 lanes":             func() { sampler.Grouped([]int{3}, 0, sampler.Lanes(0)) },
		"From(-1)": func() {
			must(sampler.Shard(sampler.Sequential(3), 0, 1, sampler.PadToEven)).Epoch(0).(sampler.Part).From(-1)
		},
	}
	if math.MaxInt > math.MaxInt32 {
		uses["Shuffle(2⁶²+1)"] = func() { sampler.Shuffle(math.MaxInt/2+2, 0) }
	}
	for name, use := range uses {
		if !panics(use) {
			t.Errorf("%s does not panic", name)
		}
	}
}

func TestPanicsNameTheArgument(t *testing.T) {
	for want, use := range map[string]func(){
		"sampler: Sequential: n is -1: want 0 or more": func() { sampler.Sequential(-1) },
		"sampler: Fixed: the sampler is nil":           func() { sampler.Fixed(nil) },
	} {
		func() {
			defer func() {
				if got := recover(); got != want {
					t.Errorf("got %v, want %s", got, want)
				}
			}()
			use()
		}()
	}
}

func panics(use func()) (did bool) {
	defer func() { did = recover() != nil }()
	use()
	return
}

func TestWrongDataIsAnError(t *testing.T) {
	failure := func(_ any, err error) error { return err }
	s := sampler.Sequential(3)
	for _, c := range []struct {
		err  error
		want string
	}{
		{failure(sampler.Shard(s, -1, 2, sampler.PadToEven)), "sampler: Shard: rank -1 of 2: want one from 0 to 1"},
		{failure(sampler.Shard(s, 2, 2, sampler.PadToEven)), "sampler: Shard: rank 2 of 2: want one from 0 to 1"},
		{failure(sampler.Shard(s, 0, 0, sampler.PadToEven)), "sampler: Shard: world size 0: want 1 or more"},
		{failure(sampler.Shard(s, 0, 1, sampler.Mode(3))), "sampler: Shard: Mode(3): want PadToEven, DropToEven or KeepExact"},
		{failure(sampler.Shard(nil, 0, 1, sampler.PadToEven)), "sampler: Shard: the sampler is nil"},
		{failure(sampler.ShardBatches(nil, 0, 1, sampler.PadToEven)), "sampler: ShardBatches: the sampler is nil"},
		{failure(sampler.ShardBatches(sampler.List{}, 1, 1, sampler.PadToEven)), "sampler: ShardBatches: rank 1 of 1: want one from 0 to 0"},
	} {
		if c.err == nil || c.err.Error() != c.want {
			t.Errorf("got error %v, want %s", c.err, c.want)
		}
	}
}

func TestModesHaveNames(t *testing.T) {
	if got := fmt.Sprint(sampler.PadToEven, sampler.DropToEven, sampler.KeepExact); got != "PadToEven DropToEven KeepExact" {
		t.Errorf("got %s", got)
	}
}
