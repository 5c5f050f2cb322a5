package transform_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/transform"
)

// ramp is an image of h×w×3 or, as planes, 3×h×w pixels with different values.
func ramp(t *testing.T, shape ...int) dataset.Dataset {
	t.Helper()
	n := 1
	for _, d := range shape {
		n *= d
	}
	pix := make([]uint8, n)
	for i := range pix {
		pix[i] = uint8(7 * i)
	}
	ds, err := dataset.Tensors(dataset.Named("image", dataset.TensorOf(pix, append([]int{1}, shape...)...)))
	if err != nil {
		t.Fatal(err)
	}
	return ds
}

func valuesOf[T uint8 | float32](t *testing.T, ds dataset.Dataset, steps ...transform.Item) []T {
	t.Helper()
	x, err := transform.Images(ds, steps...)
	if err != nil {
		t.Fatal(err)
	}
	s, err := dataset.At(t.Context(), x, 0)
	if err != nil {
		t.Fatal(err)
	}
	return dataset.ValuesOf[T](s["image"])
}

func TestBGRReversesTheChannelsOfEveryLayout(t *testing.T) {
	mean, std := []float32{0.1, 0.2, 0.3}, []float32{0.5, 0.6, 0.7}
	turned := func(v []float32) []float32 { v = slices.Clone(v); slices.Reverse(v); return v }
	for _, ds := range []dataset.Dataset{ramp(t, 5, 9, 3), ramp(t, 3, 5, 9)} {
		for _, more := range [][]transform.Item{{}, {transform.CenterCrop(4)}} {
			for _, scale := range []transform.Item{transform.ToTensor(), transform.Rescale(0.01)} {
				of := func(a transform.Axes, m, s []float32, last ...transform.Item) []float32 {
					all := append(slices.Clone(more), scale, transform.Layout(a))
					return valuesOf[float32](t, ds, append(append(all, last...), transform.Normalize(m, s))...)
				}
				want := of(transform.CHW, turned(mean), turned(std))
				n := len(want) / 3
				want = slices.Concat(want[2*n:], want[n:2*n], want[:n])
				if got := of(transform.CHW, mean, std, transform.BGR()); !slices.Equal(got, want) {
					t.Errorf("%v, %v: CHW: other values than reversed planes", ds.Spec(), scale)
				}
				got := of(transform.HWC, mean, std, transform.BGR())
				for i, v := range got {
					if v != want[i%3*n+i/3] {
						t.Fatalf("%v, %v: HWC: value %d is %v, want %v", ds.Spec(), scale, i, v, want[i%3*n+i/3])
					}
				}
			}
			plain := valuesOf[uint8](t, ds, more...)
			for i, v := range valuesOf[uint8](t, ds, append(slices.Clone(more), transform.BGR())...) {
				if want := plain[i/3*3+2-i%3]; v != want {
					t.Fatalf("%v: pixels: value %d is %d, want %d", ds.Spec(), i, v, want)
				}
			}
		}
	}
}

func TestRescaleByA255thIsToTensor(t *testing.T) {
	ds := ramp(t, 16, 16, 3)
	want := valuesOf[float32](t, ds, transform.ToTensor())
	if got := valuesOf[float32](t, ds, transform.Rescale(1.0/255)); !slices.Equal(got, want) {
		t.Error("other values")
	}
}

func TestPadToAddsZerosAfterNormalize(t *testing.T) {
	ds := ramp(t, 2, 3, 3)
	for _, a := range []transform.Axes{transform.CHW, transform.HWC} {
		steps := []transform.Item{transform.ToTensor(), transform.Normalize([]float32{2}, []float32{1}), transform.Layout(a)}
		small := valuesOf[float32](t, ds, steps...)
		large := valuesOf[float32](t, ds, append(steps, transform.PadTo([2]int{4, 5}))...)
		at := func(v []float32, h, w, c, y, x int) float32 {
			if a == transform.CHW {
				return v[(c*h+y)*w+x]
			}
			return v[(y*w+x)*3+c]
		}
		for c := range 3 {
			for y := range 4 {
				for x := range 5 {
					want := float32(0)
					if y < 2 && x < 3 {
						want = at(small, 2, 3, c, y, x)
					}
					if got := at(large, 4, 5, c, y, x); got != want {
						t.Fatalf("%v: channel %d, row %d, column %d is %v, want %v", a, c, y, x, got, want)
					}
				}
			}
		}
	}
}

func TestPadToRefusesLargerImages(t *testing.T) {
	x, err := transform.Images(ramp(t, 2, 3, 3), transform.ToTensor(), transform.PadTo([2]int{2, 2}))
	if err != nil {
		t.Fatal(err)
	}
	_, err = dataset.At(t.Context(), x, 0)
	if err == nil || !strings.Contains(err.Error(), "PadTo([2 2]): the image has 2×3 pixels") {
		t.Errorf("error %v, want one of PadTo", err)
	}
}

// TestCenterCropFloors has sizes where the remainder is odd, above and below the
// size of the crop. In column x of the image, red is 21·x.
func TestCenterCropFloors(t *testing.T) {
	for _, c := range []struct {
		size int
		want []uint8
	}{
		{6, []uint8{0, 21, 42, 63, 84, 105}}, // of 7 columns: none is left out at the left
		{4, []uint8{21, 42, 63, 84}},
		{8, []uint8{0, 0, 21, 42, 63, 84, 105, 126}}, // one more at the left
		{10, []uint8{0, 0, 0, 21, 42, 63, 84, 105, 126, 0}},
	} {
		got := valuesOf[uint8](t, ramp(t, 1, 7, 3), transform.CenterCrop([2]int{1, c.size}, transform.Floor()), transform.PILToTensor())[:c.size]
		if !slices.Equal(got, c.want) {
			t.Errorf("to %d columns: %v, want %v", c.size, got, c.want)
		}
	}
}
