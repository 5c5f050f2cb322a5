package sampler_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/penstock-go/penstock/sampler"
)

func TestEndlessUntilIsSequential(t *testing.T) {
	order := sampler.Endless().Epoch(3)
	if order.Len() != math.MaxInt || order.At(1<<30) != 1<<30 {
		t.Errorf("Len %d, At(1<<30) %d", order.Len(), order.At(1<<30))
	}
	got, want := order.(sampler.EndlessOrder).Until(7), sampler.Sequential(7).Epoch(3)
	if got != want {
		t.Errorf("got %v, want %v", got, want)
	}
}

// A rank's share has no end, like the whole, and when the end is known it is the share of
// an order with that length.
func TestShardOfEndlessUntilIsAShardOfSequential(t *testing.T) {
	for _, mode := range []sampler.Mode{sampler.PadToEven, sampler.DropToEven, sampler.KeepExact} {
		for n := 13; n < 17; n++ {
			for from := range 13 {
				for rank := range 3 {
					open, err := sampler.Shard(sampler.Endless(), rank, 3, mode)
					if err != nil {
						t.Fatal(err)
					}
					closed, err := sampler.Shard(sampler.Sequential(n), rank, 3, mode)
					if err != nil {
						t.Fatal(err)
					}
					endless := open.Epoch(0).(sampler.Part).From(from)
					got := endless.(sampler.EndlessOrder).Until(n).(sampler.Part)
					want := closed.Epoch(0).(sampler.Part).From(from)
					if g, w := places(got), places(want); g != w {
						t.Errorf("%v, rank %d of 3, %d samples from draw %d: got %s, want %s", mode, rank, n, from, g, w)
					}
					if endless.At(1) != from+rank+3 || endless.Draw(1) != int64(from+rank+3) || endless.Consumed(2) != from+6 {
						t.Errorf("from %d, rank %d: before the end: place 1 is sample %d", from, rank, endless.At(1))
					}
				}
			}
		}
	}
}

func places(p sampler.Part) string {
	text := fmt.Sprint(p.Len(), p.World(), p.Global().Len())
	for k := range p.Len() {
		text += fmt.Sprint(" ", p.At(k), p.Draw(k), p.Consumed(k))
	}
	return text
}
