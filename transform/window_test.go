package transform

import (
	"image"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/transform/internal/engine"
)

// windows is a source that notes what is decoded.
type windows []image.Rectangle

func (w *windows) Decode(dst []byte, stride int, window image.Rectangle) error {
	*w = append(*w, window)
	return nil
}

// opened is a reader of x, which the caller closes, with a slot for its results.
func opened(t *testing.T, x *Pipeline) (*engine.Reader, dataset.Slot) {
	t.Helper()
	r, err := x.Open()
	if err != nil {
		t.Fatal(err)
	}
	return r.(*engine.Reader), dataset.NewSlot(x.Spec()...)
}

func TestAnIoUCropDecodesOnlyItsWindow(t *testing.T) {
	c := torchCase{W: 300, H: 200, boxes: []float32{30, 40, 130, 150, 200, 20, 280, 90}, points: []float32{0, 0}}
	x, err := Images(c.dataset(), Boxes("boxes", dataset.BoxesXYXY), KeyPoints("points"), RandomIoUCrop(), Sizes("size"), Ragged())
	if err != nil {
		t.Fatal(err)
	}
	r, dst := opened(t, x)
	defer r.Close()
	draws, cut := rand.New(rand.NewPCG(1, 2)), 0
	for range 50 {
		if err := r.Read(t.Context(), 0, dst); err != nil {
			t.Fatal(err)
		}
		var src windows
		e := &r.Lane.Engine
		e.Begin(&src, c.W, c.H, dst)
		if err := e.Annotations.Begin(r.Lane, dst); err != nil {
			t.Fatal(err)
		}
		if err := r.Lane.Run(draws); err != nil {
			t.Fatal(err)
		}
		corner := dataset.Row[float32](dst, 2) // where the image's corner is now
		w, h := e.Size()
		want := image.Rect(0, 0, w, h).Sub(image.Pt(int(corner[0]), int(corner[1])))
		if !slices.Equal(src, windows{want}) {
			t.Errorf("decoded %v, the crop is %v", src, want)
		}
		if w < c.W {
			cut++
		}
	}
	if cut == 0 {
		t.Error("no crop was drawn")
	}
}

func TestViewsDecodeTheirCropsOnce(t *testing.T) {
	c := torchCase{W: 100, H: 80}
	for _, test := range []struct {
		steps []Item
		want  image.Rectangle
	}{
		{[]Item{Views(2, Crop(3, 5, 30, 20)), Views(1, Crop(20, 44, 40, 40), RandomHorizontalFlip(1), Grayscale(3), As("second"))}, image.Rect(5, 3, 84, 60)},
		{[]Item{Views(2, Crop(10, 10, 20, 20), Resize([2]int{8, 8}))}, image.Rect(10, 10, 30, 30)},
		{[]Item{Views(2, Crop(-5, -5, 20, 20))}, image.Rect(0, 0, 15, 15)},
		{[]Item{Views(1, Crop(3, 5, 30, 20)), Views(1, Grayscale(3), Crop(0, 0, 9, 9), As("second"))}, image.Rect(0, 0, 100, 80)},
	} {
		x, err := Images(c.dataset(), test.steps...)
		if err != nil {
			t.Fatal(err)
		}
		r, dst := opened(t, x)
		var src windows
		r.Lane.Engine.Begin(&src, c.W, c.H, dst)
		if err := r.Viewer.Begin(r.Lane, dst, dst.Rand()); err != nil {
			t.Fatal(err)
		}
		if err := r.Viewer.Place(dst, dst.Rand()); err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(src, windows{test.want}) {
			t.Errorf("%v: decoded %v, want %v", test.steps, src, test.want)
		}
		r.Close()
	}
}
