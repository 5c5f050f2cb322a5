package transform_test

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/internal/allocs"
	"github.com/penstock-go/penstock/loader"
	"github.com/penstock-go/penstock/transform"
)

// colours is a dataset of n images of one value, their index, in ten classes.
func colours(n int) dataset.Dataset {
	spec := dataset.Spec{
		{Name: "image", Dtype: dataset.Float32, Shape: dataset.Shape{3, 8, 6}},
		{Name: "label", Dtype: dataset.Int64},
	}
	return dataset.Func(n, spec, func(_ context.Context, i int, dst dataset.Slot) error {
		for k := range dataset.Row[float32](dst, 0) {
			dataset.Row[float32](dst, 0)[k] = float32(i)
		}
		dataset.Set(dst, 1, int64(i%10))
		return nil
	})
}

func TestMixedLabelsFollowMixedImages(t *testing.T) {
	for _, step := range []dataset.BatchStep{
		transform.MixUp(0.8, 10),
		transform.CutMix(0.8, 10),
		transform.MixUp(0.8, 10, transform.Probability(0.5)),
		dataset.BatchChoice(transform.MixUp(0.8, 10), transform.CutMix(0.8, 10)),
	} {
		l, err := loader.New(colours(30), loader.BatchSize(6), loader.Workers(2), loader.Collate(step))
		if err != nil {
			t.Fatal(err)
		}
		unmixed := 0
		for b, err := range l.Epochs(t.Context(), 0, 4) {
			if err != nil {
				t.Fatal(err)
			}
			images, labels := loader.Values[float32](b, "image"), loader.Values[float32](b, "label")
			for row, i := range b.Indices() {
				before := b.Indices()[(row+5)%6]
				mean, share := 0.0, float64(labels[row*10+i%10])
				for _, v := range images[row*144 : (row+1)*144] {
					mean += float64(v) / 144
				}
				if want := float64(i)*share + float64(before)*(1-share); math.Abs(mean-want) > 1e-3 {
					t.Fatalf("%v: image %d has mean %v, want %v with share %v", step, i, mean, want, share)
				}
				if sum := labels[row*10+i%10] + labels[row*10+before%10]; math.Abs(float64(sum)-1) > 1e-6 {
					t.Errorf("%v: shares of image %d have sum %v", step, i, sum)
				}
				if share == 1 {
					unmixed++
				}
			}
		}
		if half, ok := step.(fmt.Stringer); ok && strings.Contains(half.String(), "Probability") && (unmixed < 20 || unmixed > 100) {
			t.Errorf("%d images of 120 are not mixed with probability 0.5", unmixed)
		}
		if err := l.Close(); err != nil {
			t.Error(err)
		}
	}
}

func TestClassOutOfRangeIsAnErrorOfItsBatch(t *testing.T) {
	l, err := loader.New(colours(30), loader.BatchSize(6), loader.Collate(transform.CutMix(1, 9)))
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	for _, err = range l.Epoch(t.Context(), 0) {
	}
	if want := "loader: epoch 0, batch 1: Collate: step 0 (CutMix(1, 9)): transform: CutMix: row 3 has class 9: want 0 to 8"; err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}

