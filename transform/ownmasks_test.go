package transform_test

import (
	"context"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/internal/datatest"
	"github.com/penstock-go/penstock/loader"
	"github.com/penstock-go/penstock/transform"
)

// numbered is a dataset of images of 2×4 pixels whose mask counts the pixels, with a plane and a
// box for each half.
func numbered(n int) dataset.Dataset {
	spec := dataset.Spec{
		{Name: "image", Dtype: dataset.Uint8, Shape: dataset.Shape{2, 4, 3}},
		{Name: "mask", Dtype: dataset.Uint8, Shape: dataset.Shape{2, 4}},
		{Name: "planes", Dtype: dataset.Uint8, Ragged: true},
		{Name: "boxes", Dtype: dataset.Float32, Shape: dataset.Shape{4}, Ragged: true},
	}
	return dataset.Func(n, spec, func(_ context.Context, _ int, dst dataset.Slot) error {
		for k := range 8 {
			dataset.Row[uint8](dst, 1)[k] = uint8(k)
			copy(dataset.Row[uint8](dst, 0)[3*k:], []uint8{uint8(k), uint8(k), uint8(k)})
		}
		copy(dataset.Grow[uint8](dst, 2, 16), []uint8{1, 2, 0, 0, 3, 4, 0, 0, 0, 0, 5, 6, 0, 0, 7, 8})
		copy(dataset.Grow[float32](dst, 3, 2), []float32{0, 0, 2, 2, 2, 0, 4, 2})
		return nil
	})
}

var numberedMasks = []transform.Item{
	transform.Mask("mask", transform.Fill(90), transform.Dtype(dataset.Int64)), transform.Boxes("boxes", dataset.BoxesXYXY), transform.Masks("planes", transform.Fill(80)),
}

func withMasks(steps ...transform.Item) []transform.Item {
	return slices.Concat(numberedMasks, steps)
}

