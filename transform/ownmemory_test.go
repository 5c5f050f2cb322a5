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
		"New": {transform.Apply(step(func(s *transform.Sample, _ *rand.Rand) error {
			s.Image = s.New(w, h)
			s.Image.Pix = bytes
			return nil
		}))},
		"ApplyPlanes": {transform.Depth16(1), transform.Apply(planes(func(m *transform.Planes, _ *rand.Rand) error { m.Pix = floats; return nil }))},
		"Planes":      {transform.Depth16(1), transform.Apply(step(func(s *transform.Sample, _ *rand.Rand) error { s.Planes.Pix = floats; return nil }))},
		"NewPlanes": {transform.Depth16(1), transform.Apply(step(func(s *transform.Sample, _ *rand.Rand) error {
			s.Planes = s.NewPlanes(w, h)
			s.Planes.Pix = floats
			return nil
		}))},
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

// TestStepsMayExchangeMemoryOfImages lets steps give the image's memory to what New makes.
func TestStepsMayExchangeMemoryOfImages(t *testing.T) {
	const w, h = 6, 5
	fill := func(s *transform.Sample, v uint8) {
		for i := range s.Image.Pix {
			s.Image.Pix[i] = v
		}
	}
	foreign := slices.Repeat([]uint8{7}, 4*w*h)
	for name, list := range map[string][]transform.Item{
		"Image, the new one": {transform.Apply(step(func(s *transform.Sample, _ *rand.Rand) error {
			fill(s, 9)
			m := s.New(w, h)
			clear(m.Pix)
			m.Pix, s.Image.Pix = s.Image.Pix, m.Pix
			s.Image = m
			return nil
		}))},
		"Image, the old one": {transform.Apply(step(func(s *transform.Sample, _ *rand.Rand) error {
			fill(s, 0)
			m := s.New(w, h)
			for i := range m.Pix {
				m.Pix[i] = 9
			}
			m.Pix, s.Image.Pix = s.Image.Pix, m.Pix
			return nil
		}))},
		"Image, and other memory": {transform.Apply(step(func(s *transform.Sample, _ *rand.Rand) error {
			fill(s, 9)
			m := s.New(w, h)
			m.Pix, s.Image.Pix = s.Image.Pix, foreign
			s.Image = m
			return nil
		}))},
		"Planes": {transform.Depth16(1), transform.Apply(step(func(s *transform.Sample, _ *rand.Rand) error {
			for i := range s.Planes.Pix {
				s.Planes.Pix[i] = 9
			}
			m := s.NewPlanes(w, h)
			clear(m.Pix)
			m.Pix, s.Planes.Pix = s.Planes.Pix, m.Pix
			s.Planes = m
			return nil
		}))},
	} {
		ds := arrays(t, dataset.Uint8, dataset.Shape{h, w}, make([]uint8, 5*w*h))
		list = append(list, transform.Crop(0, 0, 4, 4))
		for i, slot := range slotsOf(t, images(t, ds, list...)) {
			if got := dataset.Row[uint8](slot, 0); slices.Min(got) != 9 || slices.Max(got) != 9 {
				t.Errorf("%s: sample %d: got %v, want only 9", name, i, got)
			}
		}
	}
}

