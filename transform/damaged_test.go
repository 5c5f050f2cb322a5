package transform_test

import (
	"context"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/transform"
)

// object is a sample of 10×20 pixels (height×width) with annotations that may not fit.
type object struct {
	boxes  []float32
	labels int
	planes int // bytes
	mask   []byte
	groups int
}

func (o object) dataset() dataset.Dataset {
	spec := dataset.Spec{
		{Name: "image", Dtype: dataset.Uint8, Shape: dataset.Shape{10, 20, 3}},
		{Name: "boxes", Dtype: dataset.Float32, Shape: dataset.Shape{4}, Ragged: true},
		{Name: "label", Dtype: dataset.Int64, Ragged: true},
		{Name: "planes", Dtype: dataset.Uint8, Ragged: true},
		{Name: "mask", Dtype: dataset.Uint8, Ragged: true},
		{Name: "points", Dtype: dataset.Float32, Shape: dataset.Shape{2}, Ragged: true},
	}
	return dataset.Func(1, spec, func(_ context.Context, _ int, dst dataset.Slot) error {
		clear(dataset.Row[uint8](dst, 0))
		copy(dataset.Grow[float32](dst, 1, len(o.boxes)/4), o.boxes)
		clear(dataset.Grow[int64](dst, 2, o.labels))
		clear(dataset.Grow[uint8](dst, 3, o.planes))
		copy(dataset.Grow[uint8](dst, 4, len(o.mask)), o.mask)
		clear(dataset.Grow[float32](dst, 5, o.groups))
		return nil
	})
}

func TestAnnotationsThatDoNotFitTheirImageAreErrors(t *testing.T) {
	boxes, masks, mask := transform.Boxes("boxes", dataset.BoxesXYXY, transform.With("label")), transform.Masks("planes"), transform.Mask("mask")
	two := []float32{0, 0, 5, 5, 5, 5, 20, 10}
	for want, test := range map[string]struct {
		object
		steps []transform.Item
	}{
		`field "label" has 1 rows for 2 boxes`:                           {object{boxes: two, labels: 1}, []transform.Item{transform.Boxes("boxes", dataset.BoxesXYXY, transform.With("label"))}},
		`field "label" has 3 rows for 1 groups`:                          {object{groups: 1, labels: 3}, []transform.Item{transform.KeyPoints("points", transform.With("label"))}},
		`mask "planes": 399 values are no planes of 10×20`:               {object{planes: 399}, []transform.Item{masks}},
		`mask "planes": 3 planes for 2 boxes`:                            {object{boxes: two, labels: 2, planes: 600}, []transform.Item{boxes, masks}},
		`mask "mask": the file is empty`:                                 {object{}, []transform.Item{mask}},
		`mask "mask": it has 1×1 pixels (height×width), the image 10×20`: {object{mask: onePixel}, []transform.Item{mask}},
		"3 masks of 10000 pixels have more than the limit":               {object{planes: 600}, []transform.Item{transform.MaxPixels(20000), masks, transform.Resize([2]int{100, 100})}},
	} {
		x, err := transform.Images(test.dataset(), append(test.steps, transform.CenterCrop(100))...)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := dataset.At(t.Context(), x, 0); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

// onePixel is a grey PNG file of one pixel.
var onePixel = []byte("\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x00\x00\x00\x01\x00\x00\x00\x01\x08\x00\x00\x00\x00:~\x9bU\x00\x00\x00\nIDATx\x9cc`\x00\x00\x00\x02\x00\x01H\xaf\xa4q\x00\x00\x00\x00IEND\xaeB`\x82")

func TestBoxesThatAreNoNumbersPassAllSteps(t *testing.T) {
	nan, inf := float32(math.NaN()), float32(math.Inf(1))
	strange := []float32{nan, 1, 2, 3, -inf, 0, inf, 5, 9, 9, 3, 3, nan, nan, nan, nan, 1e38, -1e38, 1e38, 1e38}
	for _, format := range []dataset.Kind{dataset.BoxesXYXY, dataset.BoxesXYWH, dataset.BoxesCXCYWH} {
		x, err := transform.Images(object{boxes: strange, labels: 5, planes: 1000}.dataset(),
			transform.Boxes("boxes", format, transform.With("label")), transform.Masks("planes"),
			transform.RandomIoUCrop(), transform.RandomZoomOut(1), transform.ClampBoundingBoxes(),
			transform.RandomRotation(-30, 30), transform.RandomPerspective(0.9, 1), transform.ElasticTransform(50, 5), transform.ScaleJitter([2]int{30, 40}), transform.FixedSizeCrop([2]int{16, 16}),
			transform.ConvertBoundingBoxFormat(dataset.BoxesXYXY), transform.SanitizeBoundingBoxes())
		if err != nil {
			t.Fatal(err)
		}
		sample, err := dataset.At(t.Context(), x, 0)
		if err != nil {
			t.Fatal(err)
		}
		n := sample["label"].Shape()[0]
		if boxes, planes := sample["boxes"].Shape()[0], sample["planes"].Shape()[0]; boxes != n || planes != n {
			t.Errorf("%v: %d boxes and %d planes for %d labels", format, boxes, planes, n)
		}
	}
}

func TestMasksHaveTheirFillAndDtype(t *testing.T) {
	for _, several := range []bool{false, true} {
		mask, planes := transform.Mask("mask", transform.Fill(255), transform.Dtype(dataset.Int64)), transform.Masks("planes", transform.Fill(7), transform.Dtype(dataset.Int64))
		list := []transform.Item{mask, transform.Crop(-1, -1, 2, 3)}
		name, want := "mask", []int64{255, 255, 255, 255, 0, 255}
		o := object{mask: onePixel}
		if several {
			name, list[0], want, o = "planes", planes, []int64{7, 7, 7, 7, 0, 0, 7, 7, 7, 7, 0, 0}, object{planes: 400}
		}
		x, err := transform.Images(o.image(several), list...)
		if err != nil {
			t.Fatal(err)
		}
		sample, err := dataset.At(t.Context(), x, 0)
		if err != nil {
			t.Fatal(err)
		}
		if got := dataset.ValuesOf[int64](sample[name]); !slices.Equal(got, want) {
			t.Errorf("%v: %v, want %v", list, got, want)
		}
	}
}

// image is the dataset with an image of 20×10 pixels, or of one.
func (o object) image(large bool) dataset.Dataset {
	if large {
		return o.dataset()
	}
	spec := o.dataset().Spec()
	spec[0].Shape = dataset.Shape{1, 1, 3}
	return dataset.Func(1, spec, func(_ context.Context, _ int, dst dataset.Slot) error {
		clear(dataset.Row[uint8](dst, 0))
		copy(dataset.Grow[uint8](dst, 4, len(o.mask)), o.mask)
		return nil
	})
}
