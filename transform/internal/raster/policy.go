package raster

import (
	"math"
	"math/rand/v2"
)

// An Augmentation is one of the operations of RandAugment and the other policies.
type Augmentation uint8

// The augmentations, with torchvision's names. Those before Brightness move pixels.
const (
	Identity Augmentation = iota
	ShearX
	ShearY
	TranslateX
	TranslateY
	Rotation
	Brightness
	Colour
	Contrast
	Sharpness
	Posterization
	Solarization
	AutoContrast
	Equalization
	Inversion
)

// Signed reports whether half of the magnitudes are negative.
func (a Augmentation) Signed() bool { return a >= ShearX && a <= Sharpness }

// Graded reports whether the augmentation has a magnitude.
func (a Augmentation) Graded() bool { return a >= ShearX && a <= Solarization }

// A Scheme says which magnitudes a policy uses.
type Scheme struct {
	bins          int
	shear, rotate float64
	move          float64 // in pixels, or as a fraction of the width or height
	relative      bool    // move is a fraction
	enhance       float64 // of brightness, colour, contrast and sharpness
	bits, drop    float64 // posterize keeps bits, and drop fewer in the last bin
}

// UsualScheme is that of RandAugment and AutoAugment.
func UsualScheme(bins int) Scheme {
	return Scheme{bins: bins, shear: 0.3, rotate: 30, move: 150.0 / 331, relative: true, enhance: 0.9, bits: 8, drop: 4}
}

// WideScheme is that of TrivialAugmentWide.
func WideScheme(bins int) Scheme {
	return Scheme{bins: bins, shear: 0.99, rotate: 135, move: 32, enhance: 0.99, bits: 8, drop: 6}
}

// Magnitude is that of bin i for images of w×h, without its sign.
func (s *Scheme) Magnitude(a Augmentation, i, w, h int) float64 {
	most := s.enhance
	switch a {
	case ShearX, ShearY:
		most = s.shear
	case Rotation:
		most = s.rotate
	case TranslateX, TranslateY:
		most = s.move
		if s.relative && a == TranslateX {
			most *= float64(w)
		} else if s.relative {
			most *= float64(h)
		}
	case Posterization:
		step := float32(i) / float32(float64(s.bins-1)/s.drop)
		return math.RoundToEven(float64(float32(s.bits) - step))
	case Solarization:
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

// Draw is the magnitude of bin i with a random sign, for images of w×h.
func (s *Scheme) Draw(a Augmentation, i, w, h int, r *rand.Rand) float64 {
	if !a.Graded() {
		return 0
	}
	magnitude := s.Magnitude(a, i, w, h)
	if a.Signed() && r.Float64() < 0.5 {
		return -magnitude
	}
	return magnitude
}

// Apply changes the image, by a magnitude with its sign. The size stays as it is. Shears leave the upper left corner
// where it is.
func (a Augmentation) Apply(f Frame, magnitude float64, p Painter) {
	w, h := f.Size()
	switch a {
	case Rotation:
		f.Rotate(Turn{Angle: magnitude, Centred: true}, p)
	case ShearX, ShearY, TranslateX, TranslateY:
		f.Warp(a.mapping(magnitude, w, h), w, h, p)
	case Brightness:
		f.Brightness(1 + magnitude)
	case Colour:
		f.Saturation(1 + magnitude)
	case Contrast:
		f.Contrast(1 + magnitude)
	case Sharpness:
		f.Sharpness(1 + magnitude)
	case Posterization:
		f.Posterize(int(magnitude))
	case Solarization:
		f.Solarize(f.Most() * magnitude)
	case AutoContrast:
		f.Autocontrast()
	case Equalization:
		f.Equalize()
	case Inversion:
		f.Invert()
	}
}

// mapping says what an augmentation that moves pixels shows in an image of w×h.
func (a Augmentation) mapping(magnitude float64, w, h int) Mapping {
	t := Affinity{Scale: 1}
	cx, cy := 0.0, 0.0
	switch a {
	case ShearX:
		t.ShearX = arctangent(magnitude) * (180 / math.Pi)
	case ShearY:
		t.ShearY = arctangent(magnitude) * (180 / math.Pi)
	case TranslateX:
		t.MoveX = math.Trunc(magnitude)
		cx, cy = float64(w)/2, float64(h)/2
	case TranslateY:
		t.MoveY = math.Trunc(magnitude)
		cx, cy = float64(w)/2, float64(h)/2
	}
	return t.Inverse(cx, cy)
}

// MildScheme is that of AugMix.
func MildScheme(bins int) Scheme {
	return Scheme{bins: bins, shear: 0.3, rotate: 30, move: 1.0 / 3, relative: true, enhance: 0.9, bits: 4, drop: 4}
}
