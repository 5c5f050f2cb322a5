package transform

import (
	"errors"
	"image"
	"math/rand/v2"
	"slices"

	"github.com/penstock-go/penstock/internal/steps"
)

// RandomIoUCrop cuts out a random part of the image that overlaps with its boxes, as
// in SSD (arXiv 1512.02325) and in torchvision. First it draws an option: to leave the
// image as it is, or the least IoU that some box must have with the part. Then it tries
// parts. A box whose centre is outside the part becomes 0, 0, 0, 0:
// [SanitizeBoundingBoxes] must come later, to remove it. It needs [Boxes]. An image
// without boxes stays as it is.
func RandomIoUCrop() IoUCropping {
	return IoUCropping{scale: span{0.3, 1}, ratio: span{0.5, 2}, options: []float64{0, 0.1, 0.3, 0.5, 0.7, 0.9, 1}, trials: 40}
}

// IoUCropping is the step that [RandomIoUCrop] makes.
type IoUCropping struct {
	scale, ratio span
	options      []float64
	trials       int
}

// Scale sets the least and the greatest width and height of the part, as fractions
// of the image's. The default is 0.3 to 1.
func (s IoUCropping) Scale(least, greatest float64) IoUCropping {
	s.scale = span{least, greatest}
	return s
}

// Ratio sets the least and the greatest ratio of the part's width to its height. The
// default is 0.5 to 2.
func (s IoUCropping) Ratio(least, greatest float64) IoUCropping {
	s.ratio = span{least, greatest}
	return s
}

// Options sets the least IoUs, torchvision's sampler_options, of which one is drawn:
// 1 or more leaves the image as it is. The default is 0, 0.1, 0.3, 0.5, 0.7, 0.9, 1.
// Without an option of 1, an image stays as it is after 1000 options for which no
// part was found, where torchvision would go on.
func (s IoUCropping) Options(ious ...float64) IoUCropping {
	s.options = slices.Clone(ious)
	return s
}

// Trials sets how many parts are tried per option. The default is 40.
func (s IoUCropping) Trials(n int) IoUCropping {
	s.trials = n
	return s
}

// String prints the call that made the step.
func (s IoUCropping) String() string {
	usual, text := RandomIoUCrop(), "RandomIoUCrop()"
	if s.scale != usual.scale {
		text += s.scale.call(".Scale")
	}
	if s.ratio != usual.ratio {
		text += s.ratio.call(".Ratio")
	}
	if !slices.Equal(s.options, usual.options) {
		text += steps.Call(".Options", steps.Anys(s.options)...)
	}
	if s.trials != usual.trials {
		text += steps.Call(".Trials", s.trials)
	}
	return text
}

func (s IoUCropping) add(p *program) error {
	err := errors.Join(s.scale.check("Scale"), s.ratio.check("Ratio"), p.needBoxes())
	switch {
	case err != nil:
		return err
	case s.scale.greatest > 1:
		return errors.New("want a Scale up to 1")
	case len(s.options) == 0 || slices.ContainsFunc(s.options, func(o float64) bool { return !(o >= 0) }):
		return errors.New("want Options of 0 or more")
	case s.trials < 1:
		return errors.New("want Trials of 1 or more")
	}
	return p.geometry(s, crops)
}

func (s IoUCropping) after(_, _ int) (w, h int) { return 0, 0 }

func (s IoUCropping) move(e *engine, r *rand.Rand) error {
	a := e.annotations
	w, h := e.size()
	if len(a.box) == 0 {
		return nil
	}
	part, found := s.part(a, w, h, r)
	if !found {
		return nil
	}
	a.outside = a.outside[:0]
	for k := range len(a.box) / 4 {
		if !centreIn(toXYXY([4]float32(a.box[4*k:]), a.format), part) {
			a.outside = append(a.outside, int32(k))
		}
	}
	if err := e.crop(part, [3]uint8{}); err != nil {
		return err
	}
	for _, k := range a.outside {
		clear(a.box[4*k : 4*k+4])
	}
	return nil
}

// part draws what to cut out, or that the image stays as it is. Its arithmetic is
// torchvision's, in float32 where that has tensors.
func (s IoUCropping) part(a *annotations, w, h int, r *rand.Rand) (part image.Rectangle, found bool) {
	least, more := float32(s.scale.least), float32(s.scale.greatest-s.scale.least)
	for range 1000 {
		iou := s.options[r.IntN(len(s.options))]
		if iou >= 1 {
			return image.Rectangle{}, false
		}
		for range s.trials {
			dw, dh := r.Float32(), r.Float32()
			pw, ph := int(float32(w)*(least+float32(more*dw))), int(float32(h)*(least+float32(more*dh)))
			if pw < 1 || ph < 1 {
				continue
			}
			if ratio := float64(pw) / float64(ph); ratio < s.ratio.least || ratio > s.ratio.greatest {
				continue
			}
			dx, dy := r.Float32(), r.Float32()
			left, top := int(float32(w-pw)*dx), int(float32(h-ph)*dy)
			part = image.Rect(left, top, left+pw, top+ph)
			if a.overlaps(part, float32(iou)) {
				return part, true
			}
		}
	}
	return image.Rectangle{}, false
}

// overlaps reports whether a box whose centre is in part has at least that IoU with it.
func (a *annotations) overlaps(part image.Rectangle, least float32) bool {
	for b := a.box; len(b) >= 4; b = b[4:] {
		if v := toXYXY([4]float32(b), a.format); centreIn(v, part) && !(boxIoU(v, part) < least) {
			return true
		}
	}
	return false
}

// centreIn reports whether the centre of a box in XYXY is inside part.
func centreIn(b [4]float32, part image.Rectangle) bool {
	x, y := 0.5*(b[0]+b[2]), 0.5*(b[1]+b[3])
	return float32(part.Min.X) < x && x < float32(part.Max.X) && float32(part.Min.Y) < y && y < float32(part.Max.Y)
}

// boxIoU is the area of the intersection of a box in XYXY with part over that of their
// union.
func boxIoU(b [4]float32, part image.Rectangle) float32 {
	left, top := max(b[0], float32(part.Min.X)), max(b[1], float32(part.Min.Y))
	right, bottom := min(b[2], float32(part.Max.X)), min(b[3], float32(part.Max.Y))
	both := float32(max(right-left, 0) * max(bottom-top, 0))
	all := float32((b[2]-b[0])*(b[3]-b[1])) + float32(float32(part.Dx())*float32(part.Dy()))
	return both / (all - both)
}
