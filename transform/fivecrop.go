package transform

import (
	"errors"
	"fmt"
	"image"
	"math/rand/v2"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/internal/figures"
	"github.com/penstock-go/penstock/transform/internal/engine"
)

// FiveCrop crops the four corners and the centre of the image, as is usual in the
// evaluation of classifiers. It is torchvision's FiveCrop. The crops have size×size
// pixels, or height×width. The result has the shape (5, 3, h, w), in the order upper
// left, upper right, lower left, lower right and centre. An image that is smaller makes the
// sample an error.
//
// Steps before it run once, and the image is decoded once. Steps after it apply to every
// crop. Random ones have the same draws for all crops, as in torchvision. FiveCrop may be
// among the steps of [Views]. It cannot be combined with [Ragged], [Sizes], and with [Boxes],
// [Mask], [Masks] and [KeyPoints], which torchvision's does not crop either.
func FiveCrop[S Size](size S) Step {
	return tenCropping{named("FiveCrop", size), extentOf(size), 5}
}

// TenCrop is torchvision's TenCrop: the crops of [FiveCrop], followed by those of the image mirrored
// left to right, or with [VerticalFlip] top to bottom. The result has the shape (10, 3, h, w).
func TenCrop[S Size](size S, options ...Option) Step {
	return tenCropping{calling("TenCrop", keyVerticalFlip, arguments{}, options, size), extentOf(size), 10}
}

type tenCropping struct {
	*call
	size extent
	n    int
}

func (s tenCropping) add(p *program) error {
	if err := errors.Join(s.size.Check(), p.notNested(), p.beforeTensor()); err != nil {
		return err
	}
	if p.annotated.any() {
		return errors.New("not with Boxes, Mask, Masks or KeyPoints, which torchvision's does not crop either")
	}
	if p.Crops > 0 {
		return errors.New("must come only once, and not with another step that makes several crops")
	}
	p.endRun()
	p.lines = append(p.lines, fmt.Sprintf("crops     %v, each of which the following steps change", s))
	p.Crops, p.cropping, p.cropsAt = s.n, s, len(p.Ops)
	p.Ops = append(p.Ops, moving{s})
	return nil
}

func (s tenCropping) after(_, _ int) (w, h int) { return s.size.w, s.size.h }

func (s tenCropping) Move(e *engine.Engine, _ *rand.Rand) error {
	w, h := e.Size()
	cw, ch := s.after(w, h)
	if cw > w || ch > h {
		return fmt.Errorf("transform: %v: the image has only %s", s, figures.Pixels(w, h))
	}
	if e.Crop5 >= 5 {
		e.Flip(s.vertical)
	}
	at := [5]image.Point{{0, 0}, {w - cw, 0}, {0, h - ch}, {w - cw, h - ch}, {centred(w, cw), centred(h, ch)}}[e.Crop5%5]
	return e.Crop(image.Rectangle{Min: at, Max: at.Add(image.Pt(cw, ch))}, [3]uint8{})
}

// splitCrops makes the steps from FiveCrop or TenCrop on those of views, one per crop.
func (p *program) splitCrops() error {
	if p.Crops == 0 {
		return nil
	}
	switch {
	case len(p.groups) > 0:
		return nil // which is a mistake that compileViews has found
	case p.Ragged || p.Sizes != "":
		return fmt.Errorf("%v: not with Ragged and Sizes: all crops have one size", p.cropping)
	}
	inner := &program{Plan: engine.Plan{Field: p.Field, Limit: p.Limit, Pillow: p.Pillow, Cut: p.Cut, Output: p.Output, Deep: p.Deep, Ops: p.Ops[p.cropsAt:]}}
	p.Ops = p.Ops[:p.cropsAt:p.cropsAt]
	p.groups = []*group{{viewGroup: viewGroup{call: named(p.cropping.name), n: p.Crops}, crops: true, target: p.Field, program: inner}}
	return nil
}

// resultOf is the field of the results, which may be several crops, from images of w×h. Zeros
// mean that the size varies.
func (p *program) resultOf(w, h int) (dataset.Field, error) {
	if p.Crops == 0 {
		return p.fieldOf(w, h)
	}
	spec, err := p.withViews(dataset.Spec{{Name: p.Field, Dtype: dataset.Uint8}}, 0, 0, 0)
	return spec[0], err
}
