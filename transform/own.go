package transform

import (
	"errors"
	"fmt"
	"math/rand/v2"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/internal/figures"
	"github.com/penstock-go/penstock/transform/internal/engine"
	"github.com/penstock-go/penstock/transform/internal/program"
)

// An Item is an entry of the lists for [Images], [Compile] and [Views]: a [Step] or an [Option].
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

// A Transform edits one image, which it must not keep. All workers call it at the same time, so it must not change its
// own fields. It takes its random numbers from r, which depend only on the seed, the epoch and the sample's place in
// the global order, or on [Source.Seed].
type Transform interface {
	Apply(img *Image, r *rand.Rand) error
}

// Apply makes a step of your own from a [Transform] or a [SampleTransform], which sees the named fields of its sample,
// too. It runs at its place in the list, before [ToTensor], and prints as t does. It must keep the image's size. An error
// or a panic of it is an error of the sample: see [dataset.PanicError].
//
// For a change of the result, of its dtype or its shape use [dataset.Map] over the result of Images.
func Apply(t any, fields ...string) Step {
	k, call, err := program.Own, engine.Sampling{}, error(nil)
	switch t := t.(type) {
	case SampleTransform:
		call = samplingOf(t)
	case Transform:
		k, call.Call = program.OwnBytes, func(l *engine.Lent, r *rand.Rand) error { return t.Apply((*Image)(l.Image), r) }
		if len(fields) > 0 {
			err = errors.New("only a SampleTransform has fields")
		}
	default:
		err = errors.New("want a Transform or a SampleTransform")
	}
	name := figures.Name(t)
	for _, f := range fields {
		name += fmt.Sprintf(" of %q", f)
	}
	return step{program.New(k, nil, program.Texts(fields...)...).Having(call).Named(name).Wrong(err)}
}

// samplingOf gives a user's step what is lent to it.
func samplingOf(t SampleTransform) engine.Sampling {
	return engine.Sampling{Call: func(l *engine.Lent, r *rand.Rand) error {
		s, ok := l.User.(*Sample)
		if !ok {
			s = new(Sample)
			l.User = s
		}
		*s = Sample{(*Image)(l.Image), (*Planes)(l.Planes), l.Fields}
		err := t.ApplySample(s, r)
		if s.Image != (*Image)(l.Image) || s.Planes != (*Planes)(l.Planes) {
			return errors.Join(err, errors.New("set Image or Planes of the Sample: want its pixels changed"))
		}
		return err
	}}
}

// A SampleTransform edits an image together with other fields of its sample. All workers call it at the same time, so it
// must not change its own fields. Its random numbers are those of a [Transform].
type SampleTransform interface {
	ApplySample(s *Sample, r *rand.Rand) error
}

// A Sample is what a [SampleTransform] edits. It is valid during one call.
type Sample struct {
	// Image is the image after all steps before this one, or nil with [Depth16].
	Image *Image
	// Planes is the image with Depth16. Integers are rounded after the call.
	Planes *Planes
	// Fields are the fields that [Apply] names, in that order, for [dataset.Row]. Boxes, keypoints and masks are where
	// the steps before have moved them. Values may change, but not the number of elements.
	//
	// A field of [Mask] holds height·width numbers for the size of the image, and one of [Masks] such planes, in the
	// dtype of the result. The numbers must be from 0 to 16777215.
	Fields dataset.Slot
}

// An Image is what a [Transform] edits: pixels of red, green and blue with 8 bits each.
type Image struct {
	// Pix holds 4 bytes per pixel: red, green, blue, and one that is ignored.
	// The pixel in column x of row y begins at 4*(y*Width+x).
	Pix           []uint8
	Width, Height int
}

// Planes is an image with any number of channels, as float32 values: one plane after the other. It is what a
// [SampleTransform] edits with [Depth16].
type Planes struct {
	// Pix holds Channels·Height·Width values. That of channel c in column x of row y is Pix[(c*Height+y)*Width+x].
	Pix                     []float32
	Channels, Width, Height int
	// Dtype is the dtype in which the values were stored: dataset.Uint8, dataset.Uint16, dataset.Int16 or
	// dataset.Float32. Values of integers are whole numbers.
	Dtype dataset.Dtype
}

// Plane is the plane of channel c, row by row. It panics if there is no such channel.
func (m *Planes) Plane(c int) []float32 {
	if c < 0 || c >= m.Channels {
		panic(fmt.Sprintf("transform: Plane(%d): want 0 to %d: the image has %s", c, m.Channels-1, figures.Count(m.Channels, "channel", "channels")))
	}
	n := m.Width * m.Height
	return m.Pix[c*n : (c+1)*n : (c+1)*n]
}
