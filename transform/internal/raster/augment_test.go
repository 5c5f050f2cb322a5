package raster

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"image"
	"math"
	"testing"

	"github.com/penstock-go/penstock/internal/datatest"
	"github.com/penstock-go/penstock/internal/resize"
	"github.com/penstock-go/penstock/internal/testenv"
)

// augmentGolden holds torchvision's results, which testdata/augment.py wrote.
type augmentGolden struct {
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
	datatest.JSON(t, "../../testdata/augment.json", &g)
	return g
}

// sampleImage is the image of augment.py.
func sampleImage(w, h, k int) *Bytes {
	img := &Bytes{}
	img.Resize(w, h)
	for i, v := range pixels(w, h) {
		img.Pix[i/3*4+i%3] = v/uint8(k) + uint8(20*(k-1))
	}
	return img
}

// rgb are the bytes of an image without the fourth of each pixel.
func rgb(img *Bytes) []uint8 {
	var pix []uint8
	for i := 0; i < len(img.Pix); i += 4 {
		pix = append(pix, img.Pix[i:i+3]...)
	}
	return pix
}

// run does what the case says to img.
func (c augmentCase) run(img *Bytes) {
	a := append(c.args, make([]float64, 12)...)
	p := Painter{Filter: [3]resize.Filter{resize.Nearest, resize.Bilinear, resize.Bicubic}[int(a[0])%3], Fill: Fill{Colour: [3]uint8{7, 8, 9}}}
	switch c.op {
	case "jpeg":
		if err := img.Recode(int(a[0])); err != nil {
			panic(err)
		}
	case "elastic":
		f := Field{X: make([]float32, c.w*c.h), Y: make([]float32, c.w*c.h)}
		for i := range f.X {
			x, y := i%c.w, i/c.w
			f.X[i] = (float32((x*37+y*91+7)%64)/64 - 0.5) * float32(a[1])
			f.Y[i] = (float32((x*53+y*17+3)%64)/64 - 0.5) * float32(a[1])
		}
		img.Displace(&f, p)
	case "blur":
		img.Blur(int(a[0]), int(a[1]), a[2])
	case "posterize":
		img.Posterize(int(a[0]))
	case "solarize":
		img.Solarize(a[0])
	case "invert":
		img.Invert()
	case "autocontrast":
		img.Autocontrast()
	case "equalize":
		img.Equalize()
	case "sharpness":
		img.Sharpness(a[0])
	case "rotate", "rotate around":
		img.Rotate(Turn{Angle: a[2], Expand: a[1] == 1, Centred: c.op == "rotate", CX: a[3], CY: a[4]}, p)
	case "affine":
		img.Warp(Affinity{a[1], a[2], a[3], a[4], a[5], a[6]}.Inverse(float64(c.w)/2, float64(c.h)/2), c.w, c.h, p)
	case "affine around":
		img.Warp(Affinity{a[1], a[2], a[3], a[4], a[5], a[6]}.Inverse(a[7], a[8]), c.w, c.h, p)
	case "perspective":
		img.Warp(Mapping(a[9:17]), c.w, c.h, p)
	case "augment":
		space := map[string]func(int) Scheme{"usual": UsualScheme, "wide": WideScheme, "mild": MildScheme}[c.space](int(a[1]))
		p.Filter = [2]resize.Filter{resize.Nearest, resize.Bilinear}[int(a[4])]
		op := Augmentation(a[0])
		magnitude := 0.0
		if op.Graded() {
			magnitude = a[3] * space.Magnitude(op, int(a[2]), c.w, c.h)
		}
		op.Apply(img, magnitude, p)
	default:
		panic(c.op)
	}
}

func TestAugmentationsAreTorchvisions(t *testing.T) {
	testenv.OneGoroutine(t)
	wrong := map[string]int{}
	for _, c := range readAugmentGolden(t).Cases {
		img := sampleImage(c.w, c.h, c.k)
		c.run(img)
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
	testenv.OneGoroutine(t)
	for _, c := range readAugmentGolden(t).Near {
		want, err := hex.DecodeString(c.sum)
		if err != nil {
			t.Fatal(err)
		}
		img := sampleImage(c.w, c.h, c.k)
		c.run(img)
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
		got := ToCorners(c.w, c.h, to)
		for i, want := range c.args[9:] {
			if math.Abs(got[i]-want) > 1e-6*max(1, math.Abs(want)) {
				t.Errorf("%v: number %d is %v, want %v", c, i, got[i], want)
			}
		}
	}
}

// pixels is the image that the scripts of the golden data make.
func pixels(w, h int) []uint8 {
	pix := make([]uint8, 0, 3*w*h)
	for y := range uint32(h) {
		for x := range uint32(w) {
			for c := range uint32(3) {
				v := (x*x*(7+c) + y*y*(5-c) + x*y*(c+1)) >> 4
				noise := ((x*73 + y*151 + c*199) * (x + 2*y + 3*c + 1)) & 63
				pix = append(pix, uint8(v+noise))
			}
		}
	}
	return pix
}

func sum(pix []uint8) string {
	s := sha256.Sum256(pix)
	return hex.EncodeToString(s[:])
}
