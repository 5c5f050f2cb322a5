package transform

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/internal/datatest"
	"github.com/penstock-go/penstock/internal/dense"
	"github.com/penstock-go/penstock/internal/testenv"
	"github.com/penstock-go/penstock/transform/internal/engine"
	"github.com/penstock-go/penstock/transform/internal/raster"
)

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

// onePixel is an engine with an image of one pixel, and its frame.
func onePixel(red, green, blue uint8) (*engine.Engine, *engine.ByteFrame) {
	f := &engine.ByteFrame{}
	f.Image = raster.Image{Width: 1, Height: 1, Pix: []uint8{red, green, blue, 0}}
	e := &engine.Engine{Frame: f}
	e.Moved()
	return e, f
}

// readDraws is the counts of what torchvision draws, which testdata/augment.py wrote.
func readDraws(t *testing.T) map[string]json.RawMessage {
	t.Helper()
	var golden struct{ Draws map[string]json.RawMessage }
	datatest.JSON(t, "testdata/augment.json", &golden)
	return golden.Draws
}

func TestDrawsAreDistributedAsTorchvisions(t *testing.T) {
	testenv.OneGoroutine(t)
	const n = 20000
	r := rand.New(rand.NewPCG(7, 8))
	slot := dataset.NewSlot(dataset.Field{Name: "image", Dtype: dataset.Uint8})
	names := strings.Fields("Identity ShearX ShearY TranslateX TranslateY Rotate Brightness Color Contrast Sharpness " +
		"Posterize Solarize AutoContrast Equalize Invert")
	label := func(a raster.Augmentation, m float64) string {
		if m < 0 {
			return names[a] + "-"
		}
		return names[a] + "+"
	}
	choices := func(step Step) func() string {
		p, err := compile(nil, []Item{step})
		if err != nil {
			t.Fatal(err)
		}
		return func() string {
			e, f := onePixel(0, 0, 0)
			e.Slot = slot
			if err := p.Ops[0].Do(e, r); err != nil {
				t.Fatal(err)
			}
			text := ""
			for v := f.Pix[0]; v > 0; v /= 4 {
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
	var vectors raster.Field
	corner := func(i int) func() string {
		return func() string {
			c := RandomPerspective(0.5, 1).made().DrawCorners(30, 20, r)[i]
			return fmt.Sprintf("%d,%d", c.X, c.Y)
		}
	}
	noise, err := compile(nil, []Item{GaussianNoise(0.05, 0.1)})
	if err != nil {
		t.Fatal(err)
	}
	moves := RandomAffine(-30, 60, Translate(0.1, 0.3), Scale(0.5, 2), Shear(-10, 20, 5, 15)).made()
	sides := map[string]func() string{
		"RandAugment":        func() string { return label(RandAugment(2, 9).made().DrawAugmentation(64, 48, r)) },
		"TrivialAugmentWide": func() string { return label(TrivialAugmentWide().made().DrawAugmentation(64, 48, r)) },
		"TrivialAugmentWide rotation": func() string {
			for {
				if a, m := TrivialAugmentWide(NumMagnitudeBins(7)).made().DrawAugmentation(64, 48, r); a == raster.Rotation {
					return fmt.Sprintf("%.1f", m)
				}
			}
		},
		"RandomAffine angle":            func() string { return bucket(moves.DrawAffinity(60, 40, r).Angle, -30, 60, 20) },
		"RandomAffine x":                func() string { return bucket(moves.DrawAffinity(60, 40, r).MoveX, -6.5, 6.5, 13) },
		"RandomAffine y":                func() string { return bucket(moves.DrawAffinity(60, 40, r).MoveY, -12.5, 12.5, 25) },
		"RandomAffine scale":            func() string { return bucket(moves.DrawAffinity(60, 40, r).Scale, 0.5, 2, 20) },
		"RandomAffine shear x":          func() string { return bucket(moves.DrawAffinity(60, 40, r).ShearX, -10, 20, 20) },
		"RandomAffine shear y":          func() string { return bucket(moves.DrawAffinity(60, 40, r).ShearY, 5, 15, 20) },
		"RandomPerspective upper left":  corner(0),
		"RandomPerspective lower right": corner(2),
		"GaussianNoise": func() string {
			e, f := onePixel(100, 100, 100)
			e.Slot = slot
			if err := noise.Ops[0].Do(e, r); err != nil {
				t.Fatal(err)
			}
			return bucket(float64(f.Pix[0]), 20, 200, 30)
		},
		"RandomChannelPermutation": func() string {
			e, f := onePixel('0', '1', '2')
			e.Permute(r)
			return string(f.Pix[:3])
		},
		"RandomPhotometricDistort": func() string {
			_, does, _ := RandomPhotometricDistort(0.3).made().DrawDistortion(r)
			text := ""
			for _, d := range does {
				text += map[bool]string{false: "-", true: "+"}[d]
			}
			return text
		},
		"ElasticTransform x": func() string {
			vectors.Draw(9, 8, 50, 1.5, r)
			return bucket(float64(vectors.X[3*9+7]), -16, 16, 20)
		},
		"ElasticTransform y": func() string {
			vectors.Draw(9, 8, 50, 1.5, r)
			return bucket(float64(vectors.Y[3*9+7]), -16, 16, 20)
		},
		"AugMix own weight":  func() string { return bucket(float64(AugMix(Alpha(0.7)).made().DrawWeights(nil, r)[0]), 0, 1, 20) },
		"AugMix first chain": func() string { return bucket(float64(AugMix(Alpha(2)).made().DrawWeights(nil, r)[1]), 0, 1, 20) },
		"AugMix":             func() string { return label(AugMix(AllOps(false)).made().DrawMixed(64, 48, r)) },
		"RandomApply":        choices(RandomApply(0.3, mark(0))),
		"RandomChoice":       choices(RandomChoice(mark(0), mark(1), mark(2), P(1, 0, 2.5))),
		"RandomOrder":        choices(RandomOrder(mark(0), mark(1), mark(2))),
	}
	for p, name := range []string{"imagenet", "cifar10", "svhn"} {
		sides["AutoAugment "+name] = func() string {
			text := ""
			for _, o := range AutoAugment(Policy(p)).made().DrawPair(r) {
				if r.Float64() < o.P {
					space := raster.UsualScheme(10)
					text += label(o.Of, space.Draw(o.Of, o.Bin, 64, 48, r))
				}
			}
			return text
		}
	}
	golden := readDraws(t)
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

// TestDistortionOfDepth16IsThatOfColours takes the seeds that leave the hue as it is: the hues of Pillow have 8 bits.
func TestDistortionOfDepth16IsThatOfColours(t *testing.T) {
	testenv.OneGoroutine(t)
	const w, h = 41, 40
	var pix []uint8
	for i := range w * h {
		x, y := i%w, i/w
		pix = append(pix, uint8(64+3*x), uint8(200-3*y), uint8(2*x+2*y))
	}
	step := RandomPhotometricDistort(0.5)
	colours, deep := compiled(t, step, Resize([2]int{h, w})), compiled(t, Depth16(3), step, Resize([2]int{h, w}))
	a, b, apart, all, changed := make([]uint8, len(pix)), make([]uint16, len(pix)), 0, 0, 0
	for seed := range uint64(60) {
		if _, does, _ := step.made().DrawDistortion(rand.New(rand.NewPCG(seed, 0))); does[3] {
			continue
		}
		from := RGB(pix, w, h).Seed(seed)
		if err := errors.Join(colours.IntoBytes(a, from), deep.IntoBytes(dense.Bytes(b), from)); err != nil {
			t.Fatal(err)
		}
		for k := range a {
			if d := int(a[k]) - int(b[k]); d < -1 || d > 1 {
				apart++
			}
			if a[k] != pix[k] {
				changed++
			}
		}
		all += len(a)
	}
	if apart > all/50 || changed < all/2 {
		t.Errorf("of %d values %d are more than a level apart, and %d are not those of before", all, apart, changed)
	}
}
