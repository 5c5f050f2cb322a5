package transform

import (
	"errors"
	"fmt"
	"math/rand/v2"

	"github.com/penstock-go/penstock/internal/figures"
	"github.com/penstock-go/penstock/transform/internal/engine"
	"github.com/penstock-go/penstock/transform/internal/raster"
)

// A Step changes images, or says what becomes of them. The functions of this package
// make steps. [Apply] makes one from your own [Transform]. A Step
// prints as the call that made it.
type Step interface {
	Item
	// add checks the step and adds it to the program.
	add(p *program) error
}

// A Transform edits one image. All workers call it at the same time, so it must
// not change its own fields. It takes its random numbers from r. In a loader they
// depend only on the seed, the epoch and the sample's place in the sampler's
// global order. In a [Compiled] they depend only on [Source.Seed].
type Transform interface {
	Apply(img *Image, r *rand.Rand) error
}

// Apply makes a step of your own from a [Transform], a [SampleTransform] or a [PlanesTransform]. It runs at its
// place in the list, and prints as t does. An error or a panic of it is an error of the sample: see
// [dataset.PanicError].
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
// without [Depth16]: as floats from 0 to 1, after [Normalize] and [RandomErasing], which must come before it, and with
// the zeros of [PadTo]. The result must be float32 and CHW. Before ToTensor it needs Depth16, and sees the values as
// they are stored, after the geometry before it. If these are integers, its results are rounded to integers within
// their range. The image must keep its size and its channels.
//
// For results of other dtypes and shapes use [dataset.Map] over the result of Images: its function gets all fields, and
// their random numbers.
func Apply(t any, fields ...string) Step {
	var is []Step
	if t, ok := t.(Transform); ok {
		is = append(is, custom{t: t, text: figures.Name(t)})
	}
	if t, ok := t.(PlanesTransform); ok {
		is = append(is, planesStep{t: t})
	}
	if len(is) > 0 && len(fields) > 0 {
		return unfit{t: t, want: "only a SampleTransform has fields"}
	}
	if t, ok := t.(SampleTransform); ok {
		is = append(is, sampled{t: t, fields: fields})
	}
	switch len(is) {
	case 0:
		return unfit{t: t, want: "want a Transform, a SampleTransform or a PlanesTransform"}
	case 1:
		return is[0]
	}
	return unfit{t: t, want: "want only one of Transform, SampleTransform and PlanesTransform"}
}

// An unfit is what Apply does not take.
type unfit struct {
	own
	t    any
	want string
}

func (u unfit) String() string { return figures.Name(u.t) }

func (u unfit) add(p *program) error { return errors.New(u.want) }

// An own is a step that Apply makes.
type own struct{}

func (own) item() {}

type custom struct {
	own
	t    Transform
	text string
}

func (c custom) String() string { return c.text }

func (c custom) add(p *program) error {
	if err := p.beforeTensor(); err != nil {
		return fmt.Errorf("%w (a PlanesTransform may come after it)", err)
	}
	return p.editBytes(c)
}

func (c custom) edit(e *engine.Engine, r *rand.Rand) error {
	return e.LendImage(c.text, func(m *raster.Image) error { return c.t.Apply((*Image)(m), r) })
}

// Compose combines several steps into one, as torchvision's Compose does. Use it
// for presets of your own.
func Compose(several ...Step) Step { return list{named("Compose", figures.Anys(several)...), several} }

type list struct {
	*call
	steps []Step
}

func (l list) add(p *program) error {
	p.addAll(l.steps)
	return nil
}
