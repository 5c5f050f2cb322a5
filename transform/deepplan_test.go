package transform_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/internal/dense"
	"github.com/penstock-go/penstock/internal/testenv"
	"github.com/penstock-go/penstock/transform"
)

func TestDtypesOfDepth16(t *testing.T) {
	const c, h, w = 2, 3, 4
	pix := lcg(make([]uint16, c*h*w), 5)
	ds := arrays(t, dataset.Uint16, dataset.Shape{c, h, w}, dense.Bytes(pix))
	check := func(name string, got []float32, want func(v uint16, c int) float32) {
		t.Helper()
		for i, v := range pix {
			if w := want(v, i/(h*w)); got[i] != w {
				t.Errorf("%s: %d becomes %v, want %v", name, v, got[i], w)
				return
			}
		}
	}
	depth := transform.Depth16(c)
	check("ToTensor", deepValues[float32](t, images(t, ds, depth, transform.ToTensor()), 0),
		func(v uint16, _ int) float32 { return float32(v) / 65535 })
	check("Scale", deepValues[float32](t, images(t, ds, depth, transform.ToDtype(dataset.Float32, transform.Scaled())), 0),
		func(v uint16, _ int) float32 { return float32(v) * float32(1.0/65535) })
	check("ToDtype(float32)", deepValues[float32](t, images(t, ds, depth, transform.PILToTensor(), transform.ToDtype(dataset.Float32)), 0),
		func(v uint16, _ int) float32 { return float32(v) })
	check("Rescale", deepValues[float32](t, images(t, ds, depth, transform.Rescale(0.001)), 0),
		func(v uint16, _ int) float32 { return float32(float64(v) * 0.001) })
	check("Normalize", deepValues[float32](t, images(t, ds, depth, transform.ToTensor(), transform.Normalize([]float32{0.1, 0.2}, []float32{3, 4})), 0),
		func(v uint16, c int) float32 {
			return float32(float32(v)/65535-[]float32{0.1, 0.2}[c]) / []float32{3, 4}[c]
		})
	whole := deepValues[int32](t, images(t, ds, depth, transform.PILToTensor(), transform.ToDtype(dataset.Int32)), 0)
	floats := make([]float32, len(whole))
	for i, v := range whole {
		floats[i] = float32(v)
	}
	check("ToDtype(int32)", floats, func(v uint16, _ int) float32 { return float32(v) })
	for i, v := range deepValues[dataset.F16](t, images(t, ds, depth, transform.ToTensor(), transform.ToDtype(dataset.Float16)), 0) {
		floats[i] = v.Float32()
	}
	check("float16", floats, func(v uint16, _ int) float32 { return dataset.ToF16(float32(v) * float32(1.0/65535)).Float32() })
}

func TestFillIsAmongTheValuesOfDepth16(t *testing.T) {
	pix := []uint16{1000, 2000}
	ds := arrays(t, dataset.Uint16, dataset.Shape{2, 1, 1}, dense.Bytes(pix))
	for _, test := range []struct {
		fill []float64
		want []uint16
	}{
		{[]float64{0}, []uint16{0, 1000, 0, 0, 2000, 0}},
		{[]float64{65535}, []uint16{65535, 1000, 65535, 65535, 2000, 65535}},
		{[]float64{7, 8}, []uint16{7, 1000, 7, 8, 2000, 8}},
	} {
		fill := transform.Fill(test.fill...)
		for _, step := range []transform.Item{transform.Pad([2]int{1, 0}, fill), transform.CenterCrop([2]int{1, 3}, fill), transform.RandomCrop([2]int{1, 3}, transform.Padding(1, 0), fill)} {
			if got := deepValues[uint16](t, images(t, ds, transform.Depth16(2), step, transform.PILToTensor()), 0); !slices.Equal(got, test.want) {
				t.Errorf("%v: got %v, want %v", step, got, test.want)
			}
		}
	}
}