func TestMixingChecksItsArgumentsAndFields(t *testing.T) {
	image := dataset.Field{Name: "image", Dtype: dataset.Float32, Shape: dataset.Shape{3, 8, 6}}
	label := dataset.Field{Name: "label", Dtype: dataset.Int64}
	pixels := dataset.Field{Name: "image", Dtype: dataset.Uint8, Shape: dataset.Shape{8, 6, 3}}
	file := dataset.Field{Name: "image", Dtype: dataset.Uint8, Ragged: true}
	line := dataset.Field{Name: "image", Dtype: dataset.Float32, Shape: dataset.Shape{8}}
	text := dataset.Field{Name: "label", Dtype: dataset.Uint8, Ragged: true}
	for _, c := range []struct {
		step dataset.BatchStep
		spec dataset.Spec
		want string // "" if the step is right
	}{
		{transform.MixUp(0.2, 10), dataset.Spec{image, label}, ""},
		{transform.CutMix(0.2, 10), dataset.Spec{label, pixels}, ""},
		{transform.MixUp(0, 10), dataset.Spec{image, label}, "transform: MixUp(0, 10): want an alpha above 0"},
		{transform.MixUp(math.NaN(), 10), dataset.Spec{image, label}, "transform: MixUp(NaN, 10): want an alpha above 0"},
		{transform.CutMix(1, 0), dataset.Spec{image, label}, "transform: CutMix(1, 0): want 1 to 1048576 classes"},
		{transform.MixUp(1, 2, transform.Probability(1.5)), dataset.Spec{image, label}, "transform: MixUp(1, 2, Probability(1.5)): want a Probability from 0 to 1"},
		{transform.MixUp(1, 2, transform.Fields("x", "label")), dataset.Spec{image, label}, `transform: MixUp(1, 2, Fields("x", "label")): want fields "x" and "label", not image float32 (3, 8, 6), label int64 ()`},
		{transform.MixUp(1, 2), dataset.Spec{pixels, label}, "transform: MixUp(1, 2): field image uint8 (8, 6, 3): want floating-point numbers, as ToTensor makes them"},
		{transform.CutMix(1, 2), dataset.Spec{file, label}, "transform: CutMix(1, 2): field image uint8 (n): want images of one size"},
		{transform.CutMix(1, 2), dataset.Spec{line, label}, "transform: CutMix(1, 2): field image float32 (8): want images with height and width"},
		{transform.CutMix(1, 2), dataset.Spec{image, text}, "transform: CutMix(1, 2): field label uint8 (n): want an int64 class, or float32 shares of 2 classes"},
		{dataset.BatchChoice(), nil, "dataset: BatchChoice: no steps"},
		{dataset.BatchChoice(transform.MixUp(1, 2), nil), dataset.Spec{image, label}, "dataset: BatchChoice: step 1 is nil"},
		{dataset.BatchChoice(transform.MixUp(1, 2), transform.CutMix(1, 3)), dataset.Spec{label}, `transform: MixUp(1, 2): want fields "image" and "label", not label int64 ()`},
		{dataset.BatchChoice(transform.MixUp(1, 2), transform.CutMix(1, 3)), dataset.Spec{image, label}, "dataset: BatchChoice: steps leave different fields: image float32 (3, 8, 6), label float32 (2); image float32 (3, 8, 6), label float32 (3)"},
	} {
		_, _, err := c.step.Bind(slices.Clone(c.spec))
		got := ""
		if err != nil {
			got = err.Error()
		}
		if got != c.want {
			t.Errorf("%v: got %q, want %q", c.step, got, c.want)
		}
	}
}

func TestMixingAllocatesNothing(t *testing.T) {
	for _, steps := range [][]dataset.BatchStep{nil, {transform.MixUp(0.2, 10)}, {transform.CutMix(1, 10)}} {
		l, err := loader.New(colours(512), loader.BatchSize(8), loader.Workers(1), loader.Collate(steps...))
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		perBatch := allocs.PerRun(4*64, 3, func() {
			for _, err := range l.Epoch(t.Context(), 0) {
				if err != nil {
					t.Fatal(err)
				}
			}
		}) / 64
		if perBatch > 4 {
			t.Errorf("%v: %.1f allocations per batch", steps, perBatch)
		}
	}
}

// BenchmarkMixing measures a batch of 64 images of ImageNet's size.
func BenchmarkMixing(b *testing.B) {
	spec := dataset.Spec{{Name: "image", Dtype: dataset.Float32, Shape: dataset.Shape{3, 224, 224}}, {Name: "label", Dtype: dataset.Int64}}
	ds := dataset.Func(64, spec, func(context.Context, int, dataset.Slot) error { return nil })
	for name, step := range map[string]dataset.BatchStep{"MixUp": transform.MixUp(0.2, 1000), "CutMix": transform.CutMix(1, 1000)} {
		b.Run(name, func(b *testing.B) {
			l, err := loader.New(ds, loader.BatchSize(64), loader.Workers(0), loader.Collate(step))
			if err != nil {
				b.Fatal(err)
			}
			defer l.Close()
			epoch := 0
			for b.Loop() {
				for _, err := range l.Epoch(b.Context(), epoch) {
					if err != nil {
						b.Fatal(err)
					}
				}
				epoch++
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(64*epoch)/1000, "µs/image")
		})
	}
}
