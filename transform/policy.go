package transform

import (
	"errors"
	"math"
	"math/rand/v2"

	"github.com/penstock-go/penstock/internal/steps"
)

// An augmentation is one of the operations of [RandAugment] and the other policies.
type augmentation uint8

// The augmentations, with torchvision's names. Those before brightness move pixels.
const (
	identity augmentation = iota
	shearX
	shearY
	translateX
	translateY
	rotation
	brightness
	colour
	contrast
	sharpness
	posterization
	solarization
	autoContrast
	equalization
	inversion
)

// signed reports whether half of the magnitudes are negative.
func (a augmentation) signed() bool { return a >= shearX && a <= sharpness }

// graded reports whether the augmentation has a magnitude.
func (a augmentation) graded() bool { return a >= shearX && a <= solarization }

// A scheme says which magnitudes a policy uses.
type scheme struct {
	bins          int
	shear, rotate float64
	move          float64 // in pixels, or as a fraction of the width or height
	relative      bool    // move is a fraction
	enhance       float64 // of brightness, colour, contrast and sharpness
	bits, drop    float64 // posterize keeps bits, and drop fewer in the last bin
}

// usualScheme is that of RandAugment and AutoAugment.
func usualScheme(bins int) scheme {
	return scheme{bins: bins, shear: 0.3, rotate: 30, move: 150.0 / 331, relative: true, enhance: 0.9, bits: 8, drop: 4}
}

// wideScheme is that of TrivialAugmentWide.
func wideScheme(bins int) scheme {
	return scheme{bins: bins, shear: 0.99, rotate: 135, move: 32, enhance: 0.99, bits: 8, drop: 6}
}

// magnitude is that of bin i for images of w×h, without its sign.
func (s *scheme) magnitude(a augmentation, i, w, h int) float64 {
	most := s.enhance
	switch a {
	case shearX, shearY:
		most = s.shear
	case rotation:
		most = s.rotate
	case translateX, translateY:
		most = s.move
		if s.relative && a == translateX {
			most *= float64(w)
		} else if s.relative {
			most *= float64(h)
		}
	case posterization:
		step := float32(i) / float32(float64(s.bins-1)/s.drop)
		return math.RoundToEven(float64(float32(s.bits) - step))
	case solarization:
		return float64(linspace(1, 0, s.bins, i))
	}
	return float64(linspace(0, float32(most), s.bins, i))
}

// linspace is value i of torch.linspace(from, to, n) in float32. It counts from the nearer
// end, and rounds once after product and sum, as torch does on processors with FMA.
func linspace(from, to float32, n, i int) float32 {
	step := float64((to - from) / float32(n-1))
	if i < n/2 {
		return float32(math.FMA(step, float64(i), float64(from)))
	}
	return float32(math.FMA(-step, float64(n-1-i), float64(to)))
}

// draw is the magnitude of bin i with a random sign, for images of w×h.
func (s *scheme) draw(a augmentation, i, w, h int, r *rand.Rand) float64 {
	if !a.graded() {
		return 0
	}
	magnitude := s.magnitude(a, i, w, h)
	if a.signed() && r.Float64() < 0.5 {
		return -magnitude
	}
	return magnitude
}

// apply changes the image, by a magnitude with its sign.
func (a augmentation) apply(img *Image, magnitude float64, p painter, s *scratch) {
	switch a {
	case shearX, shearY, translateX, translateY, rotation:
		a.move(img, magnitude, p, s)
	case brightness:
		adjustBrightness(img.Pix, 1+magnitude)
	case colour:
		adjustSaturation(img.Pix, 1+magnitude)
	case contrast:
		adjustContrast(img.Pix, 1+magnitude)
	case sharpness:
		adjustSharpness(img, 1+magnitude, s)
	case posterization:
		posterize(img.Pix, int(magnitude))
	case solarization:
		solarize(img.Pix, 255*magnitude)
	case autoContrast:
		autocontrast(img.Pix)
	case equalization:
		equalize(img.Pix)
	case inversion:
		invert(img.Pix)
	}
}

// move applies an augmentation that moves pixels. The size stays as it is. Shears leave the
// upper left corner where it is.
func (a augmentation) move(img *Image, magnitude float64, p painter, s *scratch) {
	if a == rotation {
		rotate(&s.spare, img, turn{angle: magnitude, centred: true}, p)
		*img, s.spare = s.spare, *img
		return
	}
	m := a.mapping(magnitude, img.Width, img.Height)
	s.spare.resize(img.Width, img.Height)
	warp(&s.spare, img, &m, p)
	*img, s.spare = s.spare, *img
}

// mapping says what an augmentation that moves pixels shows in an image of w×h.
func (a augmentation) mapping(magnitude float64, w, h int) mapping {
	t := affinity{scale: 1}
	cx, cy := 0.0, 0.0
	switch a {
	case rotation:
		t := turn{angle: magnitude, centred: true}
		m, _, _ := t.inverse(w, h)
		return m
	case shearX:
		t.shearX = arctangent(magnitude) * (180 / math.Pi)
	case shearY:
		t.shearY = arctangent(magnitude) * (180 / math.Pi)
	case translateX:
		t.moveX = math.Trunc(magnitude)
		cx, cy = float64(w)/2, float64(h)/2
	case translateY:
		t.moveY = math.Trunc(magnitude)
		cx, cy = float64(w)/2, float64(h)/2
	}
	return t.inverse(cx, cy)
}

// checkBins reports a number of bins with which torchvision cannot work either.
func checkBins(n int) error {
	if n < 2 || n > maxSide {
		return errors.New("want 2 bins or more")
	}
	return nil
}

func binsCall(n int) string {
	if n == 31 {
		return ""
	}
	return steps.Call(".Bins", n)
}
