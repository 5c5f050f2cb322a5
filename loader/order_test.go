package loader_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/internal/loadertest"
	"github.com/penstock-go/penstock/loader"
	"github.com/penstock-go/penstock/sampler"
)

// augmented is a dataset whose samples depend on their random numbers: a fixed
// field, and a ragged one whose length is random too.
func augmented(n int) *fake {
	return &fake{
		n: n,
		spec: dataset.Spec{
			{Name: "x", Dtype: dataset.Int64},
			{Name: "noise", Dtype: dataset.Float32, Shape: dataset.Shape{2, 3}},
			{Name: "words", Dtype: dataset.Uint16, Ragged: true},
		},
		place: func(_ context.Context, i int, dst dataset.Slot) error {
			dataset.Set(dst, 0, int64(i))
			for k := range dataset.Row[float32](dst, 1) {
				dataset.Row[float32](dst, 1)[k] = dst.Rand().Float32()
			}
			words := dataset.Grow[uint16](dst, 2, dst.Rand().IntN(9))
			for k := range words {
				words[k] = uint16(dst.Rand().Uint32())
			}
			return nil
		},
	}
}

// content is everything that a batch holds, as text.
func content(b *loader.Batch) string {
	return fmt.Sprint(b.Epoch(), b.Number(), b.Indices(), loader.Values[int64](b, "x"), loader.Values[float32](b, "noise"),
		loader.Values[uint16](b, "words"), b.Offsets("words"), loader.Padded(b, "words", uint16(7)).Data())
}

func contents(t *testing.T, l *loader.Loader, from, to int) []string {
	t.Helper()
	var all []string
	for b, err := range l.Epochs(t.Context(), from, to) {
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, content(b))
	}
	return all
}

func TestSameBatchesForAnyWorkersPrefetchAndHelp(t *testing.T) {
	const n, epochs = 103, 3
	options := func(more ...loader.Option) []loader.Option {
		return append(more, loader.BatchSize(8), loader.Shuffle(true), loader.Seed(5))
	}
	want := contents(t, loadertest.New(t, augmented(n), options(loader.Workers(0))...), 0, epochs)
	if len(want) != epochs*13 {
		t.Fatalf("%d batches, want %d", len(want), epochs*13)
	}
	if want[0][2:] == want[13][2:] {
		t.Fatal("two epochs begin with the same batch")
	}
	for _, workers := range []int{1, 2, 9} {
		for _, prefetch := range []int{1, 4} {
			for _, help := range []bool{true, false} {
				t.Run(fmt.Sprint("workers=", workers, ",prefetch=", prefetch, ",help=", help), func(t *testing.T) {
					l := loadertest.New(t, augmented(n), options(loader.Workers(workers), loader.InFlight(prefetch*workers+1), loader.Help(help))...)
					for range 5 {
						if got := contents(t, l, 0, epochs); !slices.Equal(got, want) {
							t.Fatal("the batches differ from those without workers")
						}
					}
				})
			}
		}
	}
	t.Run("inflight=1", func(t *testing.T) {
		l := loadertest.New(t, augmented(n), options(loader.Workers(4), loader.InFlight(1))...)
		if got := contents(t, l, 0, epochs); !slices.Equal(got, want) {
			t.Fatal("the batches differ from those without workers")
		}
	})
	t.Run("unordered", func(t *testing.T) {
		l := loadertest.New(t, augmented(n), options(loader.Workers(4), loader.Unordered(true))...)
		got := contents(t, l, 0, epochs)
		slices.Sort(got)
		sorted := slices.Sorted(slices.Values(want))
		if !slices.Equal(got, sorted) {
			t.Fatal("unordered delivery changed the batches")
		}
	})
}

func TestEpochsEqualsEpochAfterEpoch(t *testing.T) {
	l := loadertest.New(t, augmented(50), loader.Workers(3), loader.BatchSize(8), loader.Shuffle(true))
	want := contents(t, l, 0, 4)
	var got []string
	for epoch := range 4 {
		got = append(got, contents(t, l, epoch, epoch+1)...)
	}
	if !slices.Equal(got, want) {
		t.Error("epochs in one loop differ from epochs in loops of their own")
	}
}

// A slowSampler takes a second to plan an epoch.
type slowSampler struct{ fixedOrder }

func (s slowSampler) Epoch(epoch int) sampler.Order {
	time.Sleep(time.Second)
	return s.fixedOrder
}

func TestNextEpochIsPlannedInTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ds := slow(8, always(time.Second))
		l := loadertest.New(t, ds, loader.Workers(1), loader.BatchSize(2), loader.Sampler(slowSampler{fixedOrder{0, 1, 2, 3, 4, 5, 6, 7}}))
		begun := time.Now()
		collect(t, l, 0, 3)
		if took := time.Since(begun); took != 25*time.Second {
			t.Errorf("took %v, want 1s of planning and 24s of loading", took)
		}
	})
}

func TestTensorsLieOverTheSlab(t *testing.T) {
	l := loadertest.New(t, augmented(10), loader.Workers(2), loader.BatchSize(4))
	for b, err := range l.Epoch(t.Context(), 0) {
		if err != nil {
			t.Fatal(err)
		}
		x := b.Tensor("noise")
		if want := (dataset.Shape{b.Len(), 2, 3}); !slices.Equal(x.Shape(), want) {
			t.Errorf("shape %v, want %v", x.Shape(), want)
		}
		values := loader.Values[float32](b, "noise")
		if &dataset.ValuesOf[float32](x)[0] != &values[0] || len(values) != b.Len()*6 {
			t.Error("tensor and values are not the same memory")
		}
		if x := b.Tensor("x"); !slices.Equal(x.Shape(), dataset.Shape{b.Len()}) {
			t.Errorf("labels have shape %v", x.Shape())
		}
		if w := b.Tensor("words"); w.Shape()[0] != b.Offsets("words")[b.Len()] {
			t.Errorf("ragged values have shape %v, offsets end at %d", w.Shape(), b.Offsets("words")[b.Len()])
		}
	}
}

func TestPaddedViewHoldsRowsAndPadding(t *testing.T) {
	lengths := []int{2, 0, 3}
	ds := &fake{
		n:    3,
		spec: dataset.Spec{{Name: "points", Dtype: dataset.Int32, Shape: dataset.Shape{2}, Ragged: true}},
		place: func(_ context.Context, i int, dst dataset.Slot) error {
			points := dataset.Grow[int32](dst, 0, lengths[i])
			for k := range lengths[i] {
				points[2*k], points[2*k+1] = int32(10*i+k), -1
			}
			return nil
		},
	}
	l := loadertest.New(t, ds, loader.Workers(1), loader.BatchSize(3))
	for b, err := range l.Epoch(t.Context(), 0) {
		if err != nil {
			t.Fatal(err)
		}
		p := loader.Padded(b, "points", int32(9))
		want := []int32{0, -1, 1, -1, 9, 9, 9, 9, 9, 9, 9, 9, 20, -1, 21, -1, 22, -1}
		if !slices.Equal(p.Shape(), dataset.Shape{3, 3, 2}) || !slices.Equal(dataset.ValuesOf[int32](p), want) {
			t.Errorf("got shape %v, %v", p.Shape(), p.Data())
		}
		if got := b.Offsets("points"); !slices.Equal(got, []int{0, 2, 2, 5}) {
			t.Errorf("offsets %v", got)
		}
	}
}
