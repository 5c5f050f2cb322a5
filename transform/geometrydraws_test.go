package transform

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/internal/datatest"
	"github.com/penstock-go/penstock/internal/testenv"
	"github.com/penstock-go/penstock/transform/internal/engine"
)

// TestGeometryIsDrawnAsTorchvisions compares distributions by two-sample
// Kolmogorov-Smirnov tests: of width, height, where the image's corner is then, and
// how many boxes are left.
func TestGeometryIsDrawnAsTorchvisions(t *testing.T) {
	testenv.OneGoroutine(t)
	var quantiles map[string][][]float64 // 200 of each number's 2,000
	datatest.JSON(t, "testdata/annotations/draws.json", &quantiles)
	steps := map[string]Step{
		"RandomIoUCrop": RandomIoUCrop(), "RandomZoomOut": RandomZoomOut(0.5), "ScaleJitter": ScaleJitter([2]int{160, 200}),
		"RandomShortestSize": RandomShortestSize([]int{64, 80, 96, 112}, MaxSize(180)), "RandomResize": RandomResize(60, 240),
		"RandomCrop": RandomCrop([2]int{50, 90}), "RandomResizedCrop": RandomResizedCrop(64),
		"RandomHorizontalFlip": RandomHorizontalFlip(0.3),
	}
	if len(steps) != len(quantiles) {
		t.Fatalf("%d steps, and quantiles of %d", len(steps), len(quantiles))
	}
	const n = 8000
	// A difference this large has a probability of 1 in 100,000, and half of a quantile is
	// lost by reading 200 of them.
	most := math.Sqrt(-math.Log(0.5e-5)/2*(n+2000)/(n*2000)) + 0.5/200
	for name, s := range steps {
		p, err := compile(nil, []Item{Boxes("boxes", dataset.BoxesXYXY), s})
		if err != nil {
			t.Fatal(err)
		}
		got := drawnNumbers(t, p.Ops[0], n)
		for k, want := range quantiles[name] {
			slices.Sort(got[k])
			for _, v := range want {
				v += 6e-4 // they are rounded to 3 digits
				here := float64(count(got[k], v)) / n
				if there := float64(count(want, v)) / float64(len(want)); math.Abs(here-there) > most {
					t.Errorf("%s: number %d is up to %v in %.3f of the draws, in torchvision in %.3f", name, k, v, here, there)
					break
				}
			}
		}
	}
}

// count is how many of the sorted numbers are up to v.
func count(sorted []float64, v float64) int {
	n, _ := slices.BinarySearch(sorted, v)
	return n
}

// drawnNumbers are what n draws of the step make of an image of 200×120 with boxes.
func drawnNumbers(t *testing.T, s engine.Operation, n int) (numbers [5][]float64) {
	t.Helper()
	r := rand.New(rand.NewPCG(17, 4))
	boxes := []float32{10, 20, 60, 70, 100, 30, 180, 110, 5, 100, 25, 115}
	e := engine.Engine{Frame: &engine.ByteFrame{}}
	e.Annotations = &engine.Annotations{}
	for range n {
		e.Begin(nil, 200, 120, e.Slot)
		a := e.Annotations
		a.W, a.H, a.Box, a.Points = 200, 120, slices.Clone(boxes), []engine.PointSet{{Xy: []float32{0, 0}, Step: 2}}
		a.Moved.Begin()
		if err := s.Do(&e, r); err != nil {
			t.Fatal(err)
		}
		left := 0
		for b := a.Box; len(b) > 0; b = b[4:] {
			if [4]float32(b) != [4]float32{} {
				left++
			}
		}
		xy := a.Points[0].Xy
		for k, v := range [5]float64{float64(a.W), float64(a.H), float64(xy[0]), float64(xy[1]), float64(left)} {
			numbers[k] = append(numbers[k], v)
		}
	}
	return numbers
}
