package transform

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"image"
	"math"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"gorgonia.org/tensor"

	"github.com/penstock-go/penstock/dataset"
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
	text, err := os.ReadFile("testdata/augment.json")
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &g); err != nil {
		t.Fatal(err)
	}
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

// sameDraws compares counts of what is drawn with torchvision's, by a chi-square test for two
// samples.
func sameDraws(t *testing.T, name string, got, want map[string]int) {
	t.Helper()
	n, m, keys := 0, 0, map[string]bool{}
	for k, v := range want {
		n += v
		keys[k] = true
	}
	for k, v := range got {
		m += v
		keys[k] = true
	}
	chi := 0.0
	for k := range keys {
		d := math.Sqrt(float64(n)/float64(m))*float64(got[k]) - math.Sqrt(float64(m)/float64(n))*float64(want[k])
		chi += d * d / float64(got[k]+want[k])
	}
	free := float64(len(keys) - 1)
	// The bound of Laurent and Massart for a probability of e⁻¹².
	if bound := free + 2*math.Sqrt(12*free) + 24; chi > bound {
		t.Errorf("%s: chi-square of %.0f with %.0f degrees of freedom, above %.0f: got %v, want as %v", name, chi, free, bound, got, want)
	}
}

func TestDrawsAreDistributedAsTorchvisions(t *testing.T) {
	const n = 20000
	r := rand.New(rand.NewPCG(7, 8))
	slot := dataset.NewSlot(dataset.Field{Name: "image", Dtype: tensor.Uint8})
	names := strings.Fields("Identity ShearX ShearY TranslateX TranslateY Rotate Brightness Color Contrast Sharpness " +
		"Posterize Solarize AutoContrast Equalize Invert")
	label := func(a augmentation, m float64) string {
		if m < 0 {
			return names[a] + "-"
		}
		return names[a] + "+"
	}
	choices := func(step Step) func() string {
		p, err := compile([]Step{step})
		if err != nil {
			t.Fatal(err)
		}
		return func() string {
			var e engine
			e.inside, e.img = true, Image{Width: 1, Height: 1, Pix: make([]uint8, 4)}
			e.view = whole(1, 1)
			e.slot = slot
			if err := p.ops[0].do(&e, r); err != nil {
				t.Fatal(err)
			}
			text := ""
			for v := e.img.Pix[0]; v > 0; v /= 4 {
				text = string('0'+v%4-1) + text
			}
			return text
		}
	}
	mark := func(i uint8) Step {
		return Apply(edit(func(img *Image) { img.Pix[0] = 4*img.Pix[0] + i + 1 }))
	}
	bucket := func(v, low, high float64, bins int) string {
		return fmt.Sprint(min(int(float64(bins)*(v-low)/(high-low)), bins-1))
	}
	var f field
	corner := func(i int) func() string {
		return func() string {
			c := RandomPerspective(0.5, 1).draw(30, 20, r)[i]
			return fmt.Sprintf("%d,%d", c.X, c.Y)
		}
	}
	affine := RandomAffine(-30, 60).Translate(0.1, 0.3).Scale(0.5, 2).Shear(-10, 20).ShearY(5, 15)
	sides := map[string]func() string{
		"RandAugment":        func() string { return label(RandAugment(2, 9).draw(64, 48, r)) },
		"TrivialAugmentWide": func() string { return label(TrivialAugmentWide().draw(64, 48, r)) },
		"TrivialAugmentWide rotation": func() string {
			for {
				if a, m := TrivialAugmentWide().Bins(7).draw(64, 48, r); a == rotation {
					return fmt.Sprintf("%.1f", m)
				}
			}
		},
		"RandomAffine angle":            func() string { return bucket(affine.draw(60, 40, r).angle, -30, 60, 20) },
		"RandomAffine x":                func() string { return bucket(affine.draw(60, 40, r).moveX, -6.5, 6.5, 13) },
		"RandomAffine y":                func() string { return bucket(affine.draw(60, 40, r).moveY, -12.5, 12.5, 25) },
		"RandomAffine scale":            func() string { return bucket(affine.draw(60, 40, r).scale, 0.5, 2, 20) },
		"RandomAffine shear x":          func() string { return bucket(affine.draw(60, 40, r).shearX, -10, 20, 20) },
		"RandomAffine shear y":          func() string { return bucket(affine.draw(60, 40, r).shearY, 5, 15, 20) },
		"RandomPerspective upper left":  corner(0),
		"RandomPerspective lower right": corner(2),
		"GaussianNoise": func() string {
			img := &Image{Width: 1, Height: 1, Pix: []uint8{100, 100, 100, 0}}
			if err := (noise{0.05, 0.1}).edit(img, r, nil); err != nil {
				t.Fatal(err)
			}
			return bucket(float64(img.Pix[0]), 20, 200, 30)
		},
		"RandomChannelPermutation": func() string {
			pix := []byte{'0', '1', '2', 0}
			permute(pix, r)
			return string(pix[:3])
		},
		"RandomPhotometricDistort": func() string {
			_, does, _ := RandomPhotometricDistort(0.3).draw(r)
			text := ""
			for _, d := range does {
				text += map[bool]string{false: "-", true: "+"}[d]
			}
			return text
		},
		"ElasticTransform x": func() string {
			f.draw(9, 8, 50, 1.5, r)
			return bucket(float64(f.x[3*9+7]), -16, 16, 20)
		},
		"ElasticTransform y": func() string {
			f.draw(9, 8, 50, 1.5, r)
			return bucket(float64(f.y[3*9+7]), -16, 16, 20)
		},
		"AugMix own weight":  func() string { return bucket(float64(AugMix().Alpha(0.7).draw(nil, r)[0]), 0, 1, 20) },
		"AugMix first chain": func() string { return bucket(float64(AugMix().Alpha(2).draw(nil, r)[1]), 0, 1, 20) },
		"AugMix":             func() string { return label(AugMix().FewOps().augmentation(64, 48, r)) },
		"RandomApply":        choices(RandomApply(0.3, mark(0))),
		"RandomChoice":       choices(RandomChoice(mark(0), mark(1), mark(2)).Weights(1, 0, 2.5)),
		"RandomOrder":        choices(RandomOrder(mark(0), mark(1), mark(2))),
	}
	for p, name := range []string{"imagenet", "cifar10", "svhn"} {
		sides["AutoAugment "+name] = func() string {
			text := ""
			for _, o := range AutoAugment(Policy(p)).draw(r) {
				if r.Float64() < o.p {
					space := usualScheme(10)
					text += label(o.a, space.draw(o.a, o.bin, 64, 48, r))
				}
			}
			return text
		}
	}
	golden := readAugmentGolden(t).Draws
	for name := range golden {
		side := sides[name]
		if side == nil {
			t.Errorf("no test of the draws of %s", name)
			continue
		}
		want := map[string]int{}
		if err := json.Unmarshal(golden[name], &want); err != nil {
			var bins []int
			if err := json.Unmarshal(golden[name], &bins); err != nil {
				t.Fatal(err)
			}
			for i, v := range bins {
				want[fmt.Sprint(i)] = v
			}
		}
		got := map[string]int{}
		for range n {
			got[side()]++
		}
		sameDraws(t, name, got, want)
	}
}
