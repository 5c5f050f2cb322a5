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

var tensorFlow = transform.Interpolation(transform.TensorFlowBilinear)

// resizedByTensorFlow is what tf.image.resize makes of w×h pixels: the channels of each pixel together.
func resizedByTensorFlow(pix []uint8, w, h, tw, th int) []float32 {
	at := func(i, from, to int) (lo, hi int, part float32) {
		x := float32((float32(i)+0.5)*(float32(from)/float32(to))) - 0.5
		floor := math.Floor(float64(x))
		return max(int(floor), 0), min(int(math.Ceil(float64(x))), from-1), x - float32(floor)
	}
	between := func(a, b, part float32) float32 { return a + float32((b-a)*part) }
	var out []float32
	for y := range th {
		top, bottom, down := at(y, h, th)
		for x := range tw {
			left, right, along := at(x, w, tw)
			for c := range 3 {
				row := func(y int) float32 {
					return between(float32(pix[3*(y*w+left)+c]), float32(pix[3*(y*w+right)+c]), along)
				}
				out = append(out, between(row(top), row(bottom), down))
			}
		}
	}
	return out
}

// TestTensorFlowsResizeIsMergedWithCrops has crops before and after a resize, padding of a colour, and flips.
func TestTensorFlowsResizeIsMergedWithCrops(t *testing.T) {
	pix := make([]uint8, 3*93*71)
	for i := range pix {
		pix[i] = uint8(i * i / 7)
	}
	cut := transform.Crop(10, 5, 52, 66)
	mean, std := []float32{3, 50.5, 0.1}, []float32{2, 0.3, 7}
	for _, size := range [][2]int{{40, 50}, {20, 31}, {90, 20}, {140, 190}, {52, 66}} {
		source := prepared(t, 93, 71, cut, transform.PILToTensor(), transform.Layout(transform.HWC))
		values := resizedByTensorFlow(source, 66, 52, size[1], size[0])
		for _, axes := range []transform.Axes{transform.CHW, transform.HWC} {
			p, err := transform.Compile(cut, transform.Resize(size, tensorFlow),
				transform.Pad(2, transform.Fill(1, 20, 255)), transform.Crop(1, 0, 13, 12), transform.RandomHorizontalFlip(1), transform.RandomVerticalFlip(1),
				transform.Rescale(0.3), transform.BGR(), transform.Normalize(mean, std), transform.Layout(axes))
			if err != nil {
				t.Fatal(err)
			}
			want := make([]float32, 3*13*12)
			for i := range want {
				c, y, x := i%3, i/3/12, i/3%12
				at := i
				if axes == transform.CHW {
					at = c*13*12 + i/3
				}
				y, x = 12-y+1-2, 11-x+0-2
				v := []float32{255, 20, 1}[c]
				if y >= 0 && x >= 0 && x < size[1] {
					v = values[3*(y*size[1]+x)+2-c]
				}
				want[at] = float32(float32(float64(v)*0.3)-mean[c]) / std[c]
			}
			got := make([]float32, len(want))
			if err := p.Into(got, transform.RGB(pix, 93, 71)); err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(got, want) {
				t.Errorf("%v, %v: other values", size, axes)
			}
		}
	}
}

// TestTensorFlowsResizeInTilesAndViews compares with the resize alone.
func TestTensorFlowsResizeInTilesAndViews(t *testing.T) {
	_, files := sizedPhotos(t)
	values := func(list ...transform.Item) []float32 {
		p, err := transform.Compile(append(list, transform.ToTensor())...)
		if err != nil {
			t.Fatal(err)
		}
		out, _, _, err := p.Append(nil, transform.File(files[0]))
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	resize := transform.Resize([2]int{9, 11}, tensorFlow)
	two := func(_, _ int) []transform.Tile { return []transform.Tile{{Resize: [2]int{9, 11}}, {}} }
	got := values(transform.Tiles([2]int{9, 11}, "two", two, tensorFlow), transform.Ragged())
	if !slices.Equal(got, slices.Concat(values(resize), values(transform.Crop(0, 0, 9, 11)))) {
		t.Error("a tile differs from the image alone")
	}
	one, err := transform.Images(photosOf(t, 6), resize, transform.ToTensor())
	if err != nil {
		t.Fatal(err)
	}
	views, err := transform.Images(photosOf(t, 6), transform.Views(2, resize, transform.ToTensor()))
	if err != nil {
		t.Fatal(err)
	}
	for i := range one.Len() {
		want, got := dataset.ValuesOf[float32](datatest.Sample(t, one, i)["image"]), dataset.ValuesOf[float32](datatest.Sample(t, views, i)["image"])
		if !slices.Equal(got, slices.Concat(want, want)) {
			t.Errorf("sample %d: a view differs from the image alone", i)
		}
	}
}

func TestTensorFlowsResizeIsForValues(t *testing.T) {
	resize := transform.Resize([2]int{5, 5}, tensorFlow)
	const text = "Resize([5 5], Interpolation(tensorflowbilinear))"
	for _, c := range []struct {
		list []transform.Item
		want string
	}{
		{[]transform.Item{resize}, text + ": want ToTensor, Rescale or ToDtype with Scaled after it"},
		{[]transform.Item{resize, transform.PILToTensor()}, text + ": want ToTensor, Rescale or ToDtype with Scaled after it"},
		{[]transform.Item{transform.Compose(resize, transform.ColorJitter(1, 1, 1, 0)), transform.ToTensor()}, "ColorJitter(1, 1, 1, 0): must come before " + text},
		{[]transform.Item{resize, transform.Resize(4), transform.ToTensor()}, "Resize(4): must come before " + text},
		{[]transform.Item{resize, transform.FiveCrop(4), transform.ToTensor()}, "FiveCrop(4): must come before " + text},
		{[]transform.Item{resize, transform.RandomRotation(1, 2), transform.ToTensor()}, "must come before " + text},
		{[]transform.Item{resize, transform.ToTensor(), transform.Patches(5)}, "Patches(5): not with " + text},
		{[]transform.Item{transform.RandomApply(0.5, resize), transform.ToTensor()}, "not in a random step"},
		{[]transform.Item{transform.Depth16(1), resize, transform.ToTensor()}, "not with Depth16: the filters of OpenCV, TensorFlow and torch are for colours of 8 bits"},
		{[]transform.Item{transform.RandomRotation(3, 4, tensorFlow)}, "want the Interpolation Nearest, Bilinear or Bicubic"},
	} {
		if _, err := transform.Compile(c.list...); err == nil || !strings.Contains(err.Error(), c.want) || !strings.HasPrefix(err.Error(), "transform: ") {
			t.Errorf("error %v, want %s", err, c.want)
		}
	}
	p, err := transform.Compile(resize, transform.Pad(1, transform.PaddingMode(transform.Edge)), transform.ToTensor())
	if err != nil {
		t.Fatal(err)
	}
	err = p.Into(make([]float32, 3*7*7), transform.RGB(make([]byte, 3*9*9), 9, 9))
	if err == nil || !strings.Contains(err.Error(), "transform: TensorFlowBilinear makes values that are not whole numbers") {
		t.Errorf("error %v, want that the padding needs pixels", err)
	}
}

func TestTensorFlowsResizeAllocatesNothing(t *testing.T) {
	ds, err := transform.Images(scenes(t, 12), transform.Resize([2]int{64, 48}, tensorFlow), transform.ToTensor())
	if err != nil {
		t.Fatal(err)
	}
	allocatesNothing(t, ds)
}
