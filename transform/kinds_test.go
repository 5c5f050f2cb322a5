package transform_test

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/internal/datatest"
	"github.com/penstock-go/penstock/transform"
)

// said is a dataset whose fields are of these kinds. Its spec has no others.
type said struct {
	dataset.Wrap
	kinds map[string]dataset.Kind
	of    map[string]string
}

func (s said) Spec() dataset.Spec {
	spec := append(dataset.Spec{}, s.Dataset.Spec()...)
	for k, f := range spec {
		spec[k].Kind, spec[k].Of = s.kinds[f.Name], s.of[f.Name]
	}
	return spec
}

// kinds are those of scenes, whose keypoints belong to the boxes.
func saying(ds dataset.Dataset) said {
	return said{
		dataset.Wrap{Dataset: ds},
		map[string]dataset.Kind{"image": dataset.Image, "boxes": dataset.BoxesXYXY, "points": dataset.KeyPoints, "mask": dataset.Mask},
		map[string]string{"label": "boxes", "points": "boxes", "mask": "image"},
	}
}

// sameSamples compares all samples of two datasets.
func sameSamples(t *testing.T, got, want dataset.Dataset) {
	t.Helper()
	if got.Spec().String() != want.Spec().String() {
		t.Fatalf("got  %v\nwant %v", got.Spec(), want.Spec())
	}
	g, w := datatest.Open(t, got), datatest.Open(t, want)
	gs, ws := dataset.NewSlot(got.Spec()...), dataset.NewSlot(want.Spec()...)
	for i := range want.Len() {
		if err := g.Place(t.Context(), i, gs); err != nil {
			t.Fatal(err)
		}
		if err := w.Place(t.Context(), i, ws); err != nil {
			t.Fatal(err)
		}
		for k, f := range want.Spec() {
			same := bytes.Equal(gs.Cell(k).Bytes(), ws.Cell(k).Bytes())
			if f.Dtype == dataset.Float32 { // 0 may have become -0
				same = slices.Equal(dataset.Row[float32](gs, k), dataset.Row[float32](ws, k))
			}
			if !same {
				t.Errorf("sample %d: %v differs", i, f)
			}
		}
	}
}

func TestKindsMoveAsOptionsDo(t *testing.T) {
	options := []transform.Item{
		transform.Boxes("boxes", dataset.BoxesXYXY, transform.With("label", "points")), transform.KeyPoints("points"), transform.Mask("mask"),
	}
	for _, steps := range [][]transform.Item{
		{transform.RandomIoUCrop(), transform.RandomHorizontalFlip(0.5), transform.RandomRotation(-20, 20), transform.Resize([2]int{40, 50}), transform.SanitizeBoundingBoxes()},
		{transform.RandomResizedCrop(32), transform.SanitizeBoundingBoxes()},
	} {
		want, err := transform.Images(scenes(t, 6), append(options[:3:3], steps...)...)
		if err != nil {
			t.Fatal(err)
		}
		got, err := transform.Images(saying(scenes(t, 6)), steps...)
		if err != nil {
			t.Fatal(err)
		}
		sameSamples(t, got, want)
		if got.String() != want.String() {
			t.Errorf("got the plan\n%v\nwant\n%v", got, want)
		}
	}
}

// TestResultsSayTheirKinds: a second pipeline moves what the first one has made.
func TestResultsSayTheirKinds(t *testing.T) {
	flip := transform.RandomHorizontalFlip(1)
	once, err := transform.Images(saying(scenes(t, 3)), transform.CenterCrop(40), transform.ConvertBoundingBoxFormat(dataset.BoxesCXCYWH))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []dataset.Field{
		{Name: "image", Kind: dataset.Image}, {Name: "boxes", Kind: dataset.BoxesCXCYWH}, {Name: "label", Of: "boxes"},
		{Name: "points", Kind: dataset.KeyPoints, Of: "boxes"}, {Name: "mask", Kind: dataset.Mask, Of: "image"},
	} {
		if got := once.Spec()[once.Spec().Index(want.Name)]; got.Kind != want.Kind || got.Of != want.Of {
			t.Errorf("%s is %v of %q, want %v of %q", want.Name, got.Kind, got.Of, want.Kind, want.Of)
		}
	}
	if err := once.Spec().Validate(); err != nil {
		t.Error(err)
	}
	twice, err := transform.Images(once, flip)
	if err != nil {
		t.Fatal(err)
	}
	thrice, err := transform.Images(twice, flip)
	if err != nil {
		t.Fatal(err)
	}
	sameSamples(t, thrice, once)
}

