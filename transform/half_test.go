package transform

import (
	"slices"
	"strings"
	"testing"
	"unsafe"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/internal/dense"
)

// rounded is the float32 result of the steps, rounded value by value.
func rounded(x []float32, dt dataset.Dtype) []uint16 {
	all := make([]uint16, len(x))
	for i, v := range x {
		all[i] = uint16(dataset.ToF16(v))
		if dt == dataset.BFloat16 {
			all[i] = uint16(dataset.ToBF16(v))
		}
	}
	return all
}

// bits are the values of a tensor of half precision.
func bits(x dataset.Tensor) []uint16 { return dense.Values[uint16](x.Bytes()) }

func TestHalfPrecisionIsFloat32Rounded(t *testing.T) {
	lists := map[string][]Item{
		"preset":           {Eval(16)},
		"no normalisation": {Resize([2]int{17, 9}), ToTensor()},
		"twice normalised": {Resize([2]int{17, 9}), ToTensor(), Normalize([]float32{0.5}, []float32{0.25}), Normalize([]float32{0.1}, []float32{3})},
		"HWC":              {Resize([2]int{17, 9}), ToTensor(), Normalize(ImageNetMean, ImageNetStd), Layout(HWC)},
		"gray":             {Grayscale(1), Resize([2]int{17, 9}), ToTensor(), Normalize([]float32{0.4}, []float32{0.2})},
		"erased":           {Train(16), RandomErasing(1, Value(1.1, -2.2, 3.3))},
		"noise":            {Train(16), RandomErasing(1, RandomValue())},
	}
	for name, list := range lists {
		for _, data := range readAll(t, imageFiles...) {
			x := dataset.ValuesOf[float32](result(t, encoded(data), list...))
			for _, dt := range []dataset.Dtype{dataset.Float16, dataset.BFloat16} {
				list := append(slices.Clone(list), ToDtype(dt))
				want := rounded(x, dt)
				got := bits(result(t, encoded(data), list...))
				if !slices.Equal(got, want) {
					t.Errorf("%s, %s: other bits than float32's, rounded", name, dt)
				}
				single := make([]uint16, len(want))
				c := compiled(t, list...)
				if err := c.IntoBytes(dense.Bytes(single), File(data)); err != nil {
					t.Fatal(err)
				}
				if !strings.HasPrefix(name, "erased") && name != "noise" && !slices.Equal(single, want) {
					t.Errorf("%s, %s, single image: other bits than float32's, rounded", name, dt)
				}
			}
		}
	}
}

func TestHalfPrecisionOfPlanesThatAreOnlyNormalised(t *testing.T) {
	list := []Item{ToTensor(), Normalize(ImageNetMean, ImageNetStd)}
	pix := make([]uint8, 3*9*13)
	for i := range pix {
		pix[i] = uint8(7 * i)
	}
	ds, err := dataset.Tensors(dataset.Named("image", dataset.TensorOf(pix, 1, 3, 9, 13)))
	if err != nil {
		t.Fatal(err)
	}
	x := dataset.ValuesOf[float32](result(t, ds, list...))
	for _, dt := range []dataset.Dtype{dataset.Float16, dataset.BFloat16} {
		got := result(t, ds, append(slices.Clone(list), ToDtype(dt))...)
		if !slices.Equal(bits(got), rounded(x, dt)) {
			t.Errorf("%s: other bits than float32's, rounded", dt)
		}
	}
}

func TestToDtypeSaysWhatIsWrong(t *testing.T) {
	for want, list := range map[string][]Item{
		"ToDtype(float16): want ToTensor before it":                                   {CenterCrop(4), ToDtype(dataset.Float16)},
		"ToDtype(float64): want dataset.Float32, dataset.Float16 or dataset.BFloat16": {CenterCrop(4), ToTensor(), ToDtype(dataset.Float64)},
		"ToDtype(bfloat16): the result is float16 already":                            {CenterCrop(4), ToTensor(), ToDtype(dataset.Float16), ToDtype(dataset.BFloat16)},
		"Normalize([0.485 0.456 0.406], [0.229 0.224 0.225]): want it before ToDtype": {CenterCrop(4), ToTensor(), ToDtype(dataset.Float16), Normalize(ImageNetMean, ImageNetStd)},
	} {
		if _, err := Compile(list...); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}

func TestIntoBytesWantsAlignedMemory(t *testing.T) {
	c := compiled(t, CenterCrop(4), ToTensor(), ToDtype(dataset.BFloat16))
	words := make([]uint16, 3*4*4+1)
	b := unsafe.Slice((*byte)(unsafe.Pointer(&words[0])), 2*len(words))
	err := c.IntoBytes(b[1:][:2*3*4*4], File(readAll(t, "rgb.jpg")[0]))
	if err == nil || !strings.Contains(err.Error(), "not aligned to 2 bytes") {
		t.Error(err)
	}
	if err := c.Into(make([]float32, 3*4*4), File(readAll(t, "rgb.jpg")[0])); err == nil || !strings.Contains(err.Error(), "make bfloat16: use IntoBytes") {
		t.Error(err)
	}
}
