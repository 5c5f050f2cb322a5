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

func (m *Bytes) MixBegin(weight float32) {
	m.before, m.sum = Grow(m.before, len(m.Pix)), GrowFloats(m.sum, len(m.Pix))
	copy(m.before, m.Pix)
	for i, v := range m.Pix {
		m.sum[i] = weight * float32(v)
	}
}

func (m *Bytes) MixAgain() { copy(m.Pix, m.before) }

func (m *Bytes) MixAdd(weight float32) {
	sum := m.sum[:len(m.Pix)]
	for i, v := range m.Pix {
		sum[i] += float32(weight * float32(v))
	}
}

func (m *Bytes) MixEnd() {
	pix := m.Pix[:len(m.sum)]
	for i, v := range m.sum {
		pix[i] = uint8(min(max(v, 0), 255))
	}
}

func (m *Floats) MixBegin(weight float32) {
	m.before, m.sum = GrowFloats(m.before, len(m.Pix)), GrowFloats(m.sum, len(m.Pix))
	copy(m.before, m.Pix)
	for i, v := range m.Pix {
		m.sum[i] = weight * v
	}
}

func (m *Floats) MixAgain() { copy(m.Pix, m.before) }

func (m *Floats) MixAdd(weight float32) {
	for i, v := range m.Pix {
		m.sum[i] += float32(weight * v)
	}
}

func (m *Floats) MixEnd() {
	copy(m.Pix, m.sum)
	if d := m.depth(); d.Whole {
		for i, v := range m.Pix {
			m.Pix[i] = d.trunc(v)
		}
	}
}

// A Choice is an augmentation of a policy, with its probability and the bin of its magnitude.
type Choice struct {
	Of  Augmentation
	P   float64
	Bin int
}

// A Policy is the number of one of Policies.
type Policy uint8

// String is the policy's name.
func (p Policy) String() string {
	return Named(int(p), "ImageNetPolicy", "CIFAR10Policy", "SVHNPolicy")
}