// TestMasksOfAnotherImageStay: of two images, each moves with its own mask.
func TestMasksOfAnotherImageStay(t *testing.T) {
	shape := dataset.Shape{1, 3}
	spec := dataset.Spec{
		{Name: "left", Dtype: dataset.Uint8, Shape: shape, Kind: dataset.Image},
		{Name: "right", Dtype: dataset.Uint8, Shape: shape, Kind: dataset.Image},
		{Name: "mask", Dtype: dataset.Int64, Shape: shape, Kind: dataset.Mask, Of: "left"},
		{Name: "depth", Dtype: dataset.Uint16, Shape: shape, Kind: dataset.Mask, Of: "right"},
	}
	ds := dataset.Func(1, spec, func(_ context.Context, _ int, dst dataset.Slot) error {
		copy(dataset.Row[uint8](dst, 0), []uint8{1, 2, 3})
		copy(dataset.Row[uint8](dst, 1), []uint8{1, 2, 3})
		copy(dataset.Row[int64](dst, 2), []int64{1, 2, maxNumber})
		copy(dataset.Row[uint16](dst, 3), []uint16{1, 2, 65535})
		return nil
	})
	x, err := transform.Images(ds, transform.Field("left"), transform.RandomHorizontalFlip(1))
	if err != nil {
		t.Fatal(err)
	}
	s, err := dataset.At(t.Context(), x, 0)
	if err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprint(s["mask"].Data(), s["right"].Data(), s["depth"].Data()); got != "[16777215 2 1] [1 2 3] [1 2 65535]" {
		t.Errorf("got %s", got)
	}
	if got := x.String(); !strings.HasSuffix(got, "\n  pass on   right uint8 (1, 3), depth uint16 (1, 3)") {
		t.Errorf("got the plan\n%s", got)
	}
}

// TestMasksThatAnOptionDeclaresAreNoRows has planes of which the dataset says only that they belong to the boxes.
func TestMasksThatAnOptionDeclaresAreNoRows(t *testing.T) {
	spec := dataset.Spec{
		{Name: "image", Dtype: dataset.Uint8, Shape: dataset.Shape{2, 3}},
		{Name: "boxes", Dtype: dataset.Float32, Shape: dataset.Shape{4}, Ragged: true, Kind: dataset.BoxesXYXY},
		{Name: "planes", Dtype: dataset.Uint8, Ragged: true, Of: "boxes"},
	}
	ds := dataset.Func(1, spec, func(_ context.Context, _ int, dst dataset.Slot) error {
		copy(dataset.Grow[float32](dst, 1, 2), []float32{1, 1, 1, 1, 0, 0, 2, 2})
		copy(dataset.Grow[uint8](dst, 2, 12), []uint8{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11})
		return nil
	})
	x := images(t, ds, transform.Masks("planes"), transform.RandomHorizontalFlip(1), transform.SanitizeBoundingBoxes())
	s, err := dataset.At(t.Context(), x, 0)
	if err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprint(s["boxes"].Data(), s["planes"].Data()); got != "[1 0 3 2] [8 7 6 11 10 9]" {
		t.Errorf("got %s", got)
	}
}

// maxNumber is the greatest number of a mask.
const maxNumber = 1<<24 - 1

