package transform_test

import (
	"bytes"
	"context"
	"image"
	"image/color"
	"image/jpeg"
	"image/png"
	"slices"
	"strings"
	"testing"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/internal/datatest"
	"github.com/penstock-go/penstock/loader"
	"github.com/penstock-go/penstock/transform"
)

// scenes are JPEG files with a mask as PNG, boxes with labels, and keypoints. Image i
// has the size of i.
func scenes(t testing.TB, n int) dataset.Dataset {
	t.Helper()
	var photos, numbers [][]byte
	for i := range n {
		size := image.Pt(90+7*(i%5), 70+11*(i%3))
		m, p := image.NewRGBA(image.Rectangle{Max: size}), image.NewPaletted(image.Rectangle{Max: size}, color.Palette{color.Black, color.White, color.Gray{9}})
		for y := range size.Y {
			for x := range size.X {
				m.SetRGBA(x, y, color.RGBA{uint8(2 * x), uint8(2 * y), uint8(40 * i), 255})
				p.SetColorIndex(x, y, uint8((x/20+y/20)%3))
			}
		}
		var a, b bytes.Buffer
		if err := jpeg.Encode(&a, m, nil); err != nil {
			t.Fatal(err)
		}
		if err := png.Encode(&b, p); err != nil {
			t.Fatal(err)
		}
		photos, numbers = append(photos, a.Bytes()), append(numbers, b.Bytes())
	}
	spec := dataset.Spec{
		{Name: "image", Dtype: dataset.Uint8, Ragged: true},
		{Name: "boxes", Dtype: dataset.Float32, Shape: dataset.Shape{4}, Ragged: true},
		{Name: "label", Dtype: dataset.Int64, Ragged: true},
		{Name: "points", Dtype: dataset.Float32, Shape: dataset.Shape{2, 3}, Ragged: true},
		{Name: "mask", Dtype: dataset.Uint8, Ragged: true},
	}
	return dataset.Func(n, spec, func(_ context.Context, i int, dst dataset.Slot) error {
		copy(dataset.Grow[uint8](dst, 0, len(photos[i])), photos[i])
		objects := 1 + i%4
		boxes, labels, points := dataset.Grow[float32](dst, 1, objects), dataset.Grow[int64](dst, 2, objects), dataset.Grow[float32](dst, 3, objects)
		for k := range objects {
			x, y := float32(10+13*k), float32(5+9*k)
			copy(boxes[4*k:], []float32{x, y, x + 20, y + 30})
			labels[k] = int64(10*i + k)
			copy(points[6*k:], []float32{x, y, 2, x + 20, y + 30, 1})
		}
		copy(dataset.Grow[uint8](dst, 4, len(numbers[i])), numbers[i])
		return nil
	})
}

func detection(t testing.TB, n int) *transform.Pipeline {
	t.Helper()
	x, err := transform.Images(scenes(t, n),
		transform.Boxes("boxes", dataset.BoxesXYXY, transform.With("label", "points")), transform.KeyPoints("points"), transform.Mask("mask", transform.Fill(255)),
		transform.RandomZoomOut(0.5, transform.Fill(123, 117, 104)), transform.RandomIoUCrop(), transform.RandomHorizontalFlip(0.5),
		transform.Resize([2]int{60, 80}), transform.SanitizeBoundingBoxes(), transform.ToTensor())
	if err != nil {
		t.Fatal(err)
	}
	return x
}

func TestAnnotationsAreTheSameForAnyNumberOfWorkers(t *testing.T) {
	sameForAnyWorkers(t, detection(t, 40), nil, loader.BatchSize(7))
}

func TestAnnotationsAllocateNothing(t *testing.T) { allocatesNothing(t, detection(t, 12)) }