func TestEveryStepOfDepth16HasItsOwnFill(t *testing.T) {
	ds := arrays(t, dataset.Uint16, dataset.Shape{2, 1, 1}, dense.Bytes([]uint16{1000, 2000}))
	wide := [2]int{1, 0}
	list := []transform.Item{transform.Pad(wide, transform.Fill(7, 8)), transform.Compose(transform.Pad(wide), transform.RandomHorizontalFlip(1)),
		transform.RandomOrder(transform.Pad(wide, transform.Fill(65535))), transform.CenterCrop([2]int{1, 9}, transform.Fill(7, 9)), transform.PILToTensor()}
	want := []uint16{7, 65535, 0, 7, 1000, 7, 0, 65535, 7, 9, 65535, 0, 8, 2000, 8, 0, 65535, 9}
	for _, steps := range [][]transform.Item{list, {transform.Views(1, list...)}} {
		if got := deepValues[uint16](t, images(t, ds, append([]transform.Item{transform.Depth16(2)}, steps...)...), 0); !slices.Equal(got, want) {
			t.Errorf("%v: got %v, want %v", steps, got, want)
		}
	}
}

func TestDepth16SaysWhatIsWrong(t *testing.T) {
	bands := arrays(t, dataset.Uint16, dataset.Shape{12, 8, 8}, make([]byte, 12*8*8*2))
	floats := arrays(t, dataset.Float32, dataset.Shape{8, 8}, make([]byte, 8*8*4))
	photo := arrays(t, dataset.Uint16, dataset.Shape{3, 8, 8}, make([]byte, 3*8*8*2))
	depth := transform.Depth16(12)
	for _, test := range []struct {
		ds   dataset.Dataset
		list []transform.Item
		want string
	}{
		{bands, []transform.Item{transform.Depth16(0)}, "Depth16(0): want 1 to 4096 channels"},
		{bands, []transform.Item{transform.Depth16(3)}, "want 3 channels as Depth16 says: the shape (h, w, 3) or (3, h, w)"},
		{bands, []transform.Item{depth, transform.Pad(1, transform.Fill(1, 2))}, "Pad(1, Fill(1, 2)): want a Fill per channel, or one for all"},
		{bands, []transform.Item{depth, depth}, "must come only once"},
		{bands, []transform.Item{depth, transform.Grayscale(1)}, "Grayscale(1): want 1 or 3 channels, not 12: the others are no colours"},
		{bands, []transform.Item{depth, transform.RandomGrayscale(0.5)}, "RandomGrayscale(0.5): want 1 or 3 channels"},
		{bands, []transform.Item{depth, transform.RandomPhotometricDistort(0.5)}, "RandomPhotometricDistort(0.5): want 1 or 3 channels"},
		{bands, []transform.Item{depth, transform.RandAugment(2, 9)}, "RandAugment(2, 9): want 1 or 3 channels"},
		{photo, []transform.Item{transform.Depth16(3), transform.RandAugment(2, 9, transform.Interpolation(transform.Bicubic))}, "want the Interpolation Nearest or Bilinear with Depth16"},
		{photo, []transform.Item{transform.Depth16(3), transform.Grayscale(1), transform.Pad(1, transform.Fill(1, 2, 3))}, "want a Fill per channel, or one for all"},
		{floats, []transform.Item{transform.Depth16(1), transform.RandomApply(0.5, transform.Grayscale(3)), transform.ToTensor()}, "must not be part of a random step"},
		{floats, []transform.Item{transform.Depth16(1), transform.Grayscale(3), transform.ToTensor(), transform.Normalize([]float32{1, 2}, []float32{1})}, "the image has 3 channels"},
		{bands, []transform.Item{depth, transform.JPEG(50, 90)}, "JPEG(50, 90): not with Depth16: it works with colours of 8 bits"},
		{bands, []transform.Item{depth, transform.RandomApply(0.5, transform.JPEG(50, 90))}, "JPEG(50, 90): not with Depth16"},
		{bands, []transform.Item{depth, transform.ToTensor(), transform.Normalize(transform.ImageNetMean, transform.ImageNetStd)}, "the image has 12 channels"},
		{bands, []transform.Item{depth, transform.ToTensor(), transform.ToDtype(dataset.Int32)}, "ToDtype(int32): want it without ToTensor"},
		{bands, []transform.Item{depth, transform.ToDtype(dataset.Int64)}, "want dataset.Uint16, dataset.Int32, dataset.Float32"},
		{bands, []transform.Item{depth, transform.BGR()}, "want 3 channels"},
		{bands, []transform.Item{depth, transform.RandomRotation(0, 9, transform.Interpolation(transform.Bicubic))}, "want the Interpolation Nearest or Bilinear with Depth16"},
		{bands, []transform.Item{depth, transform.ElasticTransform(50, 5, transform.Fill(1, 1, 1))}, "want a Fill per channel, or one for all"},
		{bands, []transform.Item{depth, transform.ColorJitter(0.1, 0.1, 0.1, 0)}, "ColorJitter(0.1, 0.1, 0.1, 0): want 1 or 3 channels, not 12"},
		{floats, []transform.Item{transform.Depth16(1), transform.ToDtype(dataset.Uint16)}, "uint16 does not hold its values"},
		{floats, nil, "want uint8"},
	} {
		_, err := transform.Images(test.ds, test.list...)
		if err == nil || !strings.Contains(err.Error(), test.want) || !strings.HasPrefix(err.Error(), "transform: ") {
			t.Errorf("%v: got %v, want %q", test.list, err, test.want)
		}
	}
}

