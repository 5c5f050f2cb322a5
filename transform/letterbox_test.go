package transform_test

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/internal/datatest"
	"github.com/penstock-go/penstock/transform"
)

// TestLetterBoxMovesBoxesThereAndBack has images of several sizes in boxes of several ratios.
func TestLetterBoxMovesBoxesThereAndBack(t *testing.T) {
	for _, size := range [][2]int{{64, 64}, {200, 333}, {333, 60}, {7, 5}} {
		ds, err := transform.Images(scenes(t, 6),
			transform.Boxes("boxes", dataset.BoxesXYXY, transform.With("label", "points")), transform.KeyPoints("points"), transform.Mask("mask", transform.Fill(255)),
			transform.LetterBox(size), transform.PILToTensor())
		if err != nil {
			t.Fatal(err)
		}
		before := scenes(t, 6)
		for i := range 6 {
			h, w := 70+11*(i%3), 90+7*(i%5)
			scale := min(float64(size[0])/float64(h), float64(size[1])/float64(w))
			ih, iw := int(math.RoundToEven(float64(h)*scale)), int(math.RoundToEven(float64(w)*scale))
			top, left := (size[0]-ih)/2, (size[1]-iw)/2

			from, to := datatest.Sample(t, before, i), datatest.Sample(t, ds, i)
			want, got := dataset.ValuesOf[float32](from["boxes"]), slices.Clone(dataset.ValuesOf[float32](to["boxes"]))
			if len(want) == 0 || len(got) != len(want) {
				t.Fatalf("%d numbers of boxes, want %d", len(got), len(want))
			}
			for k := range want {
				moved := float64(want[k])*float64(iw)/float64(w) + float64(left)
				if k%2 == 1 {
					moved = float64(want[k])*float64(ih)/float64(h) + float64(top)
				}
				if math.Abs(float64(got[k])-moved) > 1e-4 {
					t.Errorf("%v, image %d: number %d of the boxes is %v, want %v", size, i, k, got[k], moved)
				}
			}
			transform.FromLetterBox(size, h, w, got)
			for k := range want {
				if math.Abs(float64(got[k]-want[k])) > 2e-3 {
					t.Errorf("%v, image %d: number %d of the boxes is %v after there and back, want %v", size, i, k, got[k], want[k])
				}
			}
			pixels, mask := dataset.ValuesOf[uint8](to["image"]), dataset.ValuesOf[uint8](to["mask"])
			for y := range size[0] {
				for x := range size[1] {
					inside := y >= top && y < top+ih && x >= left && x < left+iw
					if at := y*size[1] + x; inside == (mask[at] == 255) {
						t.Fatalf("%v, image %d: the mask at row %d, column %d is %d", size, i, y, x, mask[at])
					} else if !inside && pixels[at] != 114 {
						t.Fatalf("%v, image %d: row %d, column %d is %d, want 114", size, i, y, x, pixels[at])
					}
				}
			}
		}
	}
}

func TestFromLetterBoxEndsAtTheImage(t *testing.T) {
	xy := []float32{-50, 0, 64, 64, 32, 32, float32(math.Inf(1)), 20}
	transform.FromLetterBox(64, 100, 200, xy)
	if want := []float32{0, 0, 200, 100, 100, 50, 200, 12.5}; !slices.Equal(xy, want) {
		t.Errorf("%v, want %v", xy, want)
	}
	transform.FromLetterBox(64, 1000, 1, xy[:2]) // whose width is 0 there
	if xy[0] < 0 || xy[0] > 1 || xy[1] < 0 || xy[1] > 1000 {
		t.Errorf("%v, want a place in the image", xy[:2])
	}
}

// prepared is what steps make of pixels.
func prepared(t *testing.T, w, h int, list ...transform.Item) []uint8 {
	t.Helper()
	p, err := transform.Compile(list...)
	if err != nil {
		t.Fatal(err)
	}
	pix := make([]uint8, 3*w*h)
	for i := range pix {
		pix[i] = uint8(i * i / 7)
	}
	dst := make([]uint8, p.Spec()[0].Elements())
	if err := p.IntoBytes(dst, transform.RGB(pix, w, h)); err != nil {
		t.Fatal(err)
	}
	return dst
}

