package transform_test

import (
	"math"
	"slices"
	"testing"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/internal/dense"
	"github.com/penstock-go/penstock/internal/testenv"
	"github.com/penstock-go/penstock/transform"
)

// TestGrayscaleOfDepth16SetsTheChannels also reads a second image, which has the channels of the first
// before Grayscale.
func TestGrayscaleOfDepth16SetsTheChannels(t *testing.T) {
	colours := []uint16{1000, 65535, 20000, 0, 30000, 7} // two images of one pixel
	rgb := arrays(t, dataset.Uint16, dataset.Shape{3, 1, 1}, dense.Bytes(colours))
	scans := arrays(t, dataset.Uint16, dataset.Shape{1, 1}, dense.Bytes([]uint16{65535, 300}))
	grey := func(c []uint16) uint16 {
		return uint16(0.2989*float64(c[0]) + 0.587*float64(c[1]) + 0.114*float64(c[2]))
	}
	first, second := grey(colours[:3]), grey(colours[3:])
	for _, test := range []struct {
		list        []transform.Item
		scans       bool
		shape       dataset.Shape
		want, after []uint16
	}{
		{[]transform.Item{transform.Depth16(3), transform.Grayscale(1)}, false, dataset.Shape{1, 1, 1}, []uint16{first}, []uint16{second}},
		{[]transform.Item{transform.Depth16(3), transform.Grayscale(3)}, false, dataset.Shape{1, 1, 3}, []uint16{first, first, first}, []uint16{second, second, second}},
		{[]transform.Item{transform.Depth16(3), transform.RandomApply(1, transform.Grayscale(3))}, false, dataset.Shape{1, 1, 3}, []uint16{first, first, first}, []uint16{second, second, second}},
		{[]transform.Item{transform.Depth16(3), transform.Grayscale(1), transform.ColorJitter(0, 0, 0.9, 0.5), transform.Grayscale(3), transform.PILToTensor()}, false, dataset.Shape{3, 1, 1}, []uint16{first, first, first}, []uint16{second, second, second}},
		{[]transform.Item{transform.Depth16(3), transform.BGR(), transform.Grayscale(1)}, false, dataset.Shape{1, 1, 1}, []uint16{first}, []uint16{second}},
		{[]transform.Item{transform.Depth16(1), transform.Grayscale(3)}, true, dataset.Shape{1, 1, 3}, []uint16{65535, 65535, 65535}, []uint16{300, 300, 300}},
		{[]transform.Item{transform.Depth16(1), transform.Grayscale(1), transform.RandomGrayscale(1)}, true, dataset.Shape{1, 1, 1}, []uint16{65535}, []uint16{300}},
		{[]transform.Item{transform.Depth16(1), transform.Grayscale(3), transform.Pad([2]int{1, 0}, transform.Fill(9))}, true, dataset.Shape{1, 3, 3}, []uint16{9, 9, 9, 65535, 65535, 65535, 9, 9, 9}, []uint16{9, 9, 9, 300, 300, 300, 9, 9, 9}},
		{[]transform.Item{transform.Depth16(1), transform.Grayscale(3), transform.Pad(0), transform.FiveCrop(1)}, true, dataset.Shape{5, 1, 1, 3}, slices.Repeat([]uint16{65535}, 15), slices.Repeat([]uint16{300}, 15)},
		{[]transform.Item{transform.Depth16(3), transform.Views(2, transform.Grayscale(1))}, false, dataset.Shape{2, 1, 1, 1}, []uint16{first, first}, []uint16{second, second}},
	} {
		ds := rgb
		if test.scans {
			ds = scans
		}
		x := images(t, ds, test.list...)
		if got := x.Spec()[0].Shape; !slices.Equal(got, test.shape) {
			t.Errorf("%v: got the shape %v, want %v", test.list, got, test.shape)
			continue
		}
		r, err := x.Open()
		if err != nil {
			t.Fatal(err)
		}
		slot := dataset.NewSlot(x.Spec()...)
		for i, want := range [][]uint16{test.want, test.after, test.want} {
			if err := r.Place(t.Context(), i%2, slot); err != nil {
				t.Fatal(err)
			}
			if got := dense.Values[uint16](slot.Cell(0).Bytes()); !slices.Equal(got, want) {
				t.Errorf("%v: sample %d: got %v, want %v", test.list, i%2, got, want)
			}
		}
		r.Close()
	}
}