func TestKindsThatCannotMoveAreErrors(t *testing.T) {
	image := dataset.Field{Name: "image", Dtype: dataset.Uint8, Shape: dataset.Shape{4, 6, 3}, Kind: dataset.Image}
	boxes := dataset.Field{Name: "boxes", Dtype: dataset.Float32, Shape: dataset.Shape{4}, Ragged: true, Kind: dataset.BoxesXYXY}
	more := boxes
	more.Name = "more"
	soft := dataset.Field{Name: "mask", Dtype: dataset.Float32, Shape: dataset.Shape{4, 6}, Kind: dataset.Mask}
	ids := dataset.Field{Name: "ids", Dtype: dataset.Uint8, Ragged: true, Kind: dataset.Segments}
	file := image
	file.Shape, file.Ragged = nil, true
	for want, c := range map[string]struct {
		spec dataset.Spec
		list []transform.Item
	}{
		`Boxes("more", boxes xyxy): must come only once: field "boxes" holds boxes, too`: {dataset.Spec{image, boxes, more}, nil},
		`Mask("mask"): want dataset.Uint8, dataset.Uint16, dataset.Int32`:                {dataset.Spec{image, soft}, nil},
		`Mask("ids", Dtype(uint8)): SegmentIDs want Dtype(dataset.Int32)`:                {dataset.Spec{image, ids}, []transform.Item{transform.Mask("ids", transform.Dtype(dataset.Uint8))}},
		`ExifTranspose(): not with Boxes, Mask, Masks or KeyPoints, which belong to`:     {dataset.Spec{file, boxes}, []transform.Item{transform.ExifTranspose()}},
		`FiveCrop(2): not with Boxes, Mask, Masks or KeyPoints`:                          {dataset.Spec{image, boxes}, []transform.Item{transform.FiveCrop(2)}},
	} {
		ds := dataset.Func(1, c.spec, func(context.Context, int, dataset.Slot) error { return nil })
		if _, err := transform.Images(ds, append(c.list, transform.CenterCrop(2))...); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
	wide := dataset.Field{Name: "mask", Dtype: dataset.Int64, Shape: dataset.Shape{4, 6}, Kind: dataset.Mask}
	ds := dataset.Func(1, dataset.Spec{image, wide}, func(_ context.Context, _ int, dst dataset.Slot) error {
		clear(dataset.Row[uint8](dst, 0))
		dataset.Row[int64](dst, 1)[3] = -100
		return nil
	})
	x, err := transform.Images(ds, transform.CenterCrop(2))
	if err != nil {
		t.Fatal(err)
	}
	const want = `mask "mask": numbers from -100 to 0, want 0 to 16777215`
	if _, err := dataset.At(t.Context(), x, 0); err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("got %v, want %s", err, want)
	}
}

// withField is a dataset of one image of 4×6 pixels and one more field.
func withField(f dataset.Field, content []byte) dataset.Dataset {
	spec := dataset.Spec{{Name: "image", Dtype: dataset.Uint8, Shape: dataset.Shape{4, 6, 3}}, f}
	return dataset.Func(1, spec, func(_ context.Context, _ int, dst dataset.Slot) error {
		clear(dataset.Row[uint8](dst, 0))
		if f.Ragged {
			dst.Cell(1).Grow(len(content))
		}
		copy(dst.Cell(1).Bytes(), content)
		return nil
	})
}

func fieldOfBytes(name string) dataset.Field {
	return dataset.Field{Name: name, Dtype: dataset.Uint8, Ragged: true}
}

func TestThePlanListsWhatPassesThrough(t *testing.T) {
	last := func(x *transform.Pipeline, err error) string {
		if err != nil {
			t.Fatal(err)
		}
		lines := strings.Split(x.String(), "\n")
		return lines[len(lines)-1]
	}
	crop := transform.CenterCrop(8)
	for want, got := range map[string]string{
		"  pass on   label int64 (n), mask uint8 (n)": last(transform.Images(scenes(t, 1),
			transform.Boxes("boxes", dataset.BoxesXYXY, transform.With("points")), crop)),
		"  pass on   label int64 (n), points float32 (n, 2, 3)": last(transform.Images(scenes(t, 1),
			transform.Mask("mask"), transform.Apply(step(nil), "boxes"), crop)),
		"  store     uint8 HWC": last(transform.Images(withField(fieldOfBytes("mask"), nil), transform.Mask("mask"), transform.CenterCrop(2))),
	} {
		if got != want {
			t.Errorf("got  %q\nwant %q", got, want)
		}
	}
}
