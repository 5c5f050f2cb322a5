package transform_test

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/internal/dense"
	"github.com/penstock-go/penstock/internal/testenv"
	"github.com/penstock-go/penstock/loader"
	"github.com/penstock-go/penstock/transform"
)

// lcg fills values with the numbers of a linear congruential generator: whole numbers, or
// floats from 0 to 1.
func lcg[T uint8 | uint16 | int16 | float32](values []T, seed uint32) []T {
	x := seed
	for i := range values {
		x = 1664525*x + 1013904223
		if _, ok := any(values[i]).(float32); ok {
			values[i] = T(float32(x>>8) / (1 << 24))
		} else {
			values[i] = T(x >> 16)
		}
	}
	return values
}

// arrays is a dataset with one field of arrays, which gets all values.
func arrays(t testing.TB, dt dataset.Dtype, shape dataset.Shape, values []byte) dataset.Dataset {
	t.Helper()
	n := len(values) / shape.Elements() / dt.Size()
	ds, err := dataset.Tensors(dataset.Named("image", dataset.NewTensor(dt, append(dataset.Shape{n}, shape...), values)))
	if err != nil {
		t.Fatal(err)
	}
	return ds
}

// blobs is a dataset of files.
func blobs(files ...[]byte) dataset.Dataset {
	spec := dataset.Spec{{Name: "image", Dtype: dataset.Uint8, Ragged: true}}
	return dataset.Func(len(files), spec, func(_ context.Context, i int, dst dataset.Slot) error {
		copy(dataset.Grow[uint8](dst, 0, len(files[i])), files[i])
		return nil
	})
}

func images(t testing.TB, ds dataset.Dataset, list ...transform.Item) *transform.Pipeline {
	t.Helper()
	x, err := transform.Images(ds, list...)
	if err != nil {
		t.Fatal(err)
	}
	return x
}

func deepValues[T dataset.Element](t testing.TB, ds dataset.Dataset, i int) []T {
	t.Helper()
	s, err := dataset.At(t.Context(), ds, i)
	if err != nil {
		t.Fatal(err)
	}
	return dataset.ValuesOf[T](s["image"])
}

// random are steps with the filter Nearest, which computes no values.
var random = map[string][]transform.Item{
	"crop":     {transform.RandomCrop([2]int{20, 24}, transform.Padding(3, 5)), transform.RandomHorizontalFlip(0.5), transform.RandomVerticalFlip(0.5)},
	"smaller":  {transform.RandomCrop([2]int{60, 50}, transform.PadIfNeeded())},
	"resized":  {transform.RandomResizedCrop([2]int{17, 19}, transform.Interpolation(transform.Nearest)), transform.RandomHorizontalFlip(0.5)},
	"zoom":     {transform.RandomZoomOut(0.5), transform.Resize([2]int{23, 31}, transform.Interpolation(transform.Nearest))},
	"reflect":  {transform.Pad([4]int{4, 3, 2, 1}, transform.PaddingMode(transform.Reflect)), transform.RandomHorizontalFlip(0.5), transform.RandomCrop([2]int{37, 41})},
	"outside":  {transform.Crop(-5, 40, 20, 20)},
	"nothing":  {transform.Crop(-50, 40, 20, 20)},
	"beside":   {transform.Crop(5, 60, 20, 20)},
	"centre":   {transform.CenterCrop([2]int{45, 47})},
	"jitter":   {transform.ScaleJitter([2]int{29, 31}, transform.Interpolation(transform.Nearest)), transform.FixedSizeCrop([2]int{29, 31})},
	"applied":  {transform.RandomApply(0.5, transform.RandomCrop(30), transform.Pad(2)), transform.Resize([2]int{13, 11}, transform.Interpolation(transform.Nearest))},
	"choice":   {transform.RandomChoice(transform.RandomCrop(21), transform.CenterCrop(21)), transform.RandomVerticalFlip(0.5)},
	"order":    {transform.RandomOrder(transform.RandomHorizontalFlip(0.7), transform.RandomVerticalFlip(0.6)), transform.CenterCrop([2]int{30, 33})},
	"settings": {transform.RandomCrop([2]int{31, 29}), transform.PILToTensor()},
	"padded":   {transform.RandomCrop([2]int{31, 29}), transform.PILToTensor(), transform.PadTo([2]int{33, 40})},
	"reversed": {transform.RandomCrop([2]int{31, 29}), transform.BGR()},
}

