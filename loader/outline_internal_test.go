package loader

import (
	"context"
	"testing"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/loader/internal/plan"
	"github.com/penstock-go/penstock/sampler"
)

func numbered(n int) dataset.Dataset {
	return dataset.Func(n, dataset.Spec{{Name: "x", Dtype: dataset.Int64}}, func(context.Context, int, dataset.Slot) error { return nil })
}

func TestAnOutlineSaysWhatALoaderLoads(t *testing.T) {
	for _, options := range [][]Option{
		{BatchSize(4), Shuffle(true)},
		{BatchSize(4), DropLast(true)},
		{BatchSize(4), Ranks(1, 3, sampler.PadToEven)},
		{BatchSize(4), Ranks(2, 3, sampler.KeepExact)},
		{BatchSampler(sampler.ByLength(make([]int, 43), 1, sampler.BatchSize(4))), Ranks(1, 2, sampler.DropToEven)},
	} {
		l, err := New(numbered(43), options...)
		if err != nil {
			t.Fatal(err)
		}
		o, err := Outline(numbered(43), options...)
		if err != nil {
			t.Fatal(err)
		}
		rest, err := o.Plans.Rest(t.Context(), o.Plans.Position(1))
		if err != nil {
			t.Fatal(err)
		}
		k := 0
		for b, err := range l.Epoch(t.Context(), 1) {
			if err != nil {
				t.Fatal(err)
			}
			k++
			p := b.Position()
			if got, want := p.Draw, min(k*rest.Step, rest.End); got != want {
				t.Errorf("%v: draw %d after batch %d, want %d", o.Text, got, k-1, want)
			}
			after, err := o.Plans.Rest(t.Context(), plan.Position(p))
			if err != nil || after.Batches != rest.Batches-k || after.Batches > 0 && after.Number != k || after.End != rest.End {
				t.Errorf("%v: after batch %d remains %+v, %v", o.Text, k-1, after, err)
			}
		}
		if k != rest.Batches || k == 0 {
			t.Errorf("%v: %d batches, want %d", o.Text, k, rest.Batches)
		}
		if err := l.Close(); err != nil {
			t.Error(err)
		}
	}
	if _, err := Outline(numbered(43), BatchSize(0)); err == nil {
		t.Error("no error for BatchSize(0)")
	}
}

func TestAnOutlineDescribesItself(t *testing.T) {
	for limit, want := range map[int]string{3: ", limit 3", NoLimit: ""} {
		o, err := Outline(numbered(43), BatchSize(4), Shuffle(true), Seed(7), Skip(limit))
		if err != nil {
			t.Fatal(err)
		}
		if want := "batches of 4 of 43 samples; order Shuffle(43 samples, seed 7); seed 7; errors are skipped" + want; o.Text != want {
			t.Errorf("got %q, want %q", o.Text, want)
		}
	}
}
