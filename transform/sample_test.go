package transform_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/internal/allocs"
	"github.com/penstock-go/penstock/transform"
)

// boxedImage is a dataset of one grey image of 4×6 pixels, with a class and two boxes.
func boxedImage() dataset.Dataset {
	spec := dataset.Spec{
		{Name: "image", Dtype: dataset.Uint8, Shape: dataset.Shape{4, 6, 3}},
		{Name: "label", Dtype: dataset.Int64},
		{Name: "boxes", Dtype: dataset.Float32, Shape: dataset.Shape{4}, Ragged: true},
		{Name: "mask", Dtype: dataset.Uint8, Shape: dataset.Shape{4, 6}},
	}
	return dataset.Func(1, spec, func(_ context.Context, i int, dst dataset.Slot) error {
		for k := range dataset.Row[uint8](dst, 0) {
			dataset.Row[uint8](dst, 0)[k] = uint8(k / 3)
		}
		dataset.Set(dst, 1, int64(40))
		copy(dataset.Grow[float32](dst, 2, 2), []float32{1, 1, 3, 3, 2, 0, 5, 2})
		clear(dataset.Row[uint8](dst, 3))
		return nil
	})
}

// A step is a SampleTransform made of a function.
type step func(s *transform.Sample, r *rand.Rand) error

func (f step) String() string { return "step" }

func (f step) ApplySample(s *transform.Sample, r *rand.Rand) error { return f(s, r) }

func TestOwnStepSeesFieldsAsEarlierStepsLeaveThem(t *testing.T) {
	paint := step(func(s *transform.Sample, _ *rand.Rand) error {
		label, boxes := dataset.Row[int64](s.Fields, 1), dataset.Row[float32](s.Fields, 0)
		s.Image.Pix[4*(int(boxes[1])*s.Image.Width+int(boxes[0]))] = uint8(label[0])
		label[0]++
		return nil
	})
	images, err := transform.Images(boxedImage(), transform.Boxes("boxes", dataset.BoxesXYXY), transform.Crop(1, 0, 2, 6), transform.RandomHorizontalFlip(1),
		transform.Apply(paint, "boxes", "label"), transform.RandomHorizontalFlip(1))
	if err != nil {
		t.Fatal(err)
	}
	s, err := dataset.At(t.Context(), images, 0)
	if err != nil {
		t.Fatal(err)
	}
	// The box is at column 3 of the flipped image, which is column 2 after the second flip.
	var reds []uint8
	for k, v := range dataset.ValuesOf[uint8](s["image"]) {
		if k%3 == 0 {
			reds = append(reds, v)
		}
	}
	if want := []uint8{6, 7, 40, 9, 10, 11, 12, 13, 14, 15, 16, 17}; !reflect.DeepEqual(reds, want) {
		t.Errorf("got %v, want %v", reds, want)
	}
	if got := dataset.ValuesOf[int64](s["label"])[0]; got != 41 {
		t.Errorf("label %v, want 41", got)
	}
}

