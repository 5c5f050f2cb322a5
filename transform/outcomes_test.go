package transform

import (
	"context"
	"encoding/json"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/internal/datatest"
	"github.com/penstock-go/penstock/internal/testenv"
)

// A measure is the image that a step is given, and the numbers of a result.
type measure struct {
	w, h    int
	pix     []uint8
	slack   float64                      // by which numbers may differ from torchvision's with the same draws
	numbers func(image []byte) []float64 // nil: where two keypoints are
}

// colours are one pixel, and how far all are from those before.
func colours(before []uint8, slack float64) measure {
	return measure{16, 12, before, slack, func(image []byte) []float64 {
		sum := 0.0
		for i, v := range image {
			sum += math.Abs(float64(v) - float64(before[i]))
		}
		p := image[3*(3*16+5):]
		return []float64{float64(p[0]), float64(p[1]), float64(p[2]), sum / float64(len(image))}
	}}
}

// rectangle is top, left, height and width of the zeros, or -1.
func rectangle(image []byte) []float64 {
	var ys, xs []int
	for i := range 40 * 60 {
		if slices.Max(image[4*i:4*i+4]) == 0 { // the value is float32
			ys, xs = append(ys, i/60), append(xs, i%60)
		}
	}
	if len(ys) == 0 {
		return []float64{-1, -1, -1, -1}
	}
	top, left := slices.Min(ys), slices.Min(xs)
	return []float64{float64(top), float64(left), float64(slices.Max(ys) - top + 1), float64(slices.Max(xs) - left + 1)}
}

// TestOutcomesAreDistributedAsTorchvisions compares what steps make of an image, or of keypoints, by
// two-sample Kolmogorov-Smirnov tests.
func TestOutcomesAreDistributedAsTorchvisions(t *testing.T) {
	testenv.OneGoroutine(t)
	var quantiles map[string][][]float64 // 200 of each number's 2,000
	datatest.JSON(t, "testdata/outcomes.json", &quantiles)
	colour := colours(pixels(16, 12), 6e-4) // numbers are rounded to 3 digits
	distance := func(slack float64) measure {
		m := colours(pixels(16, 12), slack)
		numbers := m.numbers
		m.numbers = func(image []byte) []float64 { return numbers(image)[3:] }
		return m
	}
	corner := measure{200, 120, make([]uint8, 3*200*120), 0.01, nil}
	erased := measure{60, 40, slices.Repeat([]uint8{255}, 3*60*40), 6e-4, rectangle}
	steps := map[string]struct {
		Step
		measure
	}{
		"ColorJitter brightness":   {ColorJitter(0.4, 0, 0, 0), colour},
		"ColorJitter contrast":     {ColorJitter(0, 0.6, 0, 0), colour},
		"ColorJitter saturation":   {ColorJitter(0, 0, 0.8, 0), colour},
		"ColorJitter hue":          {ColorJitter(0, 0, 0, 0.3), colour},
		"ColorJitter":              {ColorJitter(0.4, 0.6, 0.8, 0.3), colour},
		"RandomPhotometricDistort": {RandomPhotometricDistort(0.6), colour},
		"RandomGrayscale":          {RandomGrayscale(0.3), colour},
		"RandomInvert":             {RandomInvert(0.3), colour},
		"RandomPosterize":          {RandomPosterize(3, 0.3), colour},
		"RandomSolarize":           {RandomSolarize(100, 0.3), colour},
		"RandomAdjustSharpness":    {RandomAdjustSharpness(2, 0.3), colour},
		"RandomAutocontrast":       {Compose(RandomAutocontrast(0.3), RandomInvert(0.6)), colour},
		"RandomEqualize":           {RandomEqualize(0.3), colour},
		"JPEG":                     {JPEG(5, 95), distance(6e-4)},
		"GaussianBlur":             {GaussianBlur(5, Sigma(0.1, 2)), distance(0.05)},
		"RandomPerspective":        {RandomPerspective(0.5, 0.4), distance(0.05)},
		"RandomRotation":           {RandomRotation(-30, 60), corner},
		"RandomAffine":             {RandomAffine(-30, 60, Translate(0.1, 0.3), Scale(0.5, 2), Shear(-10, 20, 5, 15)), corner},
		"RandomVerticalFlip":       {RandomVerticalFlip(0.3), corner},
		"RandomErasing":            {Compose(ToTensor(), RandomErasing(0.7)), erased},
	}
	if len(steps) != len(quantiles) {
		t.Fatalf("%d steps, and quantiles of %d", len(steps), len(quantiles))
	}
	n := 3000.0
	if testing.Short() {
		n = 500
	}
	// A difference this large has a probability of 1 in 100,000, and half of a quantile is lost
	// by reading 200 of them.
	most := math.Sqrt(-math.Log(0.5e-5)/2*(n+2000)/(n*2000)) + 0.5/200
	for name, s := range steps {
		if len(quantiles[name]) == 0 {
			t.Errorf("no quantiles of %s", name)
		}
		got := s.measure.draws(t, s.Step, uint64(n))
		for k, want := range quantiles[name] {
			slices.Sort(got[k])
			for _, v := range want {
				least, here, there := share(got[k], v-s.slack), share(got[k], v+s.slack), share(want, v)
				if here < there-most || least > there+most {
					t.Errorf("%s: number %d is up to %v in %.3f to %.3f of the draws, in torchvision in %.3f", name, k, v, least, here, there)
					break
				}
			}
		}
	}
}

