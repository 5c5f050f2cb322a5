package transform

import (
	"errors"
	"fmt"
	"image"
	"math"
	"math/rand/v2"

	"github.com/penstock-go/penstock/internal/resize"
	"github.com/penstock-go/penstock/internal/steps"
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

// Resize scales the image, as torchvision's Resize does with a PIL image.
// Resize(s) makes the shorter side s pixels long and the longer one
// int(s·long/short). Resize(h, w) makes the image h×w. The height comes first, as
// everywhere in torchvision.
func Resize(size ...int) Resizing { return Resizing{size: size} }

// Resizing is the step that [Resize] makes.
type Resizing struct {
	size   []int
	filter Filter
	limit  int
}

// Filter sets the filter, torchvision's interpolation. The default is [Bilinear].
func (s Resizing) Filter(f Filter) Resizing {
	s.filter = f
	return s
}

// MaxSize limits the longer side to n pixels. If it would be longer, it becomes n,
// and the shorter side int(n·short/long). It is only for Resize(s), and n must be
// greater than s. By default there is no limit.
func (s Resizing) MaxSize(n int) Resizing {
	s.limit = n
	return s
}

// String prints the call that made the step.
func (s Resizing) String() string {
	text := steps.Call("Resize", steps.Anys(s.size)...)
	if s.limit != 0 {
		text += steps.Call(".MaxSize", s.limit)
	}
	return text + filterCall(s.filter)
}

func filterCall(f Filter) string {
	if f == Bilinear {
		return ""
	}
	return steps.Call(".Filter", f)
}

func checkFilter(f Filter) error {
	if f > Hamming {
		return fmt.Errorf("want the filter Bilinear, Nearest, Box, Bicubic, Lanczos or Hamming, not number %d", f)
	}
	return nil
}

func (s Resizing) add(p *program) error {
	if _, _, err := extent(s.size); err != nil {
		return err
	}
	if err := checkFilter(s.filter); err != nil {
		return err
	}
	switch {
	case s.limit != 0 && len(s.size) != 1:
		return errors.New("want a MaxSize only with the shorter side")
	case s.limit != 0 && s.limit <= s.size[0]:
		return errors.New("want a MaxSize above the shorter side")
	}
	return p.geometry(s, resizes)
}

// after is the size of an image of w×h after the resize.
func (s Resizing) after(w, h int) (int, int) {
	if len(s.size) == 2 {
		return s.size[1], s.size[0]
	}
	if w == 0 || h == 0 {
		return 0, 0
	}
	short, long := s.size[0], s.size[0]*max(w, h)/min(w, h)
	if s.limit != 0 && long > s.limit {
		short, long = s.limit*short/long, s.limit
	}
	if w <= h {
		return short, long
	}
	return long, short
}

func (s Resizing) move(e *engine, _ *rand.Rand) error {
	w, h := s.after(e.size())
	return e.resample(w, h, resize.Filter(s.filter))
}

// RandomResizedCrop cuts out a random part of the image and resizes it:
// RandomResizedCrop(s) to s×s pixels, RandomResizedCrop(h, w) to h×w. As in
// torchvision, it draws an area and an aspect ratio until the part fits into the
// image. After ten draws without success it takes the largest central part whose
// aspect ratio is allowed.
func RandomResizedCrop(size ...int) RandomResizedCropping {
	return RandomResizedCropping{size: size, scale: span{0.08, 1}, ratio: span{3.0 / 4, 4.0 / 3}}
}

// RandomResizedCropping is the step that [RandomResizedCrop] makes.
type RandomResizedCropping struct {
	size         []int
	scale, ratio span
	filter       Filter
}

// Scale sets the least and the greatest area of the part, as fractions of the
// image's area. The default is 0.08 to 1.
func (s RandomResizedCropping) Scale(least, greatest float64) RandomResizedCropping {
	s.scale = span{least, greatest}
	return s
}

// Ratio sets the least and the greatest ratio of the part's width to its height.
// The default is 3/4 to 4/3.
func (s RandomResizedCropping) Ratio(least, greatest float64) RandomResizedCropping {
	s.ratio = span{least, greatest}
	return s
}

// Filter sets the filter, torchvision's interpolation. The default is [Bilinear].
func (s RandomResizedCropping) Filter(f Filter) RandomResizedCropping {
	s.filter = f
	return s
}

// String prints the call that made the step.
func (s RandomResizedCropping) String() string {
	text := steps.Call("RandomResizedCrop", steps.Anys(s.size)...)
	if s.scale != (span{0.08, 1}) {
		text += s.scale.call(".Scale")
	}
	if s.ratio != (span{3.0 / 4, 4.0 / 3}) {
		text += s.ratio.call(".Ratio")
	}
	return text + filterCall(s.filter)
}

func (s RandomResizedCropping) add(p *program) error {
	_, _, err := extent(s.size)
	if err := errors.Join(err, s.scale.check("Scale"), s.ratio.check("Ratio"), checkFilter(s.filter)); err != nil {
		return err
	}
	return p.geometry(s, resizes)
}

func (s RandomResizedCropping) after(_, _ int) (w, h int) {
	h, w, _ = extent(s.size)
	return w, h
}

func (s RandomResizedCropping) move(e *engine, r *rand.Rand) error {
	w, h := e.size()
	if err := e.crop(s.part(w, h, r), [3]uint8{}); err != nil {
		return err
	}
	w, h = s.after(w, h)
	return e.resample(w, h, resize.Filter(s.filter))
}

// part draws what to cut out of an image of w×h.
func (s RandomResizedCropping) part(w, h int, r *rand.Rand) image.Rectangle {
	for range 10 {
		pw, ph := drawPart(w, h, s.scale, s.ratio, r)
		if 0 < pw && pw <= w && 0 < ph && ph <= h {
			top := r.IntN(h - ph + 1)
			left := r.IntN(w - pw + 1)
			return image.Rect(left, top, left+pw, top+ph)
		}
	}
	pw, ph := w, h
	switch ratio := float64(w) / float64(h); {
	case ratio < s.ratio.least:
		ph = min(round(float64(w)/s.ratio.least), h)
	case ratio > s.ratio.greatest:
		pw = min(round(float64(h)*s.ratio.greatest), w)
	}
	left, top := (w-pw)/2, (h-ph)/2
	return image.Rect(left, top, left+pw, top+ph)
}

// drawPart draws the size of a part: its area uniformly in scale, and the
// logarithm of its ratio uniformly between the logarithms of ratio.
func drawPart(w, h int, scale, ratio span, r *rand.Rand) (pw, ph int) {
	area := float64(w) * float64(h) * scale.draw(r)
	aspect := math.Exp(span{math.Log(ratio.least), math.Log(ratio.greatest)}.draw(r))
	return round(math.Sqrt(area * aspect)), round(math.Sqrt(area / aspect))
}

// round rounds as Python does: halves go to the even neighbour. Numbers that are
// too large for a side give -1.
func round(v float64) int {
	if !(v < math.MaxInt32) {
		return -1
	}
	return int(math.RoundToEven(v))
}

// A span is a range of numbers.
type span struct{ least, greatest float64 }

func (s span) draw(r *rand.Rand) float64 {
	return s.least + r.Float64()*(s.greatest-s.least)
}

func (s span) call(name string) string { return steps.Call(name, s.least, s.greatest) }

func (s span) check(name string) error {
	if !(s.least > 0 && s.least <= s.greatest && s.greatest < math.Inf(1)) {
		return fmt.Errorf("want a %s above 0, with the least number first", name)
	}
	return nil
}