func TestDrawsAndGeometryOfDepth16AreThoseOfColours(t *testing.T) {
	const n, h, w = 40, 43, 41
	for name, list := range random {
		for _, shape := range []dataset.Shape{{h, w, 3}, {3, h, w}} {
			var pix []byte // column, row and number of each pixel
			for i := range n {
				for k := range h * w * 3 {
					x, y, c := k/3%w, k/3/w, k%3
					if shape[0] == 3 {
						x, y, c = k%w, k/w%h, k/w/h
					}
					pix = append(pix, uint8([3]int{5 * x, 5 * y, 6 * i}[c]))
				}
			}
			ds := arrays(t, dataset.Uint8, shape, pix)
			read := func(list []transform.Item) []byte {
				return slices.Concat(loaded(t, images(t, ds, list...), nil, loader.Workers(2), loader.BatchSize(5), loader.Shuffle(true), loader.Seed(3))...)
			}
			want := read(list)
			off := 0
			for k, v := range read(append([]transform.Item{transform.Depth16(3)}, list...)) {
				if v == want[k] {
					continue
				}
				// Where Nearest has to choose between two pixels, torch takes either one.
				if d := int(v) - int(want[k]); !strings.Contains(fmt.Sprint(list), "nearest") || d != 5 && d != -5 {
					t.Fatalf("%s %v: value %d is %d with Depth16, want %d", name, shape, k, v, want[k])
				}
				off++
			}
			if 20*off > len(want) {
				t.Errorf("%s %v: %d of %d values are those of neighbours", name, shape, off, len(want))
			}
		}
	}
}

func TestResizesOfDepth16AreThoseOfColoursWithinALevel(t *testing.T) {
	const h, w = 61, 67
	pix := lcg(make([]uint8, 5*h*w*3), 2)
	for i, v := range pix {
		pix[i] = 64 + v/2 // no filter exceeds the range of bytes, at which colours are cut between two passes
	}
	ds := arrays(t, dataset.Uint8, dataset.Shape{h, w, 3}, pix)
	for filter := transform.Bilinear; filter <= transform.Hamming; filter++ {
		for _, size := range [][]int{{20, 30}, {90, 100}, {30, 100}, {20}} {
			list := []transform.Item{resizeTo(size, transform.Interpolation(filter)), transform.RandomHorizontalFlip(1), transform.CenterCrop([2]int{18, 25})}
			want, got := images(t, ds, list...), images(t, ds, append([]transform.Item{transform.Depth16(3)}, list...)...)
			for i := range ds.Len() {
				a, b := deepValues[uint8](t, want, i), deepValues[uint8](t, got, i)
				for k := range a {
					if d := int(a[k]) - int(b[k]); d < -1 || d > 1 {
						t.Fatalf("%v %v: value %d is %d, want %d", filter, size, k, b[k], a[k])
					}
				}
			}
		}
	}
}

// TestWarpsAndColoursOfDepth16HaveTheDrawsOfColours compares random steps. Warps of Pillow and of
// torchvision's tensors differ by rounding and along the edges of the image.
func TestWarpsAndColoursOfDepth16HaveTheDrawsOfColours(t *testing.T) {
	testenv.OneGoroutine(t)
	const n, h, w = 30, 43, 41
	pix := make([]byte, 0, n*h*w*3)
	for i := range n * h * w {
		x, y := i%w, i/w%h
		pix = append(pix, uint8(64+3*x), uint8(200-3*y), uint8(2*x+2*y))
	}
	ds := arrays(t, dataset.Uint8, dataset.Shape{h, w, 3}, pix)
	for name, test := range map[string]struct {
		step  transform.Step
		apart float64 // how many values may be more than a level apart
	}{
		"rotation":    {transform.RandomRotation(-40, 40, transform.Interpolation(transform.Bilinear)), 0.05},
		"nearest":     {transform.RandomRotation(-40, 40, transform.Center(3, 4)), 0.01},
		"affine":      {transform.RandomAffine(-20, 20, transform.Translate(0.2, 0.1), transform.Scale(0.7, 1.4), transform.Shear(-5, 5)), 0.01},
		"perspective": {transform.RandomPerspective(0.4, 0.7), 0.1},
		"elastic":     {transform.ElasticTransform(50, 5), 0},
		"cubic":       {transform.ElasticTransform(50, 3, transform.Interpolation(transform.Bicubic)), 0},
		"brightness":  {transform.ColorJitter(0.4, 0, 0, 0), 0},
		"contrast":    {transform.ColorJitter(0.3, 0.4, 0, 0), 0.01},
		"invert":      {transform.RandomInvert(0.5), 0},
		"solarize":    {transform.RandomSolarize(128, 0.5), 0},
		"stretch":     {transform.RandomAutocontrast(0.5), 0},
		"blur":        {transform.GaussianBlur([2]int{5, 9}), 0},
		"saturation":  {transform.ColorJitter(0, 0, 0.5, 0), 0},
		"hue":         {transform.ColorJitter(0, 0, 0, 0.3), 0.2},
		"grey":        {transform.RandomGrayscale(0.5), 0},
		"posterize":   {transform.RandomPosterize(3, 0.5), 0},
		"equalize":    {transform.RandomEqualize(0.5), 0},
		"sharpness":   {transform.RandomAdjustSharpness(1.7, 0.5), 0},
		"noise":       {transform.GaussianNoise(0.02, 0.1), 0},
		"permutation": {transform.RandomChannelPermutation(), 0},
		"distort":     {transform.RandomPhotometricDistort(0.5), 0.2},
		"randaugment": {transform.RandAugment(2, 9), 0.02},
		"trivial":     {transform.TrivialAugmentWide(), 0.02},
		"imagenet":    {transform.AutoAugment(transform.ImageNetPolicy), 0.02},
		"svhn":        {transform.AutoAugment(transform.SVHNPolicy), 0.02},
		"augmix":      {transform.AugMix(transform.Interpolation(transform.Nearest)), 0.02},
		"applied":     {transform.RandomApply(0.5, transform.GaussianBlur(3), transform.RandomInvert(0.3)), 0},
	} {
		list := []transform.Item{transform.CenterCrop([2]int{40, 41}), test.step}
		want, got := images(t, ds, list...), images(t, ds, append([]transform.Item{transform.Depth16(3)}, list...)...)
		apart, all := 0, 0
		for i := range n {
			a, b := deepValues[uint8](t, want, i), deepValues[uint8](t, got, i)
			for k := range a {
				if d := int(a[k]) - int(b[k]); d < -1 || d > 1 {
					apart++
				}
			}
			all += len(a)
		}
		if float64(apart) > test.apart*float64(all) {
			t.Errorf("%s: %d of %d values are apart", name, apart, all)
		}
	}
}