// share is the part of the sorted numbers that are up to v.
func share(sorted []float64, v float64) float64 {
	return float64(count(sorted, math.Nextafter(v, math.Inf(1)))) / float64(len(sorted))
}

// draws are the numbers that n draws of the step make.
func (m measure) draws(t *testing.T, s Step, n uint64) (all [][]float64) {
	t.Helper()
	spec := dataset.Spec{
		{Name: "image", Dtype: dataset.Uint8, Shape: dataset.Shape{m.h, m.w, 3}},
		{Name: "points", Dtype: dataset.Float32, Shape: dataset.Shape{2, 2}},
	}
	list := []Item{s}
	if m.numbers == nil {
		list = []Item{KeyPoints("points"), s}
	}
	x, err := Images(dataset.Func(1, spec, func(_ context.Context, _ int, dst dataset.Slot) error {
		copy(dataset.Row[uint8](dst, 0), m.pix)
		copy(dataset.Row[float32](dst, 1), []float32{0, 0, 150, 20})
		return nil
	}), list...)
	if err != nil {
		t.Fatal(err)
	}
	r, to := datatest.Open(t, x), dataset.NewSlot(x.Spec()...)
	for seed := range n {
		datatest.Reset(to, seed, 0, 0)
		if err := r.Place(t.Context(), 0, to); err != nil {
			t.Fatal(err)
		}
		var numbers []float64
		if m.numbers != nil {
			numbers = m.numbers(to.Cell(0).Bytes())
		} else {
			for _, v := range dataset.Row[float32](to, 1) {
				numbers = append(numbers, float64(v))
			}
		}
		if all == nil {
			all = make([][]float64, len(numbers))
		}
		for k, v := range numbers {
			all[k] = append(all[k], v)
		}
	}
	return all
}

// TestEveryRandomStepIsComparedWithTorchvisions looks for the random classes of
// torchvision.transforms.v2 0.29 among the files of draws and outcomes. CutMix and MixUp have
// their own in testdata/mixing.
func TestEveryRandomStepIsComparedWithTorchvisions(t *testing.T) {
	compared := map[string]bool{}
	add := func(name string) { compared[strings.Fields(name)[0]] = true }
	for _, file := range []string{"testdata/annotations/draws.json", "testdata/outcomes.json"} {
		var names map[string]json.RawMessage
		datatest.JSON(t, file, &names)
		for name := range names {
			add(name)
		}
	}
	for name := range readDraws(t) {
		add(name)
	}
	for name := range strings.FieldsSeq(`AugMix AutoAugment ColorJitter ElasticTransform GaussianBlur GaussianNoise JPEG RandAugment
		RandomAdjustSharpness RandomAffine RandomApply RandomAutocontrast RandomChannelPermutation RandomChoice RandomCrop RandomEqualize
		RandomErasing RandomGrayscale RandomHorizontalFlip RandomInvert RandomIoUCrop RandomOrder RandomPerspective
		RandomPhotometricDistort RandomPosterize RandomResize RandomResizedCrop RandomRotation RandomShortestSize RandomSolarize
		RandomVerticalFlip RandomZoomOut ScaleJitter TrivialAugmentWide`) {
		if !compared[name] {
			t.Errorf("no test compares the draws of %s", name)
		}
	}
}
