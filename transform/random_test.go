package transform

import (
	"image"
	"math"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/transform/internal/engine"
)

func TestRandomResizedCropStaysInsideAndInItsRanges(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w, h := rapid.IntRange(1, 600).Draw(t, "w"), rapid.IntRange(1, 600).Draw(t, "h")
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
		part := RandomResizedCrop(8).made().DrawPart(w, h, r)
		if part.Empty() || part.Min.X < 0 || part.Min.Y < 0 || part.Max.X > w || part.Max.Y > h {
			t.Fatalf("part %v of %d×%d pixels", part, w, h)
		}
		pw, ph := float64(part.Dx()), float64(part.Dy())
		if (pw+0.5)/(ph-0.5) < 3.0/4 && pw < float64(w) || (pw-0.5)/(ph+0.5) > 4.0/3 && ph < float64(h) {
			t.Fatalf("part %v of %d×%d pixels: ratio %v", part, w, h, pw/ph)
		}
	})
}

func TestRandomResizedCropFallsBackToTheMiddle(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	part := RandomResizedCrop(8, Scale(1, 1)).made().DrawPart(1000, 10, r) // no full area of ratio 3/4 to 4/3 fits
	if part.Dx() != 13 || part.Dy() != 10 || part.Min.X != 493 || part.Min.Y != 0 {
		t.Errorf("got %v, want 13×10 pixels at (493, 0)", part)
	}
}

func TestRandomCropReachesEveryPlace(t *testing.T) {
	seen := map[uint8]int{}
	p, err := compile(nil, []Item{RandomCrop(1)})
	if err != nil {
		t.Fatal(err)
	}
	r := rand.New(rand.NewPCG(3, 4))
	for range 900 {
		e := engine.Engine{Frame: &engine.ByteFrame{}}
		e.Begin(nil, 3, 3, dataset.Slot{})
		if err := p.Ops[0].Do(&e, r); err != nil {
			t.Fatal(err)
		}
		seen[uint8(3*e.View.Part.Min.Y+e.View.Part.Min.X)]++
	}
	for k := range uint8(9) {
		if math.Abs(float64(seen[k])-100) > 50 {
			t.Errorf("place %d: %d times of 900", k, seen[k])
		}
	}
}

// TestViewsAreTheStepsOneByOne compares random geometry in one view with the same
// geometry step by step.
func TestViewsAreTheStepsOneByOne(t *testing.T) {
	pix := pixels(23, 17)
	rapid.Check(t, func(rt *rapid.T) {
		all := []Item{Resize([2]int{9, 31}), Resize(12, Interpolation(Bicubic)), CenterCrop([2]int{8, 40}), CenterCrop(30), CenterCrop(5), RandomHorizontalFlip(1),
			RandomVerticalFlip(1), Pad([4]int{1, 2, 3, 4}, Fill(9, 8, 7)), Pad(2), Pad([2]int{3, 0}, PaddingMode(Symmetric)), RandomCrop(7, PadIfNeeded()),
			cut(image.Rect(2, -1, 9, 7)), cut(image.Rect(1, 3, 5, 14))}
		var folded, apart []Item
		for _, k := range rapid.SliceOfN(rapid.IntRange(0, len(all)-1), 1, 7).Draw(rt, "steps") {
			folded = append(folded, all[k])
			apart = append(apart, all[k], Apply(nothing{}))
		}
		ds := imageOf(t, 23, 17, append([]uint8(nil), pix...))
		if got, want := sum(result(t, ds, folded...).Data()), sum(result(t, ds, apart...).Data()); got != want {
			rt.Fatalf("%v: other pixels than one by one", folded)
		}
	})
}
