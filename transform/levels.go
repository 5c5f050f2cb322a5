package transform

import (
	"errors"

	"github.com/penstock-go/penstock/transform/internal/raster"
)

// RandomPosterize keeps only the highest bits of every value, with probability p. Bits,
// from 0 to 8, is their number. With [Depth16] they are the highest of the 16 bits, or of the 15
// without the sign, which is lost; floats are rounded down to one of 2^bits levels below 1.
// The result is that of PIL's ImageOps.posterize and of torchvision's tensors, bit for
// bit. Torchvision's default for p is 0.5.
func RandomPosterize(bits int, p float64) Step {
	s := chance{named("RandomPosterize", bits, p), p, func(f raster.Frame) { f.Posterize(bits) }}
	if bits < 0 || bits > 8 {
		s.mistake = errors.New("want 0 to 8 bits")
	}
	return s
}

// RandomSolarize inverts all values that are threshold or more, with probability p.
// Values are from 0 to 255, unlike those of a float tensor in torchvision. With [Depth16] the
// threshold is on the scale of the stored values. The result
// is that of PIL's ImageOps.solarize and of torchvision's tensors, bit for bit.
// Torchvision's default for p is 0.5.
func RandomSolarize(threshold, p float64) Step {
	s := chance{named("RandomSolarize", threshold, p), p, func(f raster.Frame) { f.Solarize(threshold) }}
	if threshold-threshold != 0 {
		s.mistake = errors.New("want a finite threshold")
	}
	return s
}

// RandomInvert inverts all values with probability p. The result is that of PIL's
// ImageOps.invert and of torchvision's tensors, bit for bit. Torchvision's default for p
// is 0.5.
func RandomInvert(p float64) Step {
	return chance{named("RandomInvert", p), p, raster.Frame.Invert}
}

// RandomAutocontrast stretches the values of each channel, so that the least becomes 0
// and the greatest 255, with probability p. The result is that of PIL's
// ImageOps.autocontrast, bit for bit, and within one level that of torchvision's tensors.
// Torchvision's default for p is 0.5.
func RandomAutocontrast(p float64) Step {
	return chance{named("RandomAutocontrast", p), p, raster.Frame.Autocontrast}
}

// RandomEqualize equalises the histogram of each channel with probability p. The result
// is that of PIL's ImageOps.equalize, bit for bit. Torchvision's default for p is 0.5. With
// [Depth16] the result has at most 256 levels, because torchvision equalises the highest 8
// bits.
func RandomEqualize(p float64) Step {
	return chance{named("RandomEqualize", p), p, raster.Frame.Equalize}
}
