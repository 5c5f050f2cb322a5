package sampler_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/penstock-go/penstock/sampler"
)

// ranks gives the parts of all ranks.
func ranks(s sampler.Sampler, world int, mode sampler.Mode, epoch int) []sampler.Part {
	parts := make([]sampler.Part, world)
	for rank := range parts {
		parts[rank] = must(sampler.Shard(s, rank, world, mode)).Epoch(epoch).(sampler.Part)
	}
	return parts
}

func TestDistributedSampler(t *testing.T) {
	torch := sampler.Torch(10, 0)
	for _, c := range []struct {
		of    sampler.Sampler
		world int
		mode  sampler.Mode
		epoch int
		want  string
	}{
		{torch, 3, sampler.PadToEven, 0, "[[4 5 0 2] [1 3 8 4] [7 9 6 1]]"},
		{torch, 3, sampler.PadToEven, 1, "[[5 2 9 4] [6 0 3 5] [1 8 7 6]]"},
		{torch, 3, sampler.DropToEven, 0, "[[4 5 0] [1 3 8] [7 9 6]]"},
		{torch, 3, sampler.KeepExact, 0, "[[4 5 0 2] [1 3 8] [7 9 6]]"},
		{torch, 1, sampler.PadToEven, 0, "[[4 1 7 5 3 9 0 8 6 2]]"},
		{sampler.Sequential(2), 5, sampler.PadToEven, 0, "[[0] [1] [0] [1] [0]]"},
		{sampler.Sequential(2), 5, sampler.DropToEven, 0, "[[] [] [] [] []]"},
		{sampler.Sequential(2), 5, sampler.KeepExact, 0, "[[0] [1] [] [] []]"},
		{sampler.Sequential(6), 3, sampler.PadToEven, 0, "[[0 3] [1 4] [2 5]]"},
		{sampler.Sequential(6), 3, sampler.DropToEven, 0, "[[0 3] [1 4] [2 5]]"},
		{sampler.Sequential(0), 2, sampler.PadToEven, 0, "[[] []]"},
		{sampler.Sequential(0), 2, sampler.KeepExact, 0, "[[] []]"},
	} {
		var got [][]int
		for _, p := range ranks(c.of, c.world, c.mode, c.epoch) {
			got = append(got, indices(p))
		}
		if s := fmt.Sprint(got); s != c.want {
			t.Errorf("%d samples, world size %d, %v, epoch %d: got %s, want %s",
				c.of.Epoch(0).Len(), c.world, c.mode, c.epoch, s, c.want)
		}
	}
}

// After ranks have consumed any number of draws each, any number of ranks takes
// exactly the rest.
func TestShardsContinueOnAnotherWorldSize(t *testing.T) {
	for _, n := range []int{1, 2, 10, 23, 24} {
		global := sampler.Shuffle(n, 6)
		order := indices(global.Epoch(3))
		for _, before := range []int{1, 4} {
			for taken := range (n+before-1)/before + 1 {
				consumed := ranks(global, before, sampler.KeepExact, 3)[0].Consumed(taken)
				if want := min(taken*before, n); consumed != want {
					t.Fatalf("n %d: %d ranks of %d draws consumed %d, want %d", n, before, taken, consumed, want)
				}
				for _, after := range []int{1, 3, 4, 5, 30} {
					for _, mode := range []sampler.Mode{sampler.PadToEven, sampler.DropToEven, sampler.KeepExact} {
						checkRest(t, ranks(global, after, mode, 3), order, consumed, mode)
					}
				}
			}
		}
	}
}

// checkRest checks the parts of what remains of order after consumed draws.
func checkRest(t *testing.T, parts []sampler.Part, order []int, consumed int, mode sampler.Mode) {
	t.Helper()
	n, world := len(order), len(parts)
	left := n - consumed
	var draws []int
	for _, p := range parts {
		rest := p.From(consumed)
		if rest.Global().Len() != n || rest.World() != world {
			t.Fatalf("From gives a part of %d ranks' order of %d", rest.World(), rest.Global().Len())
		}
		per := map[sampler.Mode]int{sampler.PadToEven: (left + world - 1) / world, sampler.DropToEven: left / world, sampler.KeepExact: rest.Len()}[mode]
		if rest.Len() != per {
			t.Errorf("%v: a rank of %d gets %d of %d, want %d", mode, world, rest.Len(), left, per)
		}
		for k := range rest.Len() {
			d := int(rest.Draw(k))
			draws = append(draws, d)
			i := d
			if d >= n {
				i = (d - n) % n // the padding, from the head
			}
			if rest.At(k) != order[i] {
				t.Errorf("%v: draw %d is sample %d, want %d", mode, d, rest.At(k), order[i])
			}
			if got, want := rest.Consumed(k+1), min(consumed+(k+1)*world, n); got != want {
				t.Errorf("%v: %d taken after %d: %d consumed, want %d", mode, k+1, consumed, got, want)
			}
		}
	}
	total := map[sampler.Mode]int{sampler.PadToEven: (left + world - 1) / world * world, sampler.DropToEven: left / world * world, sampler.KeepExact: left}[mode]
	slices.Sort(draws)
	if len(draws) != total {
		t.Fatalf("%v: %d ranks draw %d of %d, want %d", mode, world, len(draws), left, total)
	}
	for i, d := range draws {
		if d != consumed+i {
			t.Fatalf("%v: %d ranks draw %v after %d of %d", mode, world, draws, consumed, n)
		}
	}
}

func TestShardsContinueTwice(t *testing.T) {
	part := must(sampler.Shard(sampler.Sequential(20), 1, 3, sampler.KeepExact)).Epoch(0).(sampler.Part)
	again := part.From(5).From(11) // draws count from the global order's beginning
	if got, want := indices(again), []int{12, 15, 18}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	if got := part.From(21).Len(); got != 0 {
		t.Errorf("%d samples remain after the end", got)
	}
}

// TestConsumedCountsRanksThatHaveMore: after more places than a rank has, the others may have one more.
func TestConsumedCountsRanksThatHaveMore(t *testing.T) {
	for mode, want := range map[sampler.Mode]int{sampler.PadToEven: 11, sampler.DropToEven: 9, sampler.KeepExact: 11} {
		for rank := range 3 {
			s, err := sampler.Shard(sampler.Sequential(11), rank, 3, mode)
			if err != nil {
				t.Fatal(err)
			}
			if got := s.Epoch(0).(sampler.Part).Consumed(4); got != want {
				t.Errorf("%v, rank %d: %d of 11 draws after 4 of every rank, want %d", mode, rank, got, want)
			}
		}
	}
}
