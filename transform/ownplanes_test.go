package transform_test

import (
	"errors"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/internal/dense"
	"github.com/penstock-go/penstock/transform"
)

// negative changes the sign of all values.
type negative struct{}

func (negative) ApplyPlanes(m *transform.Planes, _ *rand.Rand) error {
	for i, v := range m.Pix {
		m.Pix[i] = -v
	}
	return nil
}

// planes is a PlanesTransform of a function.
type planes func(m *transform.Planes, r *rand.Rand) error

func (f planes) ApplyPlanes(m *transform.Planes, r *rand.Rand) error { return f(m, r) }
func (f planes) String() string                                      { return "planes" }

func TestOwnStepsSeeTheTensor(t *testing.T) {
	ds := photosOf(t, 3)
	list := []transform.Item{transform.Resize([2]int{20, 24}), transform.ToTensor(), transform.Normalize(transform.ImageNetMean, transform.ImageNetStd)}
	own := append(slices.Clone(list), transform.Apply(negative{}), transform.Apply(planes(func(m *transform.Planes, _ *rand.Rand) error {
		if m.Channels != 3 || m.Width != 24 || m.Height != 20 || m.Dtype != dataset.Float32 {
			t.Errorf("%d channels of %d×%d pixels, %v", m.Channels, m.Width, m.Height, m.Dtype)
		}
		clear(m.Plane(1)[24:48])
		return nil
	})))
	want, got := images(t, ds, list...), images(t, ds, own...)
	for i := range 3 {
		a, b := deepValues[float32](t, want, i), deepValues[float32](t, got, i)
		for k := range a {
			if row := k / 24; row == 21 && b[k] != 0 || row != 21 && b[k] != -a[k] {
				t.Fatalf("value %d is %v, want %v", k, b[k], -a[k])
			}
		}
	}
	c, err := transform.Compile(own...)
	if err != nil {
		t.Fatal(err)
	}
	single := make([]float32, 3*20*24)
	if err := c.Into(single, transform.RGB(make([]uint8, 3*30*30), 30, 30)); err != nil || single[0] != -float32(0-transform.ImageNetMean[0])/transform.ImageNetStd[0] {
		t.Errorf("a single image begins with %v (%v)", single[0], err)
	}
}

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
	ds := photosOf(t, 1)
	resize, own := transform.Resize([2]int{8, 8}), transform.Apply(negative{})
	for _, test := range []struct {
		list []transform.Item
		want string
	}{
		{[]transform.Item{resize, own}, "want ToTensor or Depth16 before it"},
		{[]transform.Item{resize, transform.ToTensor(), transform.Apply(nil)}, "want a Transform, a SampleTransform or a PlanesTransform"},
		{[]transform.Item{resize, transform.ToTensor(), own, transform.Normalize([]float32{0}, []float32{1})}, "want it before a PlanesTransform"},
		{[]transform.Item{resize, transform.ToTensor(), own, transform.RandomErasing(1)}, "want it before a PlanesTransform"},
		{[]transform.Item{resize, transform.ToTensor(), own, transform.BGR()}, "want it before a PlanesTransform"},
		{[]transform.Item{resize, transform.ToTensor(), own, transform.Layout(transform.HWC)}, "wants a result of float32 and CHW"},
	} {
		if _, err := transform.Images(ds, test.list...); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%v: got %v, want %q", test.list, err, test.want)
		}
	}
	wrong := errors.New("wrong")
	for want, f := range map[string]planes{
		"planes: wrong": func(*transform.Planes, *rand.Rand) error { return wrong },
		"want 3 channels of 8×8 pixels (height×width) in 192 values of float32": func(m *transform.Planes, _ *rand.Rand) error { m.Width = 7; return nil },
	} {
		c, err := transform.Compile(resize, transform.ToTensor(), transform.Apply(f))
		if err != nil {
			t.Fatal(err)
		}
		for range 1 + runtime.GOMAXPROCS(0) { // more than there are lanes
			err = c.Into(make([]float32, 3*64), transform.RGB(make([]uint8, 3), 1, 1))
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Fatalf("got %v, want %q", err, want)
			}
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

// narrower takes every second column.
type narrower struct{ channels int }

func (narrower) Size(w, h int) (int, int) { return w / 2, h }

func (n narrower) ApplySample(s *transform.Sample, _ *rand.Rand) error {
	from := s.Planes
	to := s.NewPlanes(from.Width/2, from.Height)
	for c := range to.Channels {
		for i := range to.Plane(c) {
			to.Plane(c)[i] = from.Plane(c)[i/to.Width*from.Width+2*(i%to.Width)]
		}
	}
	to.Channels += n.channels
	s.Planes = to
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
	x := images(t, ds, transform.Depth16(1), transform.Apply(brighter{}, "label"), transform.RandomHorizontalFlip(1), transform.Apply(narrower{}))
	for i, want := range [][]uint16{{104, 102}, {208, 206}} {
		if got := deepValues[uint16](t, x, i); !slices.Equal(got, want) {
			t.Errorf("sample %d: got %v, want %v", i, got, want)
		}
	}
	wrong := images(t, ds, transform.Depth16(1), transform.Apply(narrower{1}))
	if _, err := dataset.At(t.Context(), wrong, 0); err == nil || !strings.Contains(err.Error(), "2 values for 2 channels of 1×2 pixels (height×width)") {
		t.Errorf("got %v", err)
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
