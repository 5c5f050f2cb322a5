package transform_test

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/internal/datatest"
	"github.com/penstock-go/penstock/loader"
	"github.com/penstock-go/penstock/transform"
)

// photosOf are the images of scenes with their labels.
func photosOf(t testing.TB, n int) dataset.Dataset {
	t.Helper()
	ds, err := dataset.Select(scenes(t, n), "image", "label")
	if err != nil {
		t.Fatal(err)
	}
	return ds
}

func multiCrop(t testing.TB, n int) *transform.Pipeline {
	t.Helper()
	x, err := transform.Images(photosOf(t, n),
		transform.Views(2, transform.RandomResizedCrop(32, transform.Scale(0.4, 1)), transform.RandomHorizontalFlip(0.5),
			transform.ColorJitter(0.4, 0.4, 0.2, 0.1), transform.ToTensor(), transform.As("global")),
		transform.Views(3, transform.RandomResizedCrop([2]int{16, 20}, transform.Scale(0.05, 0.4)), transform.ToTensor(), transform.As("local")))
	if err != nil {
		t.Fatal(err)
	}
	return x
}

func TestViewsOfOneStepListAreEqualWithoutDraws(t *testing.T) {
	list := []transform.Item{transform.Resize(40), transform.CenterCrop(32), transform.ToTensor()}
	one, err := transform.Images(photosOf(t, 6), list...)
	if err != nil {
		t.Fatal(err)
	}
	three, err := transform.Images(photosOf(t, 6), transform.Views(3, list...))
	if err != nil {
		t.Fatal(err)
	}
	for i := range one.Len() {
		want := datatest.Sample(t, one, i)
		got := datatest.Sample(t, three, i)
		if shape := got["image"].Shape(); !slices.Equal(shape, dataset.Shape{3, 3, 32, 32}) {
			t.Fatalf("shape %v", shape)
		}
		values, size := dataset.ValuesOf[float32](got["image"]), 3*32*32
		for k := range 3 {
			if !slices.Equal(values[k*size:][:size], dataset.ValuesOf[float32](want["image"])) {
				t.Errorf("sample %d: view %d differs from the image alone", i, k)
			}
		}
	}
}

// TestViewsHaveThePixelsOfTheirCrops compares views with single images for which the crops
// are fixed, so that a shared window is seen to change nothing.
func TestViewsHaveThePixelsOfTheirCrops(t *testing.T) {
	left := []transform.Item{transform.Crop(3, 5, 30, 20), transform.Resize([2]int{16, 16})}
	right := []transform.Item{transform.Crop(20, 44, 40, 40), transform.RandomHorizontalFlip(1), transform.Grayscale(3), transform.Resize([2]int{24, 16}), transform.ToTensor()}
	beyond := []transform.Item{transform.Crop(-4, 70, 24, 40)}
	both, err := transform.Images(photosOf(t, 5), transform.Views(1, append(slices.Clone(left), transform.As("left"))...), transform.Views(2, append(slices.Clone(right), transform.As("right"))...),
		transform.Views(1, append(slices.Clone(beyond), transform.As("beyond"))...))
	if err != nil {
		t.Fatal(err)
	}
	for name, list := range map[string][]transform.Item{"left": left, "right": right, "beyond": beyond} {
		alone, err := transform.Images(photosOf(t, 5), list...)
		if err != nil {
			t.Fatal(err)
		}
		for i := range both.Len() {
			want := datatest.Sample(t, alone, i)
			got := datatest.Sample(t, both, i)
			if name == "right" {
				a, b := dataset.ValuesOf[float32](got[name]), dataset.ValuesOf[float32](want["image"])
				if !slices.Equal(a, append(slices.Clone(b), b...)) {
					t.Errorf("sample %d: %s differs", i, name)
				}
			} else if !bytes.Equal(dataset.ValuesOf[uint8](got[name]), dataset.ValuesOf[uint8](want["image"])) {
				t.Errorf("sample %d: %s differs", i, name)
			}
		}
	}
}

func TestViewsDifferAndAreTheSameForAnyNumberOfWorkers(t *testing.T) {
	sameForAnyWorkers(t, multiCrop(t, 20), func(b *loader.Batch) {
		for _, name := range []string{"global", "local"} {
			n := 4 * b.Tensor(name).Shape()[2:].Elements()
			if one := b.Bytes(name); bytes.Equal(one[:n], one[n:2*n]) {
				t.Error("two views of an image are equal")
			}
		}
	}, loader.BatchSize(3))
}

func TestViewsAllocateNothing(t *testing.T) { allocatesNothing(t, multiCrop(t, 8)) }

func TestViewsThatCannotBeAreErrors(t *testing.T) {
	ok := []transform.Item{transform.CenterCrop(8), transform.ToTensor()}
	for want, list := range map[string][]transform.Item{
		"want 1 to 1024 views":                    {transform.Views(0, ok...)},
		"a step is nil":                           {transform.Views(2, nil)},
		"the size varies":                         {transform.Views(2, transform.Resize(8))},
		`Views(3, …): want As with another field`: {transform.Views(2, ok...), transform.Views(3, ok...)},
		`Views(3, …, As("label")): the dataset has a field of that name`: {transform.Views(2, ok...), transform.Views(3, append(slices.Clone(ok), transform.As("label"))...)},
		"size varies": {transform.Views(2, ok...), transform.Views(3, transform.Resize(8), transform.As("label"))}, // next to the field's name
		"Resize(20): must be among the steps of Views":     {transform.Resize(20), transform.Views(2, ok...)},
		"ToTensor(): must be among the steps of Views":     {transform.Views(2, ok...), transform.ToTensor()},
		"BGR(): must be among the steps of Views":          {transform.BGR(), transform.Views(2, ok...)},
		"ToDtype(int32): must be among the steps of Views": {transform.Depth16(3), transform.ToDtype(dataset.Int32), transform.Views(2, transform.CenterCrop(8))},
		"want no Ragged and Sizes with Views":              {transform.Sizes("size"), transform.Views(2, ok...)},
		"not with Boxes, Mask, Masks or KeyPoints":         {transform.Mask("masks"), transform.Views(2, ok...)},
		"): has no option MaxPixels":                       {transform.Views(2, append(ok, transform.MaxPixels(9))...)},
		"): has no option Depth16":                         {transform.Views(2, transform.Depth16(1), transform.CenterCrop(8), transform.ToTensor())},
		`): has no option Ragged`:                          {transform.Views(2, transform.Mask("mask"), transform.CenterCrop(8), transform.Ragged())},
		`): has no option Mask`:                            {transform.Views(2, transform.Mask("mask"), transform.CenterCrop(8))},
		"): not within Views":                              {transform.Views(2, transform.Views(2, ok...))},
		"must not be part of a random step":                {transform.RandomApply(0.5, transform.Views(2, ok...))},
	} {
		if _, err := transform.Images(scenes(t, 1), list...); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: %v, want %q", list, err, want)
		}
	}
	if _, err := transform.Compile(transform.Views(2, ok...)); err == nil || !strings.Contains(err.Error(), "only for Images") {
		t.Errorf("Compile of Views: %v", err)
	}
}

func TestThePlanShowsAllViews(t *testing.T) {
	got := multiCrop(t, 1).String()
	for _, want := range []string{
		"image uint8 (n)\n  decode    to RGB, once, only the window in which all views are\n",
		"views     global float32 (2, 3, 32, 32)\n    resample  RandomResizedCrop(32, Scale(0.4, 1)), RandomHorizontalFlip(0.5)\n    augment   ColorJitter",
		"views     local float32 (3, 3, 16, 20)\n",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
}
