package transform

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/internal/figures"
	"github.com/penstock-go/penstock/transform/internal/engine"
	"github.com/penstock-go/penstock/transform/internal/raster"
)

// A SampleTransform edits an image together with other fields of its sample, or gives
// it another size. All workers call it at the same time, so it must not change its own
// fields. Its random numbers are those of a [Transform]. Its errors and panics are errors of the
// sample: see [dataset.PanicError].
//
// If it has a method Size(w, h int) (int, int), it may change the size: Size is the
// size after it, for an image of that width and height, or 0, 0 if that varies. Where the
// size before it varies, the size after it varies, too: put a Resize before it.
type SampleTransform interface {
	ApplySample(s *Sample, r *rand.Rand) error
}

// A Sample is what a [SampleTransform] edits. It is valid during one call.
type Sample struct {
	// Image is the image after all steps before this one. An image that New has made
	// may take its place. With [Depth16] it is nil.
	Image *Image
	// Planes is the image with Depth16, where those that NewPlanes has made may take its
	// place. Integers are rounded after the call. Without Depth16 it is nil.
	Planes *Planes
	// Fields are the fields that [Apply] names, in that order, for [dataset.Row].
	// Boxes, keypoints and masks are where the steps before have moved them. Values may
	// change, but not the number of elements, except by [NewMask].
	//
	// A field of [Mask] holds height·width numbers, row by row, for the size of the image, in the
	// dtype of the result: [Dtype]. A field of [Masks] holds one such plane after the
	// other. The numbers must be from 0 to 16777215.
	Fields dataset.Slot

	lent *engine.Lent
}

// New makes an image of w×h pixels with undefined content, in memory of the worker.
// Another call in the same step reuses it, unless Image has its memory. It panics if w or h is below 1, or if the image
// would have more pixels than [MaxPixels] allows.
func (s *Sample) New(w, h int) *Image { return (*Image)(s.lent.NewImage(w, h)) }

// NewPlanes is New for images of [Depth16]: planes of w×h pixels, with the channels and the dtype of
// the sample's Planes. It panics without Depth16.
func (s *Sample) NewPlanes(w, h int) *Planes { return (*Planes)(s.lent.NewPlanes(w, h)) }

type sampled struct {
	own
	t      SampleTransform
	fields []string
}

func (s sampled) String() string {
	text := figures.Name(s.t)
	for _, f := range s.fields {
		text += fmt.Sprintf(" of %q", f)
	}
	return text
}

// call gives the user's step what is lent to it.
func (s sampled) call(l *engine.Lent, r *rand.Rand) error {
	v, ok := l.User.(*Sample)
	if !ok {
		v = &Sample{lent: l}
		l.User = v
	}
	v.Image, v.Planes, v.Fields = (*Image)(l.Image), (*Planes)(l.Planes), l.Fields
	err := s.t.ApplySample(v, r)
	l.Image, l.Planes = (*raster.Image)(v.Image), (*raster.Planes)(v.Planes)
	return err
}

type sizer interface{ Size(w, h int) (int, int) }

func (s sampled) add(p *program) error {
	if err := p.beforeTensor(); err != nil {
		return err
	}
	p.pause("augment   " + s.String())
	op := &engine.Sampling{Text: s.String(), Fields: s.fields, Call: s.call}
	p.samplings = append(p.samplings, op)
	size, ok := s.t.(sizer)
	switch {
	case !ok:
		p.Ops = append(p.Ops, op)
	case len(p.unmoved(s.fields)) > 0:
		return fmt.Errorf("changes the size: name the fields %q of Boxes, Mask, Masks and KeyPoints, so that it can move them", p.unmoved(s.fields))
	default:
		op.Size = size.Size
		p.Ops = append(p.Ops, sizedSampling{op})
	}
	return nil
}

// unmoved are the fields of annotations that are not among these.
func (a *annotated) unmoved(fields []string) (left []string) {
	for _, name := range a.names() {
		if !slices.Contains(fields, name) {
			left = append(left, name)
		}
	}
	return left
}

// A sizedSampling is one that changes the size.
type sizedSampling struct{ *engine.Sampling }

func (s sizedSampling) after(w, h int) (int, int) {
	if w == 0 || h == 0 {
		return 0, 0
	}
	return s.Size(w, h)
}

// findFields finds the fields of all SampleTransforms in the spec of the dataset, which is
// nil for a single image.
func (p *program) findFields(spec dataset.Spec) error {
	var errs []error
	for _, s := range p.samplings {
		errs = append(errs, p.find(s, spec))
	}
	for _, v := range p.groups {
		err := v.program.findFields(spec)
		if !v.crops {
			err = within(v.place, err)
		}
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

// find finds the fields of a step in the spec.
func (p *program) find(s *engine.Sampling, spec dataset.Spec) error {
	for _, name := range s.Fields {
		at := spec.Index(name)
		if spec == nil {
			return fmt.Errorf("%v: a single image has no other fields", s)
		}
		if at < 0 {
			return fmt.Errorf("%v: the dataset has no field %q, only %v", s, name, spec)
		}
		if name == p.Field {
			return fmt.Errorf("%v: that is the field of the images", s)
		}
		mask := slices.IndexFunc(p.annotated.masks, func(m maskField) bool { return m.name == name })
		s.At, s.Masks = append(s.At, at), append(s.Masks, mask)
		s.Sees = s.Sees || mask >= 0
	}
	return nil
}

// NewMask gives the masks of field k of s.Fields the size of an image of w×h pixels, for a
// [SampleTransform] that changes the size. It returns their numbers, to be written: as many
// planes as before, one after the other, with undefined content, in memory of the worker. They
// take the place of those in Fields when ApplySample returns. Another call for the same field in
// the same step reuses the memory.
//
// It panics if Fields has no field k, if that is not one of [Mask] or [Masks], if T is not its
// dtype, if w or h is below 1, or if the masks would have more pixels than [MaxPixels] allows. In a
// step, a panic is an error of the sample.
func NewMask[T uint8 | uint16 | int32 | int64](s *Sample, k, w, h int) []T {
	cells, n := s.lent.NewMask(k, w, h, dataset.DtypeOf[T]())
	return dataset.Grow[T](cells, 0, n)
}
