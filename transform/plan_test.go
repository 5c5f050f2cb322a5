package transform

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestPlanShowsWhatRunsTogether(t *testing.T) {
	normalize := "ToTensor(), Normalize([0.485 0.456 0.406], [0.229 0.224 0.225]), float32 CHW"
	for _, c := range []struct {
		steps []Item
		want  string
	}{
		{[]Item{Eval(224)}, `
image uint8 (n) → image float32 (3, 224, 224)
  decode    to RGB, only the window that the steps need
  resample  Resize(256), CenterCrop(224)
  store     ` + normalize},
		{[]Item{Train(224)}, `
image uint8 (n) → image float32 (3, 224, 224)
  decode    to RGB, only the window that the steps need
  resample  RandomResizedCrop(224), RandomHorizontalFlip(0.5)
  store     ` + normalize},
		{[]Item{CenterCrop(300), Resize([2]int{200, 100}, Interpolation(Lanczos)), RandomVerticalFlip(0.1), Resize(64), Apply(nothing{}),
			RandomCrop(32, Padding(4)), ColorJitter(0.4, 0.4, 0.4, 0.1), Grayscale(1), PILToTensor()}, `
image uint8 (n) → image uint8 (1, 32, 32)
  decode    to RGB, only the window that the steps need
  resample  CenterCrop(300), Resize([200 100], Interpolation(lanczos)), RandomVerticalFlip(0.1)
  resample  Resize(64)
  augment   transform.nothing
  window    RandomCrop(32, Padding(4))
  augment   ColorJitter(0.4, 0.4, 0.4, 0.1)
  augment   Grayscale(1)
  store     PILToTensor(), uint8 CHW`},
	} {
		x, err := Images(encoded(nil), c.steps...)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(strings.TrimPrefix(c.want, "\n"), fmt.Sprintf("%v", x)); diff != "" {
			t.Errorf("%v: want -, got +\n%s", c.steps, diff)
		}
	}
}

func TestWrongStepsAreReportedTogether(t *testing.T) {
	_, err := Images(encoded(nil), CenterCrop(0), nil, Resize([2]int{1, 2}, MaxSize(3)), Resize(5, MaxSize(5)),
		RandomCrop(3, Padding(1, 2, 3)), RandomHorizontalFlip(1.5), ColorJitter(0, 0, 0, 0.6), Grayscale(2),
		Normalize(ImageNetMean, ImageNetStd), RandomErasing(0.5), MaxPixels(0), Field(""), Layout(7), Apply(nil),
		RandomResizedCrop(8, Scale(0.5, 0.1)), Eval(0), Pad(-1),
		ToTensor(), ToTensor(), Resize(3), Normalize([]float32{1, 2}, []float32{1}), Normalize([]float32{1}, []float32{0}))
	want := []string{
		"transform: a step is nil",
		"transform: MaxPixels(0): want a positive number",
		`transform: Field(""): want a name`,
		"transform: Layout(unknown): want CHW or HWC",
		"transform: CenterCrop(0): want a positive size",
		"transform: Resize([1 2], MaxSize(3)): want a MaxSize only with the shorter side",
		"transform: Resize(5, MaxSize(5)): want a MaxSize above the shorter side",
		"transform: RandomCrop(3, Padding(1, 2, 3)): want 1, 2 or 4 widths",
		"transform: RandomHorizontalFlip(1.5): want a probability from 0 to 1",
		"transform: ColorJitter(0, 0, 0, 0.6): want a hue up to 0.5",
		"transform: Grayscale(2): want 1 or 3 channels",
		"transform: Normalize([0.485 0.456 0.406], [0.229 0.224 0.225]): must come after ToTensor",
		"transform: RandomErasing(0.5): must come after ToTensor",
		"transform: Apply(nil): want a Transform or a SampleTransform",
		"transform: RandomResizedCrop(8, Scale(0.5, 0.1)): want a Scale above 0, with the least number first",
		"transform: Eval(0): want a positive size",
		"transform: Pad(-1): want widths of 0 or more",
		"transform: ToTensor(): want only one of ToTensor, PILToTensor, Rescale and ToDtype with Scaled",
		"transform: Resize(3): must come before ToTensor and PILToTensor",
		"transform: Normalize([1 2], [1]): want one mean and standard deviation for all channels, or one for each: the image has 3 channels",
		"transform: Normalize([1], [0]): want finite standard deviations other than 0",
	}
	if diff := cmp.Diff(strings.Join(want, "\n"), fmt.Sprint(err)); diff != "" {
		t.Errorf("want -, got +\n%s", diff)
	}
}

func TestPresetsNormaliseOnce(t *testing.T) {
	again := Normalize([]float32{0.5}, []float32{0.5})
	const already = " has normalised already: for other numbers, list its steps yourself"
	for _, c := range []struct {
		steps []Item
		want  string
	}{
		{[]Item{Eval(224), again}, "transform: Normalize([0.5], [0.5]): Eval(224)" + already},
		{[]Item{Compose(Train(96)), RandomErasing(0.5), again}, "transform: Normalize([0.5], [0.5]): Train(96)" + already},
		{[]Item{Train(96), RandomErasing(0.5)}, "<nil>"},
	} {
		if _, err := Images(encoded(nil), c.steps...); fmt.Sprint(err) != c.want {
			t.Errorf("%v: error %v\nwant %s", c.steps, err, c.want)
		}
	}
}

func TestSizeThatVariesSaysWhatToAdd(t *testing.T) {
	_, err := Images(encoded(nil), CenterCrop(300), Resize(20, MaxSize(30)), RandomResizedCrop(9), Resize(5))
	if err != nil {
		t.Errorf("of a known size: %v", err)
	}
	_, err = Images(encoded(nil), Resize(20), ToTensor())
	want := "transform: the size varies from image to image after Resize(20): " +
		"add CenterCrop(n), RandomCrop(n), RandomResizedCrop(n) or Resize([2]int{h, w}), or after all steps PadTo([2]int{h, w}) or Ragged()"
	if fmt.Sprint(err) != want {
		t.Errorf("got %v\nwant %s", err, want)
	}
}