// TestWarpsOfDepth16BlendInItsFill moves pixels by halves.
func TestWarpsOfDepth16BlendInItsFill(t *testing.T) {
	ds := arrays(t, dataset.Float32, dataset.Shape{1, 1, 4}, dense.Bytes([]float32{1, 2, 3, 4}))
	for _, fill := range []float32{0, 100} {
		turn := transform.RandomRotation(180, 180, transform.Center(1.75, 0.5), transform.Interpolation(transform.Bilinear), transform.Fill(float64(fill)))
		got := deepValues[float32](t, images(t, ds, transform.Depth16(1), turn), 0)
		// The values between two pixels, and at the end half of a half and the fill.
		want := []float32{3.5, 2.5, 1.5, (0.5-fill)*0.5 + fill}
		for i, v := range got {
			if math.Abs(float64(v-want[i])) > 1e-4 {
				t.Errorf("fill %v: got %v, want %v", fill, got, want)
				break
			}
		}
	}
}

// TestValuesThatAreCutAndMirroredStayAsTheyAre compares all bits, also those of NaN and -0.
func TestValuesThatAreCutAndMirroredStayAsTheyAre(t *testing.T) {
	const c, h, w = 12, 9, 11
	steps := []transform.Item{transform.Depth16(c), transform.Crop(2, 3, 5, 6), transform.RandomHorizontalFlip(1), transform.RandomVerticalFlip(1)}
	floats := lcg(make([]float32, c*h*w), 3)
	for i := 0; i < len(floats); i += 7 {
		floats[i] = []float32{float32(math.NaN()), float32(math.Inf(-1)), float32(math.Copysign(0, -1)), 1e30}[i/7%4]
	}
	for dt, values := range map[dataset.Dtype][]byte{
		dataset.Uint8: lcg(make([]uint8, c*h*w), 4), dataset.Uint16: dense.Bytes(lcg(make([]uint16, c*h*w), 4)),
		dataset.Int16: dense.Bytes(lcg(make([]int16, c*h*w), 4)), dataset.Float32: dense.Bytes(floats),
	} {
		size := dt.Size()
		for _, planes := range []bool{false, true} {
			shape := dataset.Shape{h, w, c}
			at := func(c, y, x int) []byte { return values[((y*w+x)*12+c)*size:][:size] }
			if planes {
				shape = dataset.Shape{c, h, w}
				at = func(c, y, x int) []byte { return values[((c*h+y)*w+x)*size:][:size] }
			}
			want := map[bool][]byte{}
			for y := range 5 {
				for x := range 6 {
					for k := range c {
						want[false] = append(want[false], at(k, 2+4-y, 3+5-x)...)
					}
				}
			}
			for k := range c {
				for y := range 5 {
					for x := range 6 {
						want[true] = append(want[true], at(k, 2+4-y, 3+5-x)...)
					}
				}
			}
			for _, chw := range []bool{false, true} {
				list := steps
				if chw {
					list = append(slices.Clone(steps), transform.PILToTensor())
				}
				x := images(t, arrays(t, dt, shape, values), list...)
				if f := x.Spec()[0]; f.Dtype != dt {
					t.Errorf("%v becomes %v", dt, f)
				}
				cell := dataset.NewSlot(x.Spec()...)
				r, err := x.Open()
				if err != nil {
					t.Fatal(err)
				}
				if err := r.Place(t.Context(), 0, cell); err != nil {
					t.Fatal(err)
				}
				if !bytes.Equal(cell.Cell(0).Bytes(), want[chw]) {
					t.Errorf("%v %v, CHW %v: other values", dt, shape, chw)
				}
				r.Close()
			}
		}
	}
}
