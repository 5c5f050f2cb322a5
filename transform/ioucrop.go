package transform

import (
	"errors"
	"image"
	"math/rand/v2"
)

// RandomIoUCrop cuts out a random part of the image that overlaps with its boxes, as
// in SSD (arXiv 1512.02325) and in torchvision. First it draws an option: to leave the
// image as it is, or the least IoU that some box must have with the part. Then it tries
// parts. A box whose centre is outside the part becomes 0, 0, 0, 0:
// [SanitizeBoundingBoxes] must come later, to remove it. It needs [Boxes]. An image
// without boxes stays as it is.
//
// [Scale] is the least and the greatest width and height of the part, as parts of the image's; the default is 0.3 to
// 1. [Ratio] is that of width to height; the default is 0.5 to 2. [SamplerOptions] are 0, 0.1, 0.3, 0.5, 0.7, 0.9 and 1
// by default, and [Trials] 40.
func RandomIoUCrop(options ...Option) Step {
	usual := arguments{scale: span{0.3, 1}, ratio: span{0.5, 2}, ious: []float64{0, 0.1, 0.3, 0.5, 0.7, 0.9, 1}, trials: 40}
	return iouCropping{calling("RandomIoUCrop", keyScale|keyRatio|keySamplerOptions|keyTrials, usual, options)}
}

type iouCropping struct{ *call }

func (s iouCropping) add(p *program) error {
	if err := p.needBoxes(); err != nil {
		return err
	}
	if s.scale.greatest > 1 {
		return errors.New("want a Scale up to 1")
	}
	return p.geometry(s, crops)
}

func (s iouCropping) after(_, _ int) (w, h int) { return 0, 0 }

func (s iouCropping) move(e *engine, r *rand.Rand) error {
	a := e.annotations
	w, h := e.Size()
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
func (s iouCropping) part(a *annotations, w, h int, r *rand.Rand) (part image.Rectangle, found bool) {
	least, more := float32(s.scale.least), float32(s.scale.greatest-s.scale.least)
	for range 1000 {
		iou := s.ious[r.IntN(len(s.ious))]
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
