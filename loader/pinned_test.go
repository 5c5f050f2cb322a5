package loader_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"testing"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/internal/loadertest"
	"github.com/penstock-go/penstock/loader"
	"github.com/penstock-go/penstock/sampler"
)

// The tests of this file pin what [loader.Position] promises across versions. They
// may get more cases, but none may change.

// drawn is a dataset of n samples: the index and a random number.
func drawn(n int) dataset.Dataset {
	spec := dataset.Spec{{Name: "x", Dtype: dataset.Int64}, {Name: "random", Dtype: dataset.Uint64}}
	return dataset.Func(n, spec, func(_ context.Context, i int, dst dataset.Slot) error {
		dataset.Set(dst, 0, int64(i))
		dataset.Set(dst, 1, dst.Rand().Uint64())
		return nil
	})
}

// TestPositionsOfReleasedVersionsGoOn resumes at positions that were written before.
func TestPositionsOfReleasedVersionsGoOn(t *testing.T) {
	for _, c := range []struct {
		position string
		options  []loader.Option
		want     []string
	}{
		{
			`{"version":1,"epoch":1,"draw":6,"seed":3,"samples":10,"order":"Shuffle(10 samples, seed 3)"}`,
			[]loader.Option{loader.Shuffle(true), loader.Seed(3), loader.BatchSize(2)},
			[]string{"3: [4 2] [b939e6679ca1463a cd95213e4741a324]", "4: [1 0] [e1c73aac129539c5 696bf0c92e1c810c]"},
		},
		{
			`{"version":1,"epoch":0,"draw":3,"seed":0,"samples":12,"order":"Sequential(12 samples)","ahead":[1],"step":3}`,
			[]loader.Option{loader.BatchSize(3)},
			[]string{
				"1: [3 4 5] [0c627bafab6a4e14 4b7b82a2ddc4121d 1067b5421998bd8d]",
				"3: [9 10 11] [ca4aee18b311c52d 9f3fe122ae8ff577 e8a4e141e2886057]",
			},
		},
		{
			`{"version":1,"epoch":2,"draw":4,"seed":1,"samples":6,"order":"ByLength(6 samples by length f5a83d1a5ef9016e, batches of 1, seed 9)"}`,
			[]loader.Option{loader.BatchSampler(sampler.ByLength([]int{4, 9, 1, 1, 7, 2}, 9)), loader.Seed(1)},
			[]string{"4: [1] [5364cde01b717c7d]", "5: [5] [bcfeb361d20d4803]"},
		},
		{
			`{"version":1,"epoch":0,"draw":4,"seed":0,"samples":6,"order":"probe(epoch 0, 6 samples 5cb1d8351174b1e3)"}`,
			[]loader.Option{loader.Sampler(fixedOrder{3, 1, 2, 0, 5, 4})},
			[]string{"4: [5] [4b7b82a2ddc4121d]", "5: [4] [1067b5421998bd8d]"},
		},
	} {
		var p loader.Position
		if err := json.Unmarshal([]byte(c.position), &p); err != nil {
			t.Fatal(err)
		}
		l := loadertest.New(t, drawn(p.Samples), append(c.options, loader.Workers(2))...)
		var got []string
		for b, err := range l.From(t.Context(), p, p.Epoch+1) {
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, fmt.Sprintf("%d: %d %016x", b.Number(), b.Indices(), loader.Values[uint64](b, "random")))
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: got %q, want %q", c.position, got, c.want)
		}
	}
}

// TestPositionsAreWrittenAsEver pins the JSON of positions.
func TestPositionsAreWrittenAsEver(t *testing.T) {
	l := loadertest.New(t, drawn(10), loader.Workers(1), loader.BatchSize(4), loader.Shuffle(true), loader.Seed(3))
	var got []string
	for b, err := range l.Epochs(t.Context(), 1, 2) {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, text(t, b.Position()))
	}
	want := []string{
		`{"version":1,"epoch":1,"draw":4,"seed":3,"samples":10,"order":"Shuffle(10 samples, seed 3)"}`,
		`{"version":1,"epoch":1,"draw":8,"seed":3,"samples":10,"order":"Shuffle(10 samples, seed 3)"}`,
		`{"version":1,"epoch":1,"draw":10,"seed":3,"samples":10,"order":"Shuffle(10 samples, seed 3)"}`,
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}