// TestWhiteOfDepth16KeepsItsHue is about torchvision's conversion of 1.0 to uint16, which is 0.
func TestWhiteOfDepth16KeepsItsHue(t *testing.T) {
	white := arrays(t, dataset.Uint16, dataset.Shape{3, 1, 1}, dense.Bytes([]uint16{65535, 65535, 65535}))
	got := deepValues[uint16](t, images(t, white, transform.Depth16(3), transform.ColorJitter(0, 0, 0, 0.5)), 0)
	if want := []uint16{65535, 65535, 65535}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

// TestNoiseOfDepth16StaysInItsRange checks the range of each dtype, and that signed integers keep values
// below 0.
func TestNoiseOfDepth16StaysInItsRange(t *testing.T) {
	signed := make([]int16, 4000)
	for i := range signed {
		signed[i] = -1000
	}
	ds := arrays(t, dataset.Int16, dataset.Shape{1, 40, 100}, dense.Bytes(signed))
	sum, squares := 0.0, 0.0
	for _, v := range deepValues[int16](t, images(t, ds, transform.Depth16(1), transform.GaussianNoise(0.01, 0.05)), 0) {
		sum += float64(v) / 4000
		squares += float64(v) * float64(v) / 4000
	}
	mean, sigma := -1000+0.01*32767, 0.05*32767
	if math.Abs(sum-mean) > 5*sigma/math.Sqrt(4000) || math.Abs(math.Sqrt(squares-sum*sum)-sigma) > 0.1*sigma {
		t.Errorf("got the mean %v and the deviation %v, want %v and %v", sum, math.Sqrt(squares-sum*sum), mean, sigma)
	}
	ends := 0
	for _, v := range deepValues[int16](t, images(t, ds, transform.Depth16(1), transform.GaussianNoise(0, 100)), 0) {
		if v == math.MinInt16 || v == math.MaxInt16 {
			ends++
		}
	}
	if ends < 3900 {
		t.Errorf("%d of 4000 values are at the ends of the range", ends)
	}
	floats := arrays(t, dataset.Float32, dataset.Shape{1, 1, 4}, dense.Bytes([]float32{-3, 0, 1, 7}))
	for _, v := range deepValues[float32](t, images(t, floats, transform.Depth16(1), transform.GaussianNoise(0, 0.1), transform.ToTensor()), 0) {
		if v < 0 || v > 1 {
			t.Errorf("got %v, want it from 0 to 1", v)
		}
	}
}

// TestColoursOfDepth16TakeAllNumbers runs steps with extreme numbers on small images of all dtypes, with values
// that are not finite.
func TestColoursOfDepth16TakeAllNumbers(t *testing.T) {
	testenv.OneGoroutine(t)
	all := []transform.Item{
		transform.ColorJitter(3e38, 3e38, 3e38, 0.5), transform.RandomPhotometricDistort(1),
		transform.RandomPosterize(0, 1), transform.RandomPosterize(8, 1), transform.RandomEqualize(1), transform.RandomAdjustSharpness(3e38, 1),
		transform.GaussianNoise(-128, 128), transform.RandAugment(20, 30), transform.TrivialAugmentWide(transform.NumMagnitudeBins(2)), transform.AutoAugment(transform.SVHNPolicy),
		transform.AugMix(transform.Alpha(1e-9)), transform.AugMix(transform.Severity(10)), transform.Grayscale(3), transform.RandomChannelPermutation(),
	}
	inf, nan := float32(math.Inf(1)), float32(math.NaN())
	for _, size := range [][2]int{{1, 1}, {1, 3}, {3, 1}, {2, 2}, {3, 3}, {17, 13}} {
		n := 3 * size[0] * size[1]
		floats := lcg(make([]float32, 5*n), 1)
		for i := range floats {
			if i%3 == 0 {
				floats[i] = []float32{inf, -inf, nan, 3e38, -1, 1e-44, 2}[i/3%7]
			}
		}
		for dt, values := range map[dataset.Dtype][]byte{
			dataset.Uint8: lcg(make([]uint8, 5*n), 1), dataset.Uint16: dense.Bytes(lcg(make([]uint16, 5*n), 1)),
			dataset.Int16: dense.Bytes(lcg(make([]int16, 5*n), 1)), dataset.Float32: dense.Bytes(floats),
		} {
			ds := arrays(t, dt, dataset.Shape{3, size[0], size[1]}, values)
			for _, s := range all {
				x := images(t, ds, transform.Depth16(3), s, transform.ToTensor())
				for i := range ds.Len() {
					for _, v := range deepValues[float32](t, x, i) {
						if dt != dataset.Float32 && !(v >= -1.01 && v <= 1) {
							t.Fatalf("%v of %v: got %v", s, dt, v)
						}
					}
				}
			}
		}
	}
}

// TestHuesBelowBlackAreInTheRange has signed integers whose greatest colour is 0, so that their saturation is
// infinite.
func TestHuesBelowBlackAreInTheRange(t *testing.T) {
	below := arrays(t, dataset.Int16, dataset.Shape{3, 1, 1}, dense.Bytes([]int16{0, -5, -700}))
	for _, v := range deepValues[int16](t, images(t, below, transform.Depth16(3), transform.ColorJitter(0, 0, 0, 0.5)), 0) {
		if v < -700 || v > 700 {
			t.Errorf("got %d", v)
		}
	}
}
