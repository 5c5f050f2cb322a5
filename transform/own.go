package transform

import (
	"errors"
	"fmt"
	"math/rand/v2"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/internal/figures"
	"github.com/penstock-go/penstock/transform/internal/engine"
	"github.com/penstock-go/penstock/transform/internal/program"
	"github.com/penstock-go/penstock/transform/internal/raster"
)

// An Item is an entry of the lists for [Images], [Compile] and [Views]: a [Step] or an
// [Option].
type Item interface {
	fmt.Stringer
	item()
}

// A Step changes images, or says what becomes of them. The functions of this package make steps. [Apply] makes one from
// your own [Transform]. A Step prints as the call that made it.
type Step interface {
	Item
	made() *program.Call
}

// A step is a Step as data.
type step struct{ *program.Call }

func (s step) item()               {}
func (s step) made() *program.Call { return s.Call }

// stepOf makes a step.
func stepOf(k *program.Kind, options []Option, args ...any) Step {
	return step{program.New(k, calls(options), args...)}
}

// stepsOf are steps as data.
func stepsOf(several []Step) []*program.Call {
	all := make([]*program.Call, len(several))
	for i, s := range several {
		if s != nil {
			all[i] = s.made()
		}
	}
	return all
}

// divide parts a list.
func divide(items []Item) (steps, options []*program.Call, err error) {
	for _, it := range items {
		switch it := it.(type) {
		case Step:
			steps = append(steps, it.made())
		case Option:
			options = append(options, it.c)
		default:
			err = errors.New("a step is nil")
		}
	}
	return steps, options, err
}

// A Transform edits one image. All workers call it at the same time, so it must
// not change its own fields. It takes its random numbers from r. In a loader they
// depend only on the seed, the epoch and the sample's place in the sampler's
// global order. In a [Compiled] they depend only on [Source.Seed].
type Transform interface {
	Apply(img *Image, r *rand.Rand) error
}

// Apply makes a step of your own from a [Transform], a [SampleTransform] or a [PlanesTransform]. It runs at its place
// in the list, and prints as t does. An error or a panic of it is an error of the sample: see [dataset.PanicError].
//
// A Transform sees the image after all steps before it, and must come before [ToTensor]. It must keep the image's
// size.
//
// A SampleTransform sees that image with the named fields of its sample, which the other two cannot have. One with a
// method Size moves the fields of [Boxes], [Mask], [Masks] and [KeyPoints] itself: all of them must be named, and
// [NewMask] gives masks their new size. Fields cannot be used in [Compile]. Among the steps of [Views] it runs once
// for every view: what moves with the image is that of the view, and other fields are those of the sample, which all
// views see and change. Masks are moved last, in one pass; a step that names one of them needs a further pass for all
// masks of the sample.
//
// After ToTensor a PlanesTransform sees the result of shape (channels, h, w) in the memory of the batch, with or
// without [Depth16]: as floats from 0 to 1, after [Normalize] and [RandomErasing], which must come before it, and
// with the zeros of [PadTo]. The result must be float32 and CHW. Before ToTensor it needs Depth16, and sees the
// values as they are stored, after the geometry before it. If these are integers, its results are rounded to integers
// within their range. The image must keep its size and its channels.
//
// For results of other dtypes and shapes use [dataset.Map] over the result of Images: its function gets all fields,
// and their random numbers.
func Apply(t any, fields ...string) Step {
	var is []*program.Call
	if t, ok := t.(Transform); ok {
		is = append(is, program.New(program.OwnImage, nil).Having(func(m *raster.Image, r *rand.Rand) error { return t.Apply((*Image)(m), r) }))
	}
	if t, ok := t.(PlanesTransform); ok {
		is = append(is, program.New(program.OwnPlanes, nil).Having(func(m *raster.Planes, r *rand.Rand) error { return t.ApplyPlanes((*Planes)(m), r) }))
	}
	name := figures.Name(t)
	unfit := func(want string) Step {
		return step{program.New(program.Unfit, nil).Having(errors.New(want)).Named(name)}
	}
	if len(is) > 0 && len(fields) > 0 {
		return unfit("only a SampleTransform has fields")
	}
	if t, ok := t.(SampleTransform); ok {
		is = append(is, program.New(program.OwnSample, nil, program.Texts(fields...)...).Having(samplingOf(t)))
	}
	switch len(is) {
	case 0:
		return unfit("want a Transform, a SampleTransform or a PlanesTransform")
	case 1:
		for _, f := range fields {
			name += fmt.Sprintf(" of %q", f)
		}
		return step{is[0].Named(name)}
	}
	return unfit("want only one of Transform, SampleTransform and PlanesTransform")
}

// samplingOf gives a user's step what is lent to it.
func samplingOf(t SampleTransform) engine.Sampling {
	s := engine.Sampling{Call: func(l *engine.Lent, r *rand.Rand) error {
		v, ok := l.User.(*Sample)
		if !ok {
			v = &Sample{lent: l}
			l.User = v
		}
		v.Image, v.Planes, v.Fields = (*Image)(l.Image), (*Planes)(l.Planes), l.Fields
		err := t.ApplySample(v, r)
		l.Image, l.Planes = (*raster.Image)(v.Image), (*raster.Planes)(v.Planes)
		return err
	}}
	if sized, ok := t.(interface{ Size(w, h int) (int, int) }); ok {
		s.Size = sized.Size
	}
	return s
}

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

// A PlanesTransform edits one image of float32 values. All workers call it at the same
// time, so it must not change its own fields. Its random numbers are those of a [Transform].
// It must not keep the image after ApplyPlanes returns.
type PlanesTransform interface {
	ApplyPlanes(img *Planes, r *rand.Rand) error
}
