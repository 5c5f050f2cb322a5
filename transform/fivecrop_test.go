package transform

import (
	"hash/crc32"
	"slices"
	"strings"
	"testing"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/internal/allocs"
	"github.com/penstock-go/penstock/internal/datatest"
	"github.com/penstock-go/penstock/internal/testenv"
)

// cropsOf is FiveCrop, or TenCrop with its flip.
func cropsOf(n, vertical, h, w int) Step {
	switch {
	case n == 5:
		return FiveCrop([2]int{h, w})
	case vertical == 1:
		return TenCrop([2]int{h, w}, VerticalFlip())
	}
	return TenCrop([2]int{h, w})
}

// TestCropsAreTorchvisions compares all pixels with those that torchvision 0.29 makes of PIL
// images, also in Compile.
func TestCropsAreTorchvisions(t *testing.T) {
	testenv.OneGoroutine(t)
	var cases [][8]uint32
	datatest.JSON(t, "testdata/crops.json", &cases)
	if len(cases) != 120 {
		t.Errorf("%d cases, want 120", len(cases))
	}
	for _, c := range cases {
		w, h, ch, cw := int(c[0]), int(c[1]), int(c[3]), int(c[4])
		step := cropsOf(int(c[5]), int(c[6]), ch, cw)
		list := []Item{step}
		if c[2] > 0 {
			list = []Item{Resize(int(c[2])), step}
		}
		got := result(t, imageOf(t, w, h, pixels(w, h)), list...)
		if shape := got.Shape(); !slices.Equal(shape, dataset.Shape{int(c[5]), ch, cw, 3}) {
			t.Errorf("%v: shape %v", list, shape)
		}
		if sum := crc32.ChecksumIEEE(dataset.ValuesOf[uint8](got)); sum != c[7] {
			t.Errorf("%v of %d×%d: checksum %d, want %d", list, w, h, sum, c[7])
		}
		compiled, err := Compile(list...)
		if err != nil {
			t.Fatal(err)
		}
		alone := make([]uint8, compiled.Spec()[0].Bytes())
		if err := compiled.IntoBytes(alone, RGB(pixels(w, h), w, h)); err != nil || !slices.Equal(alone, dataset.ValuesOf[uint8](got)) {
			t.Errorf("%v: Compile makes other crops (%v)", list, err)
		}
	}
}

// TestCropsAreAmongTheStepsOfViews compares them with the crops of the image alone.
func TestCropsAreAmongTheStepsOfViews(t *testing.T) {
	ds := imageOf(t, 40, 30, pixels(40, 30))
	for _, before := range [][]Item{nil, {Resize(24)}, {Crop(2, 3, 20, 30), RandomInvert(1)}} {
		list := append(before, TenCrop([2]int{12, 16}))
		want := dataset.ValuesOf[uint8](result(t, ds, list...))
		x, err := Images(ds, Views(1, CenterCrop(8)), Views(3, append(slices.Clone(list), As("crops"))...))
		if err != nil {
			t.Fatal(err)
		}
		got := datatest.Sample(t, x, 0)["crops"]
		if shape := got.Shape(); !slices.Equal(shape, dataset.Shape{3, 10, 12, 16, 3}) {
			t.Errorf("%v: shape %v", list, shape)
		}
		if !slices.Equal(dataset.ValuesOf[uint8](got), slices.Repeat(want, 3)) {
			t.Errorf("%v: other crops than of the image alone", list)
		}
	}
	x, err := Images(ds, Views(2, FiveCrop(20), ToTensor()))
	if err != nil {
		t.Fatal(err)
	}
	datatest.PlacesWithoutAllocation(t, x)
}

// TestCropsWithoutRandomStepsDrawNothing matters to dataset.Cached, which keeps such results.
func TestCropsWithoutRandomStepsDrawNothing(t *testing.T) {
	x, err := Images(imageOf(t, 40, 30, pixels(40, 30)), Resize(25), FiveCrop(20), ToTensor())
	if err != nil {
		t.Fatal(err)
	}
	slot := dataset.NewSlot(x.Spec()...)
	r := datatest.Open(t, x)
	if err := r.Place(t.Context(), 0, slot); err != nil {
		t.Fatal(err)
	}
	fresh := dataset.NewSlot(x.Spec()...)
	if got, want := slot.Rand().Uint64(), fresh.Rand().Uint64(); got != want {
		t.Error("random numbers were drawn")
	}
	if n := allocs.PerRun(0, 20, func() {
		if err := r.Place(t.Context(), 0, slot); err != nil {
			t.Fatal(err)
		}
	}); n > 0 {
		t.Errorf("%v allocations per sample", n)
	}
}

func TestCropsDecodeOnce(t *testing.T) {
	for _, list := range [][]Item{{FiveCrop(10)}, {Resize(30), TenCrop(10)}} {
		x, err := Images(imageOf(t, 50, 40, pixels(50, 40)), list...)
		if err != nil {
			t.Fatal(err)
		}
		r, dst := opened(t, x)
		var src windows
		r.Lane.Engine.Begin(&src, 50, 40, dst)
		if err := r.Lane.Run(dst.Rand()); err != nil {
			t.Fatal(err)
		}
		if err := r.Put(dst); err != nil {
			t.Fatal(err)
		}
		if len(src) != 1 {
			t.Errorf("%v: decoded %v", list, src)
		}
		r.Close()
	}
}

func TestCropsThatCannotBeAreErrors(t *testing.T) {
	for want, list := range map[string][]Item{
		"TenCrop(0): want a positive size":                       {TenCrop(0)},
		"TenCrop(8): must come before FiveCrop(9)":               {FiveCrop(9), TenCrop(8)},
		"RandomErasing(0.5): must come before FiveCrop(9)":       {FiveCrop(9), ToTensor(), RandomErasing(0.5)},
		"RandomInvert(1): must come before FiveCrop(9)":          {FiveCrop(9), RandomInvert(1)},
		"PadTo(20): must come before FiveCrop(9)":                {FiveCrop(9), ToTensor(), PadTo(20)},
		"FiveCrop(9): must come before ToTensor":                 {ToTensor(), FiveCrop(9)},
		"must not be part of a random step":                      {RandomApply(0.5, FiveCrop(9))},
		"KeyPoints, which torchvision's does not crop":           {Mask("image"), FiveCrop(9)},
		"FiveCrop(9): not with Ragged and Sizes":                 {FiveCrop(9), Ragged()},
		"TenCrop(9, VerticalFlip()): not with Ragged":            {TenCrop(9, VerticalFlip()), Sizes("size")},
		"FiveCrop(9): must be among the steps of Views":          {Views(2, CenterCrop(9)), FiveCrop(9)},
		"want no Ragged and Sizes with Views, whose results all": {Ragged(), Views(2, FiveCrop(9))},
	} {
		if _, err := Images(imageOf(t, 40, 30, pixels(40, 30)), list...); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: %v, want %q", list, err, want)
		}
	}
	x, err := Images(imageOf(t, 40, 30, pixels(40, 30)), FiveCrop([2]int{31, 20}))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := dataset.At(t.Context(), x, 0); err == nil || !strings.Contains(err.Error(), "FiveCrop([31 20]): the image has only 30×40 pixels") {
		t.Errorf("a crop larger than the image: %v", err)
	}
	c, err := Compile(FiveCrop(9), ToTensor())
	if err != nil {
		t.Fatal(err)
	}
	if _, _, _, err := c.Append(nil, RGB(pixels(40, 30), 40, 30)); err == nil || !strings.Contains(err.Error(), "use Into") {
		t.Errorf("Append: %v", err)
	}
}
