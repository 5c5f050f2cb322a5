// Package source has images before the first step: files of all formats, arrays, and images of the standard library. Each
// gives windows of 8 bits in red, green and blue, or of the values as they are stored. Masks in files are here, too.
package source

import (
	"fmt"
	"image"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/internal/figures"
)

// An Image gives the pixels of an image before the first step.
type Image interface {
	// Decode writes a window of the image to dst, 4 bytes per pixel and stride bytes per row.
	Decode(dst []byte, stride int, window image.Rectangle) error
}

// Values give the values of an image before the first step.
type Values interface {
	// Samples is the number of channels and their dtype.
	Samples() (channels int, dtype dataset.Dtype, err error)
	// DecodeValues writes a window of the image, one plane after the other without gaps.
	DecodeValues(dst []float32, window image.Rectangle) error
}

// A Costly is an Image that takes memory to give its pixels.
type Costly interface {
	// Memory is how many bytes its decoders have at most, once a window has been decoded, beside tables and the window.
	Memory(window image.Rectangle) int64
}

// CheckSamples checks that a source has this number of channels, and returns their dtype.
func CheckSamples(src Values, channels int) (dataset.Dtype, error) {
	n, dtype, err := src.Samples()
	switch {
	case err != nil:
		return dtype, err
	case n != channels:
		return dtype, fmt.Errorf("transform: the image has %s, Depth16 wants %d", figures.Count(n, "channel", "channels"), channels)
	}
	return dtype, nil
}

// DefaultMaxPixels is Pillow's limit of pixels.
const DefaultMaxPixels = 178_956_970

// CheckSize is the error of an image of w×h pixels that is empty, or has more than limit.
func CheckSize(w, h, limit int) error {
	if w < 1 || h < 1 {
		return fmt.Errorf("transform: an image would become %s", figures.Pixels(w, h))
	}
	if w > limit/h {
		return fmt.Errorf("transform: an image would become %s, more than the limit of %d (see MaxPixels)", figures.Pixels(w, h), limit)
	}
	return nil
}
