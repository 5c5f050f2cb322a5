package transform_test

import (
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/internal/dense"
	"github.com/penstock-go/penstock/transform"
)

// negative changes the sign of all values.
type negative struct{}

func (negative) ApplySample(s *transform.Sample, _ *rand.Rand) error {
	for i, v := range s.Planes.Pix {
		s.Planes.Pix[i] = -v
	}
	return nil
}

// planes is a SampleTransform of a function of planes.
type planes func(m *transform.Planes, r *rand.Rand) error

func (f planes) ApplySample(s *transform.Sample, r *rand.Rand) error { return f(s.Planes, r) }
func (f planes) String() string                                      { return "planes" }

func TestOwnStepsSeeStoredValues(t *testing.T) {
	pix := []uint16{1, 2, 3, 4, 65535, 300}
	ds := arrays(t, dataset.Uint16, dataset.Shape{1, 2, 3}, dense.Bytes(pix))
	half := planes(func(m *transform.Planes, _ *rand.Rand) error {
		if m.Dtype != dataset.Uint16 || m.Width != 2 {
			t.Errorf("%v, width %d", m.Dtype, m.Width)
		}
		for i := range m.Pix {
			m.Pix[i] = m.Pix[i]*1.5 - 4.5
		}
		return nil
	})
	got := deepValues[uint16](t, images(t, ds, transform.Depth16(1), transform.Crop(0, 1, 2, 2), transform.Apply(half), transform.RandomHorizontalFlip(1)), 0)
	if want := []uint16{0, 0, 446, 65535}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestOwnStepsOfPlanesSayWhatIsWrong(t *testing.T) {
	wrong := errors.New("wrong")
	for want, f := range map[string]planes{
		"planes: wrong": func(*transform.Planes, *rand.Rand) error { return wrong },
		"want 1 channel of 1×2 pixels (height×width) in 2 values of uint16: a step of your own keeps the size": func(m *transform.Planes, _ *rand.Rand) error { m.Width = 7; return nil },
	} {
		ds := arrays(t, dataset.Uint16, dataset.Shape{1, 2}, make([]byte, 4))
		if _, err := dataset.At(t.Context(), images(t, ds, transform.Depth16(1), transform.Apply(f)), 0); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
}

// brighter adds the sample's label to all values.
type brighter struct{}

func (brighter) ApplySample(s *transform.Sample, _ *rand.Rand) error {
	if s.Image != nil {
		return errors.New("an Image with Depth16")
	}
	label := float32(dataset.Row[int64](s.Fields, 0)[0])
	for i := range s.Planes.Pix {
		s.Planes.Pix[i] += label
	}
	return nil
}

func TestOwnStepsSeeDeepImagesWithOtherFields(t *testing.T) {
	pix, labels := []uint16{1, 2, 3, 4, 65535, 6, 7, 8}, []int64{100, 200}
	ds, err := dataset.Tensors(
		dataset.Named("image", dataset.TensorOf(pix, 2, 1, 1, 4)),
		dataset.Named("label", dataset.TensorOf(labels, 2)))
	if err != nil {
		t.Fatal(err)
	}
	x := images(t, ds, transform.Depth16(1), transform.Apply(brighter{}, "label"), transform.RandomHorizontalFlip(1))
	for i, want := range [][]uint16{{104, 103, 102, 101}, {208, 207, 206, 65535}} {
		if got := deepValues[uint16](t, x, i); !slices.Equal(got, want) {
			t.Errorf("sample %d: got %v, want %v", i, got, want)
		}
	}
}

func TestNaNBecomes0InIntegers(t *testing.T) {
	nan := planes(func(m *transform.Planes, _ *rand.Rand) error {
		for i := range m.Pix {
			m.Pix[i] /= m.Pix[0]
		}
		return nil
	})
	for _, dt := range []dataset.Dtype{dataset.Uint16, dataset.Int32} {
		ds := arrays(t, dataset.Int16, dataset.Shape{1, 2}, dense.Bytes([]int16{0, -7}))
		if dt == dataset.Uint16 {
			ds = arrays(t, dt, dataset.Shape{1, 2}, dense.Bytes([]uint16{0, 7}))
		}
		x := images(t, ds, transform.Depth16(1), transform.Apply(nan), transform.ToDtype(dt))
		slot := slotsOf(t, x)[0]
		if dt == dataset.Uint16 {
			if got := dataset.Row[uint16](slot, 0); got[0] != 0 || got[1] != 0 {
				t.Errorf("%v", got)
			}
		} else if got := dataset.Row[int32](slot, 0); got[0] != 0 || got[1] != 0 {
			t.Errorf("%v", got)
		}
	}
}