func TestRowsFollowTheirBoxes(t *testing.T) {
	x := detection(t, 40)
	l, err := loader.New(x, loader.Workers(0), loader.BatchSize(1))
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	removed := 0
	for b, err := range l.Epoch(t.Context(), 0) {
		if err != nil {
			t.Fatal(err)
		}
		i := b.Indices()[0]
		left := loader.Values[int64](b, "label")
		removed += 1 + i%4 - len(left)
		if boxes, points := len(loader.Values[float32](b, "boxes"))/4, len(loader.Values[float32](b, "points"))/6; boxes != len(left) || points != len(left) {
			t.Errorf("sample %d: %d boxes and %d groups of keypoints for the labels %v", i, boxes, points, left)
		}
		for k, label := range left {
			if label < int64(10*i) || label > int64(10*i+i%4) || k > 0 && label <= left[k-1] {
				t.Errorf("sample %d: labels %v", i, left)
			}
		}
	}
	if removed == 0 {
		t.Error("no box was removed")
	}
}

func TestAnnotationsThatDoNotFitAreErrors(t *testing.T) {
	boxes := func(options ...transform.Option) transform.Option {
		return transform.Boxes("boxes", dataset.BoxesXYXY, options...)
	}
	points := func(options ...transform.Option) transform.Option { return transform.KeyPoints("points", options...) }
	mask := func(options ...transform.Option) transform.Option { return transform.Mask("mask", options...) }
	for want, list := range map[string][]transform.Item{
		`Boxes("box", boxes xyxy): the dataset has no field "box", only image uint8`: {transform.Boxes("box", dataset.BoxesXYXY)},
		`Boxes("label", boxes xyxy): field label int64 (n): want ragged`:             {transform.Boxes("label", dataset.BoxesXYXY)},
		`Boxes("image", boxes xyxy): that is the field of the images`:                {transform.Boxes("image", dataset.BoxesXYXY)},
		"the field is declared already":                                              {boxes(), transform.KeyPoints("boxes")},
		"must come only once":                                                        {boxes(), transform.Boxes("points", dataset.BoxesXYWH)},
		"want other fields, each once":                                               {boxes(transform.With("boxes"))},
		`the dataset has no field "area"`:                                            {boxes(transform.With("area"))},
		"SanitizeKeyPoints(): want KeyPoints":                                        {boxes(), transform.SanitizeKeyPoints()},
		"SanitizeKeyPoints wants a ragged field that does not":                       {boxes(transform.With("points")), points(), transform.SanitizeKeyPoints()},
		`field "label" has the rows of another`:                                      {boxes(transform.With("label")), points(transform.With("label"))},
		`KeyPoints("points", With("points")): want other fields`:                     {points(transform.With("points"))},
		"KeyPoints(\"label\"): field label int64 (n): want float32":                  {transform.KeyPoints("label")},
		"Masks(\"boxes\"): field boxes float32 (n, 4): want ragged":                  {transform.Masks("boxes")},
		"want dataset.Uint8, dataset.Uint16, dataset.Int32":                          {mask(transform.Dtype(dataset.Float32))},
		"want a Fill up to 255 for uint8, not 256":                                   {mask(transform.Fill(256))},
		"SegmentIDs want Dtype(dataset.Int32)":                                       {mask(transform.SegmentIDs(), transform.Dtype(dataset.Uint16))},
		"has no option SegmentIDs":                                                   {transform.Masks("mask", transform.SegmentIDs(), transform.Dtype(dataset.Int32))},
		"RandomIoUCrop(): want Boxes":                                                {transform.RandomIoUCrop()},
		"SanitizeBoundingBoxes(): want Boxes":                                        {points(), transform.SanitizeBoundingBoxes()},
		"ClampKeyPoints(): want KeyPoints":                                           {boxes(), transform.ClampKeyPoints()},
		"Pad(1, PaddingMode(edge)): not with Boxes or KeyPoints":                     {boxes(), transform.Pad(1, transform.PaddingMode(transform.Edge))},
		"RandomCrop(9, Padding(1), PaddingMode(reflect)): not with Boxes":            {points(), transform.RandomCrop(9, transform.Padding(1), transform.PaddingMode(transform.Reflect))},
		"ExifTranspose(): not with Boxes, Mask, Masks or KeyPoints":                  {mask(), transform.ExifTranspose()},
		"not with Boxes, Mask, Masks or KeyPoints, which":                            {boxes(), transform.RandAugment(2, 9)},
		"RandomIoUCrop(Scale(0, 1)): want a Scale":                                   {boxes(), transform.RandomApply(0.5, transform.RandomIoUCrop(transform.Scale(0, 1)))},
		"want a MinSize of 1 or more":                                                {boxes(), transform.SanitizeBoundingBoxes(transform.MinSize(0))},
		"want a SideRange from 1 to 1048576":                                         {transform.RandomZoomOut(1, transform.SideRange(0.5, 2))},
		"RandomResize(5, 5): want a positive size, and a greater one":                {transform.RandomResize(5, 5)},
		"RandomShortestSize([]): want positive sizes":                                {transform.RandomShortestSize(nil)},
		"ScaleJitter(0): want a positive size":                                       {transform.ScaleJitter(0)},
		"FixedSizeCrop([0 4]): want a positive size":                                 {transform.FixedSizeCrop([2]int{0, 4})},
	} {
		_, err := transform.Images(scenes(t, 1), append(list, transform.CenterCrop(8))...)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: %v, want %q", list, err, want)
		}
	}
	if _, err := transform.Compile(mask(), transform.CenterCrop(8)); err == nil || !strings.Contains(err.Error(), "only for Images") {
		t.Errorf("Compile of a mask: %v", err)
	}
}

