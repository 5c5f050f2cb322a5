package transform

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"image"
	"math"
	"testing"

	"github.com/penstock-go/penstock/internal/datatest"
)

// augmentGolden holds torchvision's results, which testdata/augment.py wrote.
type augmentGolden struct {
	Draws map[string]json.RawMessage
	Near  []augmentCase // with all bytes
	Cases []augmentCase
}

type augmentCase struct {
	op      string
	w, h, k int
	space   string
	args    []float64
	sum     string
}

func (c *augmentCase) UnmarshalJSON(text []byte) error {
	var args []any
	if err := json.Unmarshal(text, &[]any{&c.op, &c.w, &c.h, &c.k, &args, &c.sum}); err != nil {
		return err
	}
	for _, a := range args {
		switch a := a.(type) {
		case string:
			c.space = a
		case float64:
			c.args = append(c.args, a)
		}
	}
	return nil
}

func (c augmentCase) String() string {
	return fmt.Sprintf("%s %v %s of %d×%d pixels / %d", c.op, c.args, c.space, c.w, c.h, c.k)
}

func readAugmentGolden(t *testing.T) (g augmentGolden) {
	t.Helper()
	datatest.JSON(t, "testdata/augment.json", &g)
	return g
}

// sampleImage is the image of augment.py.
func sampleImage(w, h, k int) *Image {
	img := &Image{}
	img.resize(w, h)
	for i, v := range pixels(w, h) {
		img.Pix[i/3*4+i%3] = v/uint8(k) + uint8(20*(k-1))
	}
	return img
}

// rgb are the bytes of an image without the fourth of each pixel.
func rgb(img *Image) []uint8 {
	var pix []uint8
	for i := 0; i < len(img.Pix); i += 4 {
		pix = append(pix, img.Pix[i:i+3]...)
	}
	return pix
}

// run does what the case says to img.
func (c augmentCase) run(img *Image, s *scratch) {
	a := append(c.args, make([]float64, 12)...)
	p := painter{filter: [3]Filter{Nearest, Bilinear, Bicubic}[int(a[0])%3], fill: [3]uint8{7, 8, 9}}
	warped := func(m mapping) {
		s.spare.resize(c.w, c.h)
		warp(&s.spare, img, &m, p)
		*img, s.spare = s.spare, *img
	}
	switch c.op {
	case "jpeg":
		if err := recode(img, int(a[0]), s); err != nil {
			panic(err)
		}
	case "elastic":
		f := field{x: make([]float32, c.w*c.h), y: make([]float32, c.w*c.h)}
		for i := range f.x {
			x, y := i%c.w, i/c.w
			f.x[i] = (float32((x*37+y*91+7)%64)/64 - 0.5) * float32(a[1])
			f.y[i] = (float32((x*53+y*17+3)%64)/64 - 0.5) * float32(a[1])
		}
		s.spare.resize(c.w, c.h)
		f.paint(&s.spare, img, p)
		*img, s.spare = s.spare, *img
	case "blur":
		s.blur.run(img, int(a[0]), int(a[1]), a[2])
	case "posterize":
		posterize(img.Pix, int(a[0]))
	case "solarize":
		solarize(img.Pix, a[0])
	case "invert":
		invert(img.Pix)
	case "autocontrast":
		autocontrast(img.Pix)
	case "equalize":
		equalize(img.Pix)
	case "sharpness":
		adjustSharpness(img, a[0], s)
	case "rotate", "rotate around":
		rotate(&s.spare, img, turn{angle: a[2], expand: a[1] == 1, centred: c.op == "rotate", cx: a[3], cy: a[4]}, p)
		*img, s.spare = s.spare, *img
	case "affine":
		warped(affinity{a[1], a[2], a[3], a[4], a[5], a[6]}.inverse(float64(c.w)/2, float64(c.h)/2))
	case "affine around":
		warped(affinity{a[1], a[2], a[3], a[4], a[5], a[6]}.inverse(a[7], a[8]))
	case "perspective":
		warped(mapping(a[9:17]))
	case "augment":
		space := map[string]func(int) scheme{"usual": usualScheme, "wide": wideScheme, "mild": mixScheme}[c.space](int(a[1]))
		p.filter = [2]Filter{Nearest, Bilinear}[int(a[4])]
		op := augmentation(a[0])
		magnitude := 0.0
		if op.graded() {
			magnitude = a[3] * space.magnitude(op, int(a[2]), c.w, c.h)
		}
		op.apply(img, magnitude, p, s)
	default:
		panic(c.op)
	}
}

func TestAugmentationsAreTorchvisions(t *testing.T) {
	var s scratch
	wrong := map[string]int{}
	for _, c := range readAugmentGolden(t).Cases {
		img := sampleImage(c.w, c.h, c.k)
		c.run(img, &s)
		if got := sum(rgb(img))[:6]; got != c.sum {
			wrong[c.op]++
			if wrong[c.op] < 4 {
				t.Errorf("%v: other pixels than torchvision's", c)
			}
		}
	}
	if len(wrong) > 0 {
		t.Errorf("wrong in all: %v", wrong)
	}
}

func TestBlurAndElasticAreWithinOneLevelOfTorchvisions(t *testing.T) {
	var s scratch
	for _, c := range readAugmentGolden(t).Near {
		want, err := hex.DecodeString(c.sum)
		if err != nil {
			t.Fatal(err)
		}
		img := sampleImage(c.w, c.h, c.k)
		c.run(img, &s)
		for i, v := range rgb(img) {
			if d := int(v) - int(want[i]); d < -1 || d > 1 {
				t.Errorf("%v: value %d is %d, want %d", c, i, v, want[i])
				break
			}
		}
	}
}

// TestCornersAreTorchvisions allows for another rounding of numbers that torch computes by
// least squares.
func TestCornersAreTorchvisions(t *testing.T) {
	for _, c := range readAugmentGolden(t).Cases {
		if c.op != "perspective" {
			continue
		}
		var to [4]image.Point
		for i := range to {
			to[i] = image.Pt(int(c.args[2*i+1]), int(c.args[2*i+2]))
		}
		got := toCorners(c.w, c.h, to)
		for i, want := range c.args[9:] {
			if math.Abs(got[i]-want) > 1e-6*max(1, math.Abs(want)) {
				t.Errorf("%v: number %d is %v, want %v", c, i, got[i], want)
			}
		}
	}
}