func TestOwnStepsAreAmongThoseOfViews(t *testing.T) {
	paint := step(func(s *transform.Sample, _ *rand.Rand) error {
		s.Image.Pix[0] = uint8(dataset.Row[int64](s.Fields, 0)[0])
		return nil
	})
	images, err := transform.Images(boxedImage(), transform.Views(2, transform.RandomHorizontalFlip(1), transform.Apply(paint, "label"), transform.Crop(0, 0, 1, 2)))
	if err != nil {
		t.Fatal(err)
	}
	s, err := dataset.At(t.Context(), images, 0)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := s["image"].Data(), []uint8{40, 5, 5, 4, 4, 4, 40, 5, 5, 4, 4, 4}; !reflect.DeepEqual(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	for want, inner := range map[string]transform.Item{
		`transform: Views(2, …): step of "x": the dataset has no field "x"`: transform.Apply(paint, "x"),
		`Views(2, …): has no option MaxPixels`:                              transform.MaxPixels(9),
	} {
		if _, err := transform.Images(boxedImage(), transform.Views(2, inner, transform.Crop(0, 0, 1, 2))); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}

func TestWrongUseOfOwnStepsIsAnError(t *testing.T) {
	bad := errors.New("bad sample")
	none := step(func(*transform.Sample, *rand.Rand) error { return nil })
	boxes := transform.Boxes("boxes", dataset.BoxesXYXY)
	for _, c := range []struct {
		steps []transform.Item
		want  string
	}{
		{[]transform.Item{transform.Apply(nil)}, "transform: Apply(nil): want a Transform or a SampleTransform"},
		{[]transform.Item{transform.Apply(none, "x")}, `transform: step of "x": the dataset has no field "x", only image uint8 (4, 6, 3), label int64 (), boxes float32 (n, 4), mask uint8 (4, 6)`},
		{[]transform.Item{transform.Apply(none, "image")}, `transform: step of "image": that is the field of the images`},
		{[]transform.Item{transform.ToTensor(), transform.Apply(none)}, "transform: step: must come before ToTensor and PILToTensor"},
		{[]transform.Item{transform.Apply(bytewise(func(*transform.Image) {}), "label")}, `transform: transform_test.bytewise of "label": only a SampleTransform has fields`},
		{[]transform.Item{transform.Apply(step(func(s *transform.Sample, _ *rand.Rand) error {
			*s.Image = transform.Image{Pix: make([]uint8, 24), Width: 3, Height: 2}
			return nil
		}))}, "transform: step: made 2×3 pixels (height×width) in 24 bytes, want 4×6 pixels (height×width) in 96 bytes: a step of your own keeps the size"},
		{[]transform.Item{transform.Apply(step(func(s *transform.Sample, _ *rand.Rand) error {
			s.Image = &transform.Image{}
			return nil
		}))}, "transform: step: set Image or Planes of the Sample: want its pixels changed"},
		{[]transform.Item{boxes, transform.Apply(step(func(s *transform.Sample, _ *rand.Rand) error {
			dataset.Grow[float32](s.Fields, 0, 3)
			return nil
		}), "boxes")}, `transform: step of "boxes": changed field "boxes" from 32 to 48 bytes: want as many as before`},
		{[]transform.Item{transform.Apply(step(func(*transform.Sample, *rand.Rand) error { return bad }))}, "transform: step: bad sample"},
	} {
		images, err := transform.Images(boxedImage(), c.steps...)
		if err == nil {
			r, openErr := images.Open()
			if openErr != nil {
				t.Fatal(openErr)
			}
			err = r.Place(t.Context(), 0, dataset.NewSlot(images.Spec()...))
		}
		if err == nil || err.Error() != c.want {
			t.Errorf("got  %v\nwant %s", err, c.want)
		}
	}
	if _, err := transform.Compile(transform.Resize([2]int{2, 2}), transform.Apply(none, "label")); err == nil || err.Error() != `transform: step of "label": a single image has no other fields` {
		t.Errorf("got %v", err)
	}
}

func TestOwnStepsAllocateNothing(t *testing.T) {
	touch := step(func(s *transform.Sample, r *rand.Rand) error {
		s.Image.Pix[0] = uint8(dataset.Row[int64](s.Fields, 0)[0]) + uint8(r.IntN(2))
		return nil
	})
	images, err := transform.Images(boxedImage(), transform.Apply(touch, "label"))
	if err != nil {
		t.Fatal(err)
	}
	r, err := images.Open()
	if err != nil {
		t.Fatal(err)
	}
	slot := dataset.NewSlot(images.Spec()...)
	if n := allocs.PerRun(0, 100, func() {
		if err := r.Place(t.Context(), 0, slot); err != nil {
			t.Fatal(err)
		}
	}); n > 0 {
		t.Errorf("%v allocations", n)
	}
}

// TestOwnStepsAreAmongThoseOfRandomSteps draws steps that see fields.
func TestOwnStepsAreAmongThoseOfRandomSteps(t *testing.T) {
	add := func(n int64) transform.Step {
		return transform.Apply(step(func(s *transform.Sample, _ *rand.Rand) error {
			label := dataset.Row[int64](s.Fields, 0)
			label[0] = 10*label[0] + n
			return nil
		}), "label")
	}
	images, err := transform.Images(boxedImage(),
		transform.RandomApply(1, transform.RandomOrder(add(1), add(2))), transform.RandomApply(0, add(3)),
		transform.RandomChoice(transform.Crop(0, 0, 2, 3), transform.Compose(transform.Crop(0, 0, 2, 3), add(4)), transform.P(0, 1)))
	if err != nil {
		t.Fatal(err)
	}
	s, err := dataset.At(t.Context(), images, 0)
	if err != nil {
		t.Fatal(err)
	}
	if got := dataset.ValuesOf[int64](s["label"])[0]; got != 40124 && got != 40214 {
		t.Errorf("label %v, want 40124 or 40214", got)
	}
	if got, want := s["image"].Shape(), (dataset.Shape{2, 3, 3}); !slices.Equal(got, want) {
		t.Errorf("shape %v, want %v", got, want)
	}
	if _, err := transform.Images(boxedImage(), transform.RandomApply(0.5, transform.Apply(step(nil), "x"))); err == nil ||
		!strings.Contains(err.Error(), `the dataset has no field "x"`) {
		t.Errorf("an unknown field: %v", err)
	}
}