func TestDepth16PrintsItsPlan(t *testing.T) {
	ds := arrays(t, dataset.Uint16, dataset.Shape{12, 9, 9}, make([]byte, 12*9*9*2))
	got := fmt.Sprint(images(t, ds, transform.Depth16(12), transform.Resize(8), transform.CenterCrop(4), transform.ToTensor()))
	want := `image uint16 (12, 9, 9) → image float32 (12, 4, 4)
  decode    Depth16(12), only the window that the steps need
  resample  Resize(8), CenterCrop(4)
  store     ToTensor(), float32 CHW`
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestDepth16AllocatesNothing(t *testing.T) {
	testenv.OneGoroutine(t)
	ds := arrays(t, dataset.Uint16, dataset.Shape{5, 40, 44}, dense.Bytes(lcg(make([]uint16, 8*5*40*44), 1)))
	allocatesNothing(t, images(t, ds, transform.Depth16(5), transform.RandomResizedCrop(20), transform.RandomHorizontalFlip(0.5), transform.Pad(2, transform.PaddingMode(transform.Edge)),
		transform.RandomRotation(-20, 20, transform.Interpolation(transform.Bilinear)), transform.ElasticTransform(20, 3), transform.ElasticTransform(20, 3, transform.Interpolation(transform.Bicubic)), transform.GaussianBlur(5), transform.ColorJitter(0.3, 0.3, 0, 0),
		transform.Apply(negative{}), transform.ToTensor(), transform.Normalize([]float32{0.5}, []float32{0.25}), transform.RandomErasing(0.5)))
	ds = arrays(t, dataset.Uint16, dataset.Shape{3, 40, 44}, dense.Bytes(lcg(make([]uint16, 8*3*40*44), 1)))
	allocatesNothing(t, images(t, ds, transform.Depth16(3), transform.ColorJitter(0.3, 0.3, 0.3, 0.1), transform.RandomPhotometricDistort(0.5), transform.RandomGrayscale(0.3),
		transform.RandomEqualize(0.5), transform.RandomPosterize(5, 0.5), transform.RandomAdjustSharpness(2, 0.5), transform.RandomChannelPermutation(),
		transform.GaussianNoise(0, 0.1), transform.RandAugment(2, 9), transform.TrivialAugmentWide(), transform.AutoAugment(transform.CIFAR10Policy), transform.AugMix(),
		transform.Grayscale(1), transform.CenterCrop(32), transform.Grayscale(3), transform.ToTensor()))
}

func TestViewsOfCropsKeepTheArraysAsTheyAre(t *testing.T) {
	values := lcg(make([]int16, 8*8), 3)
	ds := arrays(t, dataset.Int16, dataset.Shape{8, 8}, dense.Bytes(values))
	x := images(t, ds, transform.Depth16(1), transform.Views(2, transform.FiveCrop(4)))
	if got, want := x.Spec()[0].String(), "image int16 (2, 5, 4, 4, 1)"; got != want {
		t.Fatalf("the result is %s, want %s", got, want)
	}
	got := deepValues[int16](t, x, 0)
	for view := range 2 {
		for crop, corner := range [][2]int{{0, 0}, {4, 0}, {0, 4}, {4, 4}, {2, 2}} {
			for k := range 16 {
				want := values[8*(corner[1]+k/4)+corner[0]+k%4]
				if v := got[(view*5+crop)*16+k]; v != want {
					t.Fatalf("view %d, crop %d, value %d is %d, want %d", view, crop, k, v, want)
				}
			}
		}
	}
}
