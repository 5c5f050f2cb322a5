package loader_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/penstock-go/penstock/internal/loadertest"
	"github.com/penstock-go/penstock/loader"
	"github.com/penstock-go/penstock/sampler"
)

func TestRanksAreThoseOfShard(t *testing.T) {
	const n = 23
	order := sampler.Shuffle(n, 5)
	for rank := range 3 {
		share, err := sampler.Shard(order, rank, 3, sampler.KeepExact)
		if err != nil {
			t.Fatal(err)
		}
		batches, err := sampler.ShardBatches(sampler.Fixed(order, sampler.BatchSize(2)), rank, 3, sampler.DropToEven)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range []struct{ got, want []loader.Option }{
			{[]loader.Option{loader.Shuffle(true), loader.Seed(5), loader.BatchSize(2), loader.Ranks(rank, 3, sampler.KeepExact)},
				[]loader.Option{loader.Sampler(share), loader.Seed(5), loader.BatchSize(2)}},
			{[]loader.Option{loader.BatchSampler(sampler.Fixed(order, sampler.BatchSize(2))), loader.Ranks(rank, 3, sampler.DropToEven)},
				[]loader.Option{loader.BatchSampler(batches)}},
		} {
			got, want := loadertest.New(t, &fake{n: n}, c.got...), loadertest.New(t, &fake{n: n}, c.want...)
			a, b := collect(t, got, 0, 2), collect(t, want, 0, 2)
			if !slices.EqualFunc(a, b, slices.Equal) {
				t.Errorf("rank %d: got %v, want %v", rank, a, b)
			}
		}
	}
	if _, err := loader.New(&fake{n: n}, loader.Ranks(3, 3, sampler.PadToEven)); err == nil || !strings.Contains(err.Error(), "Ranks(3, 3, PadToEven)") {
		t.Errorf("got %v", err)
	}
}