func TestThePlanShowsAllParts(t *testing.T) {
	got := detection(t, 1).String()
	for _, want := range []string{
		"image uint8 (n) → image float32 (3, 60, 80)",
		`move      Boxes("boxes", boxes xyxy, With("label", "points"))`,
		`move      KeyPoints("points")`,
		`move      Mask("mask", Fill(255))`,
		"window    RandomZoomOut(0.5, Fill(123, 117, 104)), RandomIoUCrop(), RandomHorizontalFlip(0.5)",
		"boxes     SanitizeBoundingBoxes()",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
}

func TestKeyPointsOutsideAreRemovedWithTheirRows(t *testing.T) {
	spec := dataset.Spec{
		{Name: "image", Dtype: dataset.Uint8, Shape: dataset.Shape{20, 30, 3}},
		{Name: "pairs", Dtype: dataset.Float32, Shape: dataset.Shape{2, 2}, Ragged: true},
		{Name: "label", Dtype: dataset.Int64, Ragged: true},
		{Name: "single", Dtype: dataset.Float32, Shape: dataset.Shape{3}, Ragged: true},
	}
	ds := dataset.Func(1, spec, func(_ context.Context, _ int, dst dataset.Slot) error {
		clear(dataset.Row[uint8](dst, 0))
		copy(dataset.Grow[float32](dst, 1, 4), []float32{5, 5, 14, 14, 4.5, 5, 9, 9, 5, 5, 15, 9, 6, 7, 8, 9})
		copy(dataset.Grow[int64](dst, 2, 4), []int64{1, 2, 3, 4})
		copy(dataset.Grow[float32](dst, 3, 3), []float32{14.5, 14.5, 2, 10, 15, 1, 5, 5, 0})
		return nil
	})
	x, err := transform.Images(ds, transform.KeyPoints("pairs", transform.With("label")), transform.KeyPoints("single"),
		transform.Crop(5, 5, 10, 10), transform.SanitizeKeyPoints())
	if err != nil {
		t.Fatal(err)
	}
	got := datatest.Sample(t, x, 0)
	if pairs := dataset.ValuesOf[float32](got["pairs"]); !slices.Equal(pairs, []float32{0, 0, 9, 9, 1, 2, 3, 4}) {
		t.Errorf("pairs %v", pairs)
	}
	if labels := dataset.ValuesOf[int64](got["label"]); !slices.Equal(labels, []int64{1, 4}) {
		t.Errorf("labels %v", labels)
	}
	if single := dataset.ValuesOf[float32](got["single"]); !slices.Equal(single, []float32{9.5, 9.5, 2, 0, 0, 0}) {
		t.Errorf("single points %v", single)
	}
}
