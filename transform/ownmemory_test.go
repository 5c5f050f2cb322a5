package transform_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/transform"
)

// TestMemoryThatOwnStepsPutIntoImagesStaysTheirs lets steps return memory that they keep, and the next images
// be rendered.
func TestMemoryThatOwnStepsPutIntoImagesStaysTheirs(t *testing.T) {
	const w, h = 6, 5
	bytes, floats := slices.Repeat([]uint8{9}, 4*w*h), slices.Repeat([]float32{9}, w*h)
	nothing := transform.Apply(step(func(*transform.Sample, *rand.Rand) error { return nil }))
	more := []transform.Item{transform.Crop(0, 0, 4, 4), nothing, transform.Crop(0, 0, 3, 3), nothing}
	for name, list := range map[string][]transform.Item{
		"Apply":       {transform.Apply(bytewise(func(m *transform.Image) { m.Pix = bytes }))},
		"ApplySample": {transform.Apply(step(func(s *transform.Sample, _ *rand.Rand) error { s.Image.Pix = bytes; return nil }))},
		"Planes":      {transform.Depth16(1), transform.Apply(step(func(s *transform.Sample, _ *rand.Rand) error { s.Planes.Pix = floats; return nil }))},
	} {
		ds := arrays(t, dataset.Uint8, dataset.Shape{h, w}, make([]uint8, 5*w*h))
		for i, slot := range slotsOf(t, images(t, ds, slices.Concat(list, more)...)) {
			if got := dataset.Row[uint8](slot, 0); slices.Min(got) != 9 || slices.Max(got) != 9 {
				t.Errorf("%s: sample %d: got %v, want only 9", name, i, got)
			}
		}
		if slices.Min(bytes) != 9 || slices.Max(bytes) != 9 || slices.Min(floats) != 9 || slices.Max(floats) != 9 {
			t.Fatalf("%s: memory of the step was changed", name)
		}
	}
}

// bytewise is a Transform of a function.
type bytewise func(m *transform.Image)

func (f bytewise) Apply(m *transform.Image, _ *rand.Rand) error { f(m); return nil }

// slotsOf are the samples of a dataset.
func slotsOf(t testing.TB, ds dataset.Dataset) (all []dataset.Slot) {
	t.Helper()
	r, err := ds.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	for i := range ds.Len() {
		slot := dataset.NewSlot(ds.Spec()...)
		if err := r.Place(t.Context(), i, slot); err != nil {
			t.Fatal(err)
		}
		all = append(all, slot)
	}
	return all
}