// TestOpenCVsResizeIsMergedWithCrops compares steps that one resampling does with those that do all pixels.
func TestOpenCVsResizeIsMergedWithCrops(t *testing.T) {
	stop := transform.RandomPosterize(8, 1) // changes nothing, but needs pixels
	for _, f := range []transform.Filter{transform.OpenCVLinear, transform.OpenCVArea} {
		for _, size := range [][2]int{{40, 50}, {20, 31}, {26, 33}, {90, 20}, {140, 190}} {
			resize := transform.Resize(size, transform.Interpolation(f))
			crop := transform.Crop(3, 4, 13, 12)
			cut := transform.Crop(10, 5, 52, 66)
			flips := transform.Compose(transform.RandomHorizontalFlip(1), transform.RandomVerticalFlip(1))
			got := prepared(t, 93, 71, cut, resize, crop, flips, transform.PILToTensor())
			want := prepared(t, 93, 71, cut, stop, resize, stop, crop, stop, flips, transform.PILToTensor())
			if !slices.Equal(got, want) {
				t.Errorf("%v to %v: other pixels in one step than in several", f, size)
			}
		}
	}
}

func TestOpenCVsFiltersAreForBytes(t *testing.T) {
	for _, c := range []struct {
		list []transform.Item
		want string
	}{
		{[]transform.Item{transform.Depth16(1), transform.Resize([2]int{5, 5}, transform.Interpolation(transform.OpenCVArea))}, "not with Depth16: the filters of OpenCV, TensorFlow and torch are for colours of 8 bits"},
		{[]transform.Item{transform.Depth16(1), transform.LetterBox(5)}, "LetterBox(5): with Depth16, want an Interpolation and a Fill"},
		{[]transform.Item{transform.RandomRotation(3, 4, transform.Interpolation(transform.OpenCVLinear))}, "want the Interpolation Nearest, Bilinear or Bicubic"},
		{[]transform.Item{transform.LetterBox(0)}, "LetterBox(0): want a positive size"},
	} {
		if _, err := transform.Compile(c.list...); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("error %v, want %s", err, c.want)
		}
	}
	p, err := transform.Compile(transform.LetterBox(5))
	if err != nil {
		t.Fatal(err)
	}
	err = p.IntoBytes(make([]byte, 75), transform.RGB(make([]byte, 3*1000), 1000, 1))
	if err == nil || !strings.Contains(err.Error(), "transform: LetterBox(5): 1×1000 pixels (height×width) would become 0×5") {
		t.Errorf("error %v, want one of the size", err)
	}
}

func TestLetterBoxAllocatesNothing(t *testing.T) {
	for _, f := range []transform.Filter{transform.OpenCVLinear, transform.OpenCVArea} {
		ds, err := transform.Images(scenes(t, 12), transform.LetterBox(64, transform.Interpolation(f)), transform.ToTensor())
		if err != nil {
			t.Fatal(err)
		}
		allocatesNothing(t, ds)
	}
}

func TestOpenCVsResizeWorksInViews(t *testing.T) {
	list := []transform.Item{transform.Crop(9, 5, 50, 60), transform.Resize([2]int{30, 40}, transform.Interpolation(transform.OpenCVArea)), transform.PILToTensor()}
	one, err := transform.Images(photosOf(t, 6), list...)
	if err != nil {
		t.Fatal(err)
	}
	two, err := transform.Images(photosOf(t, 6), transform.Views(2, list...))
	if err != nil {
		t.Fatal(err)
	}
	for i := range one.Len() {
		want, got := dataset.ValuesOf[uint8](datatest.Sample(t, one, i)["image"]), dataset.ValuesOf[uint8](datatest.Sample(t, two, i)["image"])
		if !slices.Equal(got, slices.Concat(want, want)) {
			t.Errorf("sample %d: a view differs from the image alone", i)
		}
	}
}
