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

func TestAScheduleSaysWhatALoaderLoads(t *testing.T) {
	for _, options := range [][]loader.Option{
		{loader.BatchSize(4), loader.Shuffle(true)},
		{loader.BatchSize(4), loader.DropLast(true)},
		{loader.BatchSize(4), loader.Ranks(1, 3, sampler.PadToEven)},
		{loader.BatchSize(4), loader.Ranks(2, 3, sampler.KeepExact)},
		{loader.BatchSampler(sampler.ByLength(make([]int, 43), 1, sampler.BatchSize(4))), loader.Ranks(1, 2, sampler.DropToEven)},
	} {
		l := loadertest.New(t, &fake{n: 43}, options...)
		s, err := loader.NewSchedule(&fake{n: 43}, options...)
		if err != nil {
			t.Fatal(err)
		}
		from := l.Position(1)
		rest, err := s.Rest(from)
		if err != nil {
			t.Fatal(err)
		}
		k := 0
		for b, err := range l.Epoch(t.Context(), 1) {
			if err != nil {
				t.Fatal(err)
			}
			k++
			if got, want := b.Position().Draw, min(k*rest.Step, rest.End); got != want {
				t.Errorf("%v: draw %d after batch %d, want %d", s, got, k-1, want)
			}
			p := b.Position()
			after, err := s.Rest(p)
			if err != nil || after.Batches != rest.Batches-k || after.Batches > 0 && after.Number != k || after.End != rest.End {
				t.Errorf("%v: after batch %d remains %+v, %v", s, k-1, after, err)
			}
		}
		if k != rest.Batches || k == 0 {
			t.Errorf("%v: %d batches, want %d", s, k, rest.Batches)
		}
	}
	if _, err := loader.NewSchedule(&fake{n: 43}, loader.BatchSize(0)); err == nil {
		t.Error("no error for wrong options")
	}
}

func TestAScheduleDescribesItself(t *testing.T) {
	s, err := loader.NewSchedule(&fake{n: 43}, loader.BatchSize(4), loader.Shuffle(true), loader.Seed(7), loader.OnError(loader.Skip, 3))
	if err != nil {
		t.Fatal(err)
	}
	if got, want := s.String(), "batches of 4 of 43 samples; order Shuffle(43 samples, seed 7); seed 7; errors are skipped, limit 3"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