// TestOwnStepSeesAndChangesMasks has geometry before and after own steps, and a warp, which works
// on masks in another way.
func TestOwnStepSeesAndChangesMasks(t *testing.T) {
	var saw [][]int64
	add := func(n int64) transform.Step {
		return transform.Apply(step(func(s *transform.Sample, _ *rand.Rand) error {
			mask := dataset.Row[int64](s.Fields, 0)
			saw = append(saw, slices.Clone(mask))
			for k := range mask {
				mask[k] += n
			}
			return nil
		}), "mask")
	}
	x, err := transform.Images(numbered(1), withMasks(transform.Crop(0, -1, 2, 3), transform.RandomHorizontalFlip(1), add(100_000),
		transform.RandomRotation(180, 180), add(7), transform.Pad([4]int{0, 0, 1, 0}))...)
	if err != nil {
		t.Fatal(err)
	}
	s := datatest.Sample(t, x, 0)
	if want := [][]int64{{1, 0, 90, 5, 4, 90}, {100090, 100004, 100005, 100090, 100000, 100001}}; !reflect.DeepEqual(saw, want) {
		t.Errorf("the steps saw %v, want %v", saw, want)
	}
	if got, want := s["mask"].Data(), []int64{100097, 100011, 100012, 90, 100097, 100007, 100008, 90}; !reflect.DeepEqual(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	if got, want := s["planes"].Data(), []uint8{80, 3, 4, 80, 80, 1, 2, 80, 80, 0, 0, 80, 80, 0, 0, 80}; !reflect.DeepEqual(got, want) {
		t.Errorf("planes %v, want %v", got, want)
	}
	if plan := x.String(); !strings.Contains(plan, `augment   step of "mask"`) {
		t.Errorf("the plan does not show the step:\n%s", plan)
	}
}

// TestOwnStepSeesThePlanesOfTheBoxesThatAreLeft removes the first box and later the second.
func TestOwnStepSeesThePlanesOfTheBoxesThatAreLeft(t *testing.T) {
	var saw [][]uint8
	see := transform.Apply(step(func(s *transform.Sample, _ *rand.Rand) error {
		saw = append(saw, slices.Clone(dataset.Row[uint8](s.Fields, 0)))
		if planes := dataset.Row[uint8](s.Fields, 0); len(planes) > 0 {
			planes[0] = 33
		}
		return nil
	}), "planes")
	x, err := transform.Images(numbered(1), withMasks(transform.Crop(0, 1, 2, 3), see, transform.Crop(0, 1, 2, 2), transform.SanitizeBoundingBoxes(), see,
		transform.RandomHorizontalFlip(1), transform.Crop(0, 0, 2, 1))...)
	if err != nil {
		t.Fatal(err)
	}
	s := datatest.Sample(t, x, 0)
	if want := [][]uint8{{2, 0, 0, 4, 0, 0, 0, 5, 6, 0, 7, 8}, {5, 6, 7, 8}}; !reflect.DeepEqual(saw, want) {
		t.Errorf("the steps saw %v, want %v", saw, want)
	}
	if got, want := s["planes"].Data(), []uint8{6, 8}; !reflect.DeepEqual(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	if got, want := s["mask"].Data(), []int64{3, 7}; !reflect.DeepEqual(got, want) {
		t.Errorf("mask %v, want %v", got, want)
	}
}

// raise adds a random number to the mask, which is the same for all of its pixels.
func raise(field string) transform.Step {
	return transform.Apply(step(func(s *transform.Sample, r *rand.Rand) error {
		n := 1 + r.Int64N(100)
		for k := range dataset.Row[int64](s.Fields, 0) {
			dataset.Row[int64](s.Fields, 0)[k] += n
		}
		return nil
	}), field)
}

func TestOwnStepsThatChangeMasksAreTheSameForAnyNumberOfWorkers(t *testing.T) {
	list := withMasks(transform.RandomApply(0.5, raise("mask")), transform.RandomHorizontalFlip(0.5), transform.RandomApply(0.5, transform.RandomRotation(-90, 90)),
		raise("mask"), transform.RandomCrop(2), transform.SanitizeBoundingBoxes())
	x, err := transform.Images(numbered(40), list...)
	if err != nil {
		t.Fatal(err)
	}
	sameForAnyWorkers(t, x, nil, loader.BatchSize(3), loader.Poison(true))
	allocatesNothing(t, x)
	deep, err := transform.Images(numbered(40), append([]transform.Item{transform.Depth16(3)}, list...)...)
	if err != nil {
		t.Fatal(err)
	}
	for i := range 40 {
		want, got := datatest.Sample(t, x, i), datatest.Sample(t, deep, i)
		for _, field := range []string{"mask", "planes", "boxes"} {
			if !reflect.DeepEqual(got[field].Data(), want[field].Data()) {
				t.Errorf("sample %d: %s with Depth16: got %v, want %v", i, field, got[field].Data(), want[field].Data())
			}
		}
	}
}

func TestMasksThatOwnStepsSpoilAreErrors(t *testing.T) {
	own := func(f step, fields ...string) []transform.Item { return withMasks(transform.Apply(f, fields...)) }
	for want, list := range map[string][]transform.Item{
		`step of "mask": mask "mask": numbers from -1 to 7, want 0 to 16777215`: own(func(s *transform.Sample, _ *rand.Rand) error {
			dataset.Row[int64](s.Fields, 0)[5] = -1
			return nil
		}, "mask"),
		`step of "mask": mask "mask": numbers from 0 to 16777216, want 0 to 16777215`: own(func(s *transform.Sample, _ *rand.Rand) error {
			dataset.Row[int64](s.Fields, 0)[0] = 1 << 24
			dataset.Row[int64](s.Fields, 0)[1] = 0
			return nil
		}, "mask"),
		`step of "planes": changed field "planes" from 16 to 15 bytes: want as many as before`: own(func(s *transform.Sample, _ *rand.Rand) error {
			dataset.Grow[uint8](s.Fields, 0, 15)
			return nil
		}, "planes"),
	} {
		x, err := transform.Images(numbered(1), list...)
		if err == nil {
			_, err = dataset.At(t.Context(), x, 0)
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got  %v\nwant %s", err, want)
		}
	}
	if got := recovered(func() { (&transform.Planes{Channels: 3}).Plane(3) }); got != "transform: Plane(3): want 0 to 2: the image has 3 channels" {
		t.Errorf("got %v", got)
	}
}

func recovered(call func()) (value any) {
	defer func() { value = recover() }()
	call()
	return nil
}
