package transform

import (
	"errors"
	"fmt"
	"image"
	"math/rand/v2"
	"slices"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/internal/figures"
	"github.com/penstock-go/penstock/transform/internal/source"
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

	engine *engine
	step   *sampling
	cells  []dataset.Cell
	sizes  []int // bytes of the cells before

	pix    [2][]uint8   // the engine's memory of Image and of what New has made
	values [2][]float32 // that of Planes and NewPlanes

	channels int // those of Planes
	dtype    dataset.Dtype
}

// New makes an image of w×h pixels with undefined content, in memory of the worker.
// Another call in the same step reuses it, unless Image has its memory. It panics if w or h is below 1, or if the image
// would have more pixels than [MaxPixels] allows.
func (s *Sample) New(w, h int) *Image {
	s.mustHold("New", w, h)
	f := s.engine.frame.(*byteFrame)
	f.Spare.Pix = forSpare(&s.pix, f.Pix)
	f.Spare.Resize(w, h)
	s.pix[1] = f.Spare.Pix
	return (*Image)(&f.Spare)
}

// NewPlanes is New for images of [Depth16]: planes of w×h pixels, with the channels and the dtype of
// the sample's Planes. It panics without Depth16.
func (s *Sample) NewPlanes(w, h int) *Planes {
	f, ok := s.engine.frame.(*floatFrame)
	if !ok {
		panic("transform: NewPlanes: only with Depth16: without it the image is Sample.Image, and Sample.New makes another")
	}
	s.mustHold("NewPlanes", w, h)
	m := (*Planes)(&f.Spare)
	m.Pix = forSpare(&s.values, f.Pix)
	f.Spare.Resize(s.channels, w, h)
	m.Dtype = s.dtype
	s.values[1] = m.Pix
	return m
}

// mustHold panics if a step asks for an image of w×h pixels that cannot be.
func (s *Sample) mustHold(call string, w, h int) {
	switch limit := s.engine.limit; {
	case w < 1 || h < 1:
		panic(fmt.Sprintf("transform: %s: got a width of %d and a height of %d, want 1 or more", call, w, h))
	case w > limit/h:
		panic(fmt.Sprintf("transform: %s: got %s, want at most %d (see MaxPixels)", call, figures.Pixels(w, h), limit))
	}
}

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

type sizer interface{ Size(w, h int) (int, int) }

func (s sampled) add(p *program) error {
	if err := p.beforeTensor(); err != nil {
		return err
	}
	p.pause("augment   " + s.String())
	op := &sampling{sampled: s}
	p.samplings = append(p.samplings, op)
	size, ok := s.t.(sizer)
	switch {
	case !ok:
		p.ops = append(p.ops, op)
	case len(p.unmoved(s.fields)) > 0:
		return fmt.Errorf("changes the size: name the fields %q of Boxes, Mask, Masks and KeyPoints, so that it can move them", p.unmoved(s.fields))
	default:
		op.size = size
		p.ops = append(p.ops, sizedSampling{op})
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

// A sampling is a SampleTransform in a program.
type sampling struct {
	sampled
	size  sizer // nil if it keeps the size
	at    []int // the fields in the dataset
	masks []int // of each field: which mask of the annotations it is, or -1
	sees  bool  // one of them is a mask
}

// A sizedSampling is one that changes the size.
type sizedSampling struct{ *sampling }

func (s sizedSampling) after(w, h int) (int, int) {
	if w == 0 || h == 0 {
		return 0, 0
	}
	return s.size.Size(w, h)
}

// findFields finds the fields of all SampleTransforms in the spec of the dataset, which is
// nil for a single image.
func (p *program) findFields(spec dataset.Spec) error {
	var errs []error
	for _, s := range p.samplings {
		errs = append(errs, s.find(p, spec))
	}
	for _, v := range p.views {
		err := v.program.findFields(spec)
		if !v.crops {
			err = within(v.place, err)
		}
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

func (s *sampling) find(p *program, spec dataset.Spec) error {
	for _, name := range s.fields {
		at := spec.Index(name)
		if spec == nil {
			return fmt.Errorf("%v: a single image has no other fields", s)
		}
		if at < 0 {
			return fmt.Errorf("%v: the dataset has no field %q, only %v", s, name, spec)
		}
		if name == p.field {
			return fmt.Errorf("%v: that is the field of the images", s)
		}
		mask := slices.IndexFunc(p.annotated.masks, func(m maskField) bool { return m.name == name })
		s.at, s.masks = append(s.at, at), append(s.masks, mask)
		s.sees = s.sees || mask >= 0
	}
	return nil
}

func (s *sampling) do(e *engine, r *rand.Rand) error {
	if err := e.render(); err != nil {
		return err
	}
	e.slot.Stage(dataset.StageAugment)
	if err := s.apply(e, r); err != nil {
		return fmt.Errorf("transform: %v: %w", s, err)
	}
	return nil
}

func (s *sampling) apply(e *engine, r *rand.Rand) error {
	v := &e.sample
	v.engine, v.step, v.Image, v.Planes = e, s, nil, nil
	e.frame.lend(v)
	v.cells, v.sizes = v.cells[:0], v.sizes[:0]
	if s.sees {
		if err := e.annotations.settle(); err != nil {
			return err
		}
	}
	for k, f := range s.at {
		c := e.slot.Cell(f)
		if m := s.masks[k]; m >= 0 {
			c = e.annotations.masks[m].own[0]
		}
		v.cells, v.sizes = append(v.cells, c), append(v.sizes, len(c.Bytes()))
	}
	v.Fields = e.slot.With(v.cells)
	want := image.Pt(e.Size())
	if s.size != nil {
		before := want
		if err := source.Guard(e.of, func() error { want.X, want.Y = s.size.Size(before.X, before.Y); return nil }); err != nil {
			return err
		}
	}
	err := source.Guard(e.of, func() error { return s.t.ApplySample(v, r) })
	e.frame.takeBack(v)
	if err != nil {
		return err
	}
	for k, c := range v.cells {
		if n := len(c.Bytes()); n != v.sizes[k] && s.masks[k] < 0 {
			return fmt.Errorf("changed field %q from %d to %d bytes: want as many as before", s.fields[k], v.sizes[k], n)
		}
	}
	varies := s.size != nil && want == image.Point{}
	if err := e.frame.finish(v, want, varies); err != nil {
		return err
	}
	e.moved()
	if a := e.annotations; a != nil {
		a.w, a.h = e.Size()
		return s.finishMasks(a, a.w, a.h)
	}
	return nil
}
