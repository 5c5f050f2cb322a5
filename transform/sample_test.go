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

// halver keeps every second pixel.
type halver struct{ step }

func (halver) Size(w, h int) (int, int) { return w / 2, h / 2 }

func halved(s *transform.Sample, _ *rand.Rand) error {
	from, to := s.Image, s.New(s.Image.Width/2, s.Image.Height/2)
	for y := range to.Height {
		for x := range to.Width {
			copy(to.Pix[4*(y*to.Width+x):][:4], from.Pix[4*(2*y*from.Width+2*x):])
		}
	}
	s.Image = to
	return nil
}

func TestOwnStepSeesFieldsAsEarlierStepsLeaveThem(t *testing.T) {
	paint := step(func(s *transform.Sample, _ *rand.Rand) error {
		label, boxes := dataset.Row[int64](s.Fields, 1), dataset.Row[float32](s.Fields, 0)
		s.Image.Pix[4*(int(boxes[1])*s.Image.Width+int(boxes[0]))] = uint8(label[0])
		label[0]++
		return nil
	})
	images, err := transform.Images(boxedImage(), transform.Boxes("boxes", transform.XYXY), transform.Crop(1, 0, 2, 6), transform.RandomHorizontalFlip(1),
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
	images, err := transform.Images(boxedImage(), transform.Views(2, transform.Apply(halver{halved}), transform.Apply(paint, "label"), transform.Crop(0, 0, 1, 2)))
	if err != nil {
		t.Fatal(err)
	}
	s, err := dataset.At(t.Context(), images, 0)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := s["image"].Data(), []uint8{40, 0, 0, 2, 2, 2, 40, 0, 0, 2, 2, 2}; !reflect.DeepEqual(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	for want, inner := range map[string]transform.Item{
		`transform: Views(2, …): step of "x": the dataset has no field "x"`: transform.Apply(paint, "x"),
		`Views(2, …): has no option Decoder`:                                plainDecoder,
	} {
		if _, err := transform.Images(boxedImage(), transform.Views(2, inner, transform.Crop(0, 0, 1, 2))); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}

func TestOwnStepMayChangeTheSize(t *testing.T) {
	images, err := transform.Images(boxedImage(), transform.RandomHorizontalFlip(1), transform.Apply(halver{halved}), transform.Crop(1, 0, 1, 2))
	if err != nil {
		t.Fatal(err)
	}
	s, err := dataset.At(t.Context(), images, 0)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := s["image"].Shape(), (dataset.Shape{1, 2, 3}); !slices.Equal(got, want) {
		t.Fatalf("shape %v, want %v", got, want)
	}
	if got, want := s["image"].Data(), []uint8{17, 17, 17, 15, 15, 15}; !reflect.DeepEqual(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestOwnStepOfVaryingSizeNeedsRagged(t *testing.T) {
	_, err := transform.Images(boxedImage(), transform.Apply(anySize{halved}))
	if err == nil {
		t.Error("no error without Ragged")
	}
	images, err := transform.Images(boxedImage(), transform.Apply(anySize{halved}), transform.Ragged(), transform.Sizes("size"))
	if err != nil {
		t.Fatal(err)
	}
	s, err := dataset.At(t.Context(), images, 0)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := s["size"].Data(), []int64{2, 3}; !reflect.DeepEqual(got, want) {
		t.Errorf("size %v, want %v", got, want)
	}
}

// anySize says that the size varies.
type anySize struct{ step }

func (anySize) Size(w, h int) (int, int) { return 0, 0 }

func TestWrongUseOfOwnStepsIsAnError(t *testing.T) {
	bad := errors.New("bad sample")
	none := step(func(*transform.Sample, *rand.Rand) error { return nil })
	boxes := transform.Boxes("boxes", transform.XYXY)
	for _, c := range []struct {
		steps []transform.Item
		want  string
	}{
		{[]transform.Item{transform.Apply(nil)}, "transform: Apply(nil): want a Transform, a SampleTransform or a PlanesTransform"},
		{[]transform.Item{transform.Apply(none, "x")}, `transform: step of "x": the dataset has no field "x", only image uint8 (4, 6, 3), label int64 (), boxes float32 (n, 4), mask uint8 (4, 6)`},
		{[]transform.Item{transform.Apply(none, "image")}, `transform: step of "image": that is the field of the images`},
		{[]transform.Item{boxes, transform.Apply(halver{halved})}, `transform: step: changes the size: name the fields ["boxes"] of Boxes, Mask, Masks and KeyPoints, so that it can move them`},
		{[]transform.Item{transform.Mask("mask"), transform.Apply(halver{halved})}, `transform: step: changes the size: name the fields ["mask"] of Boxes, Mask, Masks and KeyPoints, so that it can move them`},
		{[]transform.Item{transform.ToTensor(), transform.Apply(none)}, "transform: step: must come before ToTensor and PILToTensor"},
		{[]transform.Item{transform.Apply(step(halved))}, "transform: step: made 2×3 pixels (height×width) in 24 bytes, want 4×6 pixels (height×width) in 96 bytes: a step that changes the size has a method Size"},
		{[]transform.Item{transform.Apply(halver{none.ApplySample})}, "transform: step: made 4×6 pixels (height×width) in 96 bytes, want 2×3 pixels (height×width) in 24 bytes: a step that changes the size has a method Size"},
		{[]transform.Item{transform.Apply(step(func(s *transform.Sample, _ *rand.Rand) error {
			s.Image = &transform.Image{}
			return nil
		}))}, "transform: step: set Sample.Image to an image of its own: want the Image that was there, or one that Sample.New has made"},
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
	if _, err := transform.Compile(transform.Resize([2]int{4, 4}), transform.Apply(halver{halved})); err != nil {
		t.Error(err)
	}
}

func TestOwnStepsAllocateNothing(t *testing.T) {
	touch := step(func(s *transform.Sample, r *rand.Rand) error {
		s.Image.Pix[0] = uint8(dataset.Row[int64](s.Fields, 0)[0]) + uint8(r.IntN(2))
		return nil
	})
	images, err := transform.Images(boxedImage(), transform.Apply(touch, "label"), transform.Apply(halver{halved}))
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

// TestOwnStepsAreAmongThoseOfRandomSteps draws steps that see fields and change the size.
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
		transform.RandomChoice(transform.Apply(halver{halved}), transform.Compose(transform.Apply(halver{halved}), add(4)), transform.P(0, 1)))
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

// TestOwnStepThatChangesTheSizeMovesBoxes lets later steps see the boxes where the step has put
// them, in the image's new size.
func TestOwnStepThatChangesTheSizeMovesBoxes(t *testing.T) {
	shrink := step(func(s *transform.Sample, r *rand.Rand) error {
		boxes := dataset.Row[float32](s.Fields, 0)
		for k := range boxes {
			boxes[k] /= 2
		}
		return halved(s, r)
	})
	images, err := transform.Images(boxedImage(), transform.Boxes("boxes", transform.XYXY),
		transform.Apply(halver{shrink}, "boxes"), transform.RandomHorizontalFlip(1), transform.Crop(0, 0, 2, 3), transform.SanitizeBoundingBoxes())
	if err != nil {
		t.Fatal(err)
	}
	s, err := dataset.At(t.Context(), images, 0)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := s["boxes"].Data(), []float32{1.5, 0.5, 2.5, 1.5, 0.5, 0, 2, 1}; !reflect.DeepEqual(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

// TestOwnStepsOfViewsHaveTheBoxesOfTheirView moves the boxes of each view on its own.
func TestOwnStepsOfViewsHaveTheBoxesOfTheirView(t *testing.T) {
	right := step(func(s *transform.Sample, _ *rand.Rand) error {
		boxes := dataset.Row[float32](s.Fields, 0)
		boxes[0]++
		return nil
	})
	images, err := transform.Images(boxedImage(), transform.Boxes("boxes", transform.XYXY),
		transform.Views(2, transform.Apply(right, "boxes"), transform.RandomHorizontalFlip(1)))
	if err != nil {
		t.Fatal(err)
	}
	s, err := dataset.At(t.Context(), images, 0)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := s["boxes"].Data(), []float32{3, 1, 4, 3, 1, 0, 4, 2, 3, 1, 4, 3, 1, 0, 4, 2}; !reflect.DeepEqual(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}
