package transform

import (
	"errors"
	"fmt"
	"image"
	"math/rand/v2"

	"github.com/penstock-go/penstock/internal/resize"
	"github.com/penstock-go/penstock/transform/internal/engine"
)

// A Filter is the interpolation of a resize. The results are those of Pillow's
// filter of the same name, bit for bit. All filters except Nearest antialias: when
// an image shrinks, every source pixel contributes to the result.
type Filter uint8

// The filters. The default is Bilinear everywhere.
const (
	Bilinear = Filter(resize.Bilinear) // a triangle: linear between neighbouring pixels
	Nearest  = Filter(resize.Nearest)  // the pixel at the centre
	Box      = Filter(resize.Box)      // the mean of the covered pixels
	Bicubic  = Filter(resize.Bicubic)  // Keys' cubic convolution with a = -0.5
	Lanczos  = Filter(resize.Lanczos)  // sinc with a Lanczos window of ±3 pixels
	Hamming  = Filter(resize.Hamming)  // sinc with a Hamming window of ±1 pixel: as fast as Bilinear, and sharper
)

// String is Pillow's name of the filter, in lower case.
func (f Filter) String() string { return resize.Filter(f).String() }

// Resize scales the image, as torchvision's Resize does with a PIL image. Resize(n) makes the
// shorter side n pixels long and the longer one int(n·long/short). Resize([2]int{h, w}) makes the
// image h×w. The height comes first, as everywhere in torchvision.
//
// [Interpolation] sets the filter; the default is [Bilinear]. [MaxSize] limits the longer side of
// Resize(n) to a number greater than n: if it would be longer, it becomes that, and the shorter side
// int(max·short/long).
func Resize[S Size](size S, options ...Option) Step {
	return resizing{calling("Resize", keyInterpolation|keyMaxSize, arguments{}, options, size), extentOf(size)}
}

type resizing struct {
	*call
	size extent
}

func checkFilter(f Filter) error {
	if f > Hamming {
		return fmt.Errorf("want the filter Bilinear, Nearest, Box, Bicubic, Lanczos or Hamming, not number %d", f)
	}
	return nil
}

func (s resizing) add(p *program) error {
	if err := s.size.Check(); err != nil {
		return err
	}
	switch {
	case s.maxSize != 0 && !s.size.one:
		return errors.New("want a MaxSize only with the shorter side")
	case s.maxSize != 0 && s.maxSize <= s.size.h:
		return errors.New("want a MaxSize above the shorter side")
	}
	return p.geometry(s, resizes)
}

// after is the size of an image of w×h after the resize.
func (s resizing) after(w, h int) (int, int) {
	if !s.size.one {
		return s.size.w, s.size.h
	}
	return shortened(w, h, s.size.h, s.maxSize)
}

// shortened is the size of an image of w×h after its shorter side has become short, unless the longer
// one would be above limit. A limit of 0 is none.
func shortened(w, h, short, limit int) (int, int) {
	if w == 0 || h == 0 {
		return 0, 0
	}
	long := short * max(w, h) / min(w, h)
	if limit != 0 && long > limit {
		short, long = limit*short/long, limit
	}
	if w <= h {
		return short, long
	}
	return long, short
}

func (s resizing) Move(e *engine.Engine, _ *rand.Rand) error {
	w, h := s.after(e.Size())
	return e.Resample(w, h, resize.Filter(s.interpolation))
}

// RandomResizedCrop cuts out a random part of the image and resizes it to size×size pixels, or to
// height×width: torchvision's RandomResizedCrop. As there, it draws an area and an aspect ratio until
// the part fits into the image. After ten draws without success it takes the largest central part
// whose aspect ratio is allowed.
//
// [Scale] is the least and the greatest area, as parts of the image's; the default is 0.08 to 1. [Ratio]
// is that of width to height; the default is 3/4 to 4/3. [Interpolation] is [Bilinear] by default.
func RandomResizedCrop[S Size](size S, options ...Option) Step {
	usual := arguments{scale: engine.Span{Least: 0.08, Greatest: 1}, ratio: engine.Span{Least: 3.0 / 4, Greatest: 4.0 / 3}}
	return randomResizedCropping{calling("RandomResizedCrop", keyScale|keyRatio|keyInterpolation, usual, options, size), extentOf(size)}
}

type randomResizedCropping struct {
	*call
	size extent
}

func (s randomResizedCropping) add(p *program) error {
	if err := s.size.Check(); err != nil {
		return err
	}
	return p.geometry(s, resizes)
}

func (s randomResizedCropping) after(_, _ int) (w, h int) { return s.size.w, s.size.h }

func (s randomResizedCropping) Move(e *engine.Engine, r *rand.Rand) error {
	w, h := e.Size()
	if err := e.Crop(s.part(w, h, r), [3]uint8{}); err != nil {
		return err
	}
	return e.Resample(s.size.w, s.size.h, resize.Filter(s.interpolation))
}

// part draws what to cut out of an image of w×h.
func (s randomResizedCropping) part(w, h int, r *rand.Rand) image.Rectangle {
	for range 10 {
		pw, ph := engine.DrawPart(w, h, s.scale, s.ratio, r)
		if 0 < pw && pw <= w && 0 < ph && ph <= h {
			top := r.IntN(h - ph + 1)
			left := r.IntN(w - pw + 1)
			return image.Rect(left, top, left+pw, top+ph)
		}
	}
	pw, ph := w, h
	switch ratio := float64(w) / float64(h); {
	case ratio < s.ratio.Least:
		ph = min(engine.Round(float64(w)/s.ratio.Least), h)
	case ratio > s.ratio.Greatest:
		pw = min(engine.Round(float64(h)*s.ratio.Greatest), w)
	}
	left, top := (w-pw)/2, (h-ph)/2
	return image.Rect(left, top, left+pw, top+ph)
}
