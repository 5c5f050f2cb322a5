package transform

import (
	"errors"
	"math"

	"github.com/penstock-go/penstock/transform/internal/raster"
)

// RandomAdjustSharpness blends the image with a smoothed one, with probability p. Factor
// 0 gives the smoothed image, 1 the image as it is, and 2 twice the sharpness. The result
// is that of PIL's ImageEnhance.Sharpness, bit for bit, and within one level that of
// torchvision's tensors. Torchvision's default for p is 0.5.
func RandomAdjustSharpness(factor, p float64) Step {
	s := chance{named("RandomAdjustSharpness", factor, p), p, func(f raster.Frame) { f.Sharpness(factor) }}
	if !(factor >= 0 && factor < math.MaxFloat32) {
		s.mistake = errors.New("want a finite factor, 0 or more")
	}
	return s
}