// Policies are from the paper's appendix, as torchvision lists them: those
// of ImageNet, CIFAR-10 and SVHN, each of which is a list of pairs.
var Policies = [...][25][2]Choice{
	{ // ImageNet
		{{Posterization, 0.4, 8}, {Rotation, 0.6, 9}},
		{{Solarization, 0.6, 5}, {AutoContrast, 0.6, 0}},
		{{Equalization, 0.8, 0}, {Equalization, 0.6, 0}},
		{{Posterization, 0.6, 7}, {Posterization, 0.6, 6}},
		{{Equalization, 0.4, 0}, {Solarization, 0.2, 4}},
		{{Equalization, 0.4, 0}, {Rotation, 0.8, 8}},
		{{Solarization, 0.6, 3}, {Equalization, 0.6, 0}},
		{{Posterization, 0.8, 5}, {Equalization, 1, 0}},
		{{Rotation, 0.2, 3}, {Solarization, 0.6, 8}},
		{{Equalization, 0.6, 0}, {Posterization, 0.4, 6}},
		{{Rotation, 0.8, 8}, {Colour, 0.4, 0}},
		{{Rotation, 0.4, 9}, {Equalization, 0.6, 0}},
		{{Equalization, 0, 0}, {Equalization, 0.8, 0}},
		{{Inversion, 0.6, 0}, {Equalization, 1, 0}},
		{{Colour, 0.6, 4}, {Contrast, 1, 8}},
		{{Rotation, 0.8, 8}, {Colour, 1, 2}},
		{{Colour, 0.8, 8}, {Solarization, 0.8, 7}},
		{{Sharpness, 0.4, 7}, {Inversion, 0.6, 0}},
		{{ShearX, 0.6, 5}, {Equalization, 1, 0}},
		{{Colour, 0.4, 0}, {Equalization, 0.6, 0}},
		{{Equalization, 0.4, 0}, {Solarization, 0.2, 4}},
		{{Solarization, 0.6, 5}, {AutoContrast, 0.6, 0}},
		{{Inversion, 0.6, 0}, {Equalization, 1, 0}},
		{{Colour, 0.6, 4}, {Contrast, 1, 8}},
		{{Equalization, 0.8, 0}, {Equalization, 0.6, 0}},
	},
	{ // CIFAR10
		{{Inversion, 0.1, 0}, {Contrast, 0.2, 6}},
		{{Rotation, 0.7, 2}, {TranslateX, 0.3, 9}},
		{{Sharpness, 0.8, 1}, {Sharpness, 0.9, 3}},
		{{ShearY, 0.5, 8}, {TranslateY, 0.7, 9}},
		{{AutoContrast, 0.5, 0}, {Equalization, 0.9, 0}},
		{{ShearY, 0.2, 7}, {Posterization, 0.3, 7}},
		{{Colour, 0.4, 3}, {Brightness, 0.6, 7}},
		{{Sharpness, 0.3, 9}, {Brightness, 0.7, 9}},
		{{Equalization, 0.6, 0}, {Equalization, 0.5, 0}},
		{{Contrast, 0.6, 7}, {Sharpness, 0.6, 5}},
		{{Colour, 0.7, 7}, {TranslateX, 0.5, 8}},
		{{Equalization, 0.3, 0}, {AutoContrast, 0.4, 0}},
		{{TranslateY, 0.4, 3}, {Sharpness, 0.2, 6}},
		{{Brightness, 0.9, 6}, {Colour, 0.2, 8}},
		{{Solarization, 0.5, 2}, {Inversion, 0, 0}},
		{{Equalization, 0.2, 0}, {AutoContrast, 0.6, 0}},
		{{Equalization, 0.2, 0}, {Equalization, 0.6, 0}},
		{{Colour, 0.9, 9}, {Equalization, 0.6, 0}},
		{{AutoContrast, 0.8, 0}, {Solarization, 0.2, 8}},
		{{Brightness, 0.1, 3}, {Colour, 0.7, 0}},
		{{Solarization, 0.4, 5}, {AutoContrast, 0.9, 0}},
		{{TranslateY, 0.9, 9}, {TranslateY, 0.7, 9}},
		{{AutoContrast, 0.9, 0}, {Solarization, 0.8, 3}},
		{{Equalization, 0.8, 0}, {Inversion, 0.1, 0}},
		{{TranslateY, 0.7, 9}, {AutoContrast, 0.9, 0}},
	},
	{ // SVHN
		{{ShearX, 0.9, 4}, {Inversion, 0.2, 0}},
		{{ShearY, 0.9, 8}, {Inversion, 0.7, 0}},
		{{Equalization, 0.6, 0}, {Solarization, 0.6, 6}},
		{{Inversion, 0.9, 0}, {Equalization, 0.6, 0}},
		{{Equalization, 0.6, 0}, {Rotation, 0.9, 3}},
		{{ShearX, 0.9, 4}, {AutoContrast, 0.8, 0}},
		{{ShearY, 0.9, 8}, {Inversion, 0.4, 0}},
		{{ShearY, 0.9, 5}, {Solarization, 0.2, 6}},
		{{Inversion, 0.9, 0}, {AutoContrast, 0.8, 0}},
		{{Equalization, 0.6, 0}, {Rotation, 0.9, 3}},
		{{ShearX, 0.9, 4}, {Solarization, 0.3, 3}},
		{{ShearY, 0.8, 8}, {Inversion, 0.7, 0}},
		{{Equalization, 0.9, 0}, {TranslateY, 0.6, 6}},
		{{Inversion, 0.9, 0}, {Equalization, 0.6, 0}},
		{{Contrast, 0.3, 3}, {Rotation, 0.8, 4}},
		{{Inversion, 0.8, 0}, {TranslateY, 0, 2}},
		{{ShearY, 0.7, 6}, {Solarization, 0.4, 8}},
		{{Inversion, 0.6, 0}, {Rotation, 0.8, 4}},
		{{ShearY, 0.3, 7}, {TranslateX, 0.9, 3}},
		{{ShearX, 0.1, 6}, {Inversion, 0.6, 0}},
		{{Solarization, 0.7, 2}, {TranslateY, 0.6, 7}},
		{{ShearY, 0.8, 4}, {Inversion, 0.8, 0}},
		{{ShearX, 0.7, 9}, {TranslateY, 0.8, 3}},
		{{ShearY, 0.8, 5}, {AutoContrast, 0.7, 0}},
		{{ShearX, 0.7, 2}, {Inversion, 0.1, 0}},
	},
}