// TestMemoryOfOwnStepsIsKeptApart lets steps give an image any part of the memory of another. The
// image's pixels are 0, 1, 2 and so on. Later steps must see six of them in order, from want on, and
// must be able to mirror them.
func TestMemoryOfOwnStepsIsKeptApart(t *testing.T) {
	foreign := slices.Repeat([]uint8{7}, 4*6)
	fill := func(m *transform.Image) *transform.Image {
		for i := range m.Pix {
			m.Pix[i] = uint8(100 + i/4)
		}
		return m
	}
	for name, c := range map[string]struct {
		step func(s *transform.Sample)
		want uint8
	}{
		"the new one has a part of the old one's": {func(s *transform.Sample) {
			old, m := s.Image, fill(s.New(3, 2))
			m.Pix, old.Pix = old.Pix[4*3:][:4*6], m.Pix
			s.Image = m
		}, 3},
		"the old one has a part of the new one's": {func(s *transform.Sample) {
			old, m := s.Image, fill(s.New(6, 4))
			m.Pix, old.Pix = old.Pix, m.Pix[4*3:][:4*6]
			old.Width, old.Height = 3, 2
		}, 103},
		"New after an exchange": {func(s *transform.Sample) {
			old, m := s.Image, fill(s.New(3, 2))
			m.Pix, old.Pix = old.Pix, m.Pix
			old.Width, old.Height = 3, 2
			clear(s.New(3, 2).Pix)
		}, 100},
		"New after both have the new one's": {func(s *transform.Sample) {
			old, m := s.Image, fill(s.New(3, 2))
			*old = *m
			clear(s.New(3, 2).Pix)
		}, 100},
		"New after other memory": {func(s *transform.Sample) {
			s.New(3, 2).Pix = foreign
			s.Image = fill(s.New(3, 2))
		}, 100},
	} {
		sixPixels(t, name, c.want, transform.Apply(halver{func(s *transform.Sample, _ *rand.Rand) error { c.step(s); return nil }}))
	}
	if slices.Min(foreign) != 7 || slices.Max(foreign) != 7 {
		t.Error("memory of the step was changed")
	}
}

// TestMemoryOfOwnStepsIsKeptApartWithDepth16 is the same for NewPlanes.
func TestMemoryOfOwnStepsIsKeptApartWithDepth16(t *testing.T) {
	fill := func(m *transform.Planes) *transform.Planes {
		for i := range m.Pix {
			m.Pix[i] = float32(100 + i)
		}
		return m
	}
	for name, c := range map[string]struct {
		step func(s *transform.Sample)
		want uint8
	}{
		"the new one has a part of the old one's": {func(s *transform.Sample) {
			old, m := s.Planes, fill(s.NewPlanes(3, 2))
			m.Pix, old.Pix = old.Pix[3:9], m.Pix
			s.Planes = m
		}, 3},
		"NewPlanes after an exchange": {func(s *transform.Sample) {
			old, m := s.Planes, fill(s.NewPlanes(3, 2))
			m.Pix, old.Pix = old.Pix, m.Pix
			old.Width, old.Height = 3, 2
			clear(s.NewPlanes(3, 2).Pix)
		}, 100},
	} {
		sixPixels(t, name, c.want, transform.Depth16(1),
			transform.Apply(halver{func(s *transform.Sample, _ *rand.Rand) error { c.step(s); return nil }}))
	}
}

// sixPixels checks that steps make six pixels of an image whose pixels are 0, 1, 2 and so on: the numbers
// from first on, in two rows of which a further step exchanges the order.
func sixPixels(t *testing.T, name string, first uint8, list ...transform.Item) {
	t.Helper()
	const w, h, samples = 6, 4, 3
	var pix []uint8
	for i := range samples * w * h {
		pix = append(pix, uint8(i%(w*h)))
	}
	nothing := transform.Apply(step(func(*transform.Sample, *rand.Rand) error { return nil }))
	ds := images(t, arrays(t, dataset.Uint8, dataset.Shape{h, w}, pix), append(list, transform.RandomVerticalFlip(1), nothing)...)
	want := []uint8{first + 3, first + 4, first + 5, first, first + 1, first + 2}
	for i, slot := range slotsOf(t, ds) {
		all := dataset.Row[uint8](slot, 0)
		var got []uint8
		for k := 0; k < len(all); k += len(all) / len(want) {
			got = append(got, all[k])
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: sample %d: got %v, want %v", name, i, got, want)
		}
	}
}

// bytewise is a Transform of a function.
type bytewise func(m *transform.Image)

func (f bytewise) Apply(m *transform.Image, _ *rand.Rand) error { f(m); return nil }
