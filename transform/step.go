package transform

import (
	"errors"
	"fmt"
	"math/rand/v2"

	"github.com/penstock-go/penstock/internal/steps"
)

// A Step is one entry of the list for [Images] or [Compile]. The functions of
// this package make steps. [Apply] makes one from your own [Transform]. A Step
// prints as the call that made it.
type Step interface {
	fmt.Stringer
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

// Apply makes a step from your own Transform. It runs at its place in the list:
// it sees the image after all steps before it, and must come before ToTensor; after
// that use [ApplyPlanes]. It must keep the image's size,
// otherwise the sample is an error. So is an error or a panic of the Transform: see
// [dataset.PanicError]. The step prints as the Transform does.
func Apply(t Transform) Step { return custom{t} }

type custom struct{ t Transform }

func (c custom) String() string { return steps.Name(c.t) }

func (c custom) add(p *program) error {
	if c.t == nil {
		return errors.New("want a Transform")
	}
	if err := p.beforeTensor(); err != nil {
		return fmt.Errorf("%w (ApplyPlanes is for steps of your own after ToTensor)", err)
	}
	return p.editBytes(c)
}

func (c custom) edit(e *engine, r *rand.Rand) error {
	img := (*Image)(&e.frame.(*byteFrame).Image)
	w, h, before := img.Width, img.Height, img.Pix
	err := guard(e.of, func() error { return c.t.Apply(img, r) })
	img.Pix = inOwn(before, img.Pix)
	if err != nil {
		return fmt.Errorf("transform: %v: %w", c, err)
	}
	if img.Width != w || img.Height != h || len(img.Pix) != 4*w*h {
		return fmt.Errorf("transform: %v: made %s, want %s: only ApplySample may change the size",
			c, sizeOf(img.Width, img.Height, len(img.Pix)), sizeOf(w, h, 4*w*h))
	}
	return nil
}

// pixelsOf describes a size. All messages have this order, which is that of arguments such as those of
// [Resize].
func pixelsOf(w, h int) string { return fmt.Sprintf("%d×%d pixels (height×width)", h, w) }

// sizeOf describes an image's memory.
func sizeOf(w, h, bytes int) string { return fmt.Sprintf("%s in %d bytes", pixelsOf(w, h), bytes) }

// Compose combines several steps into one, as torchvision's Compose does. Use it
// for presets of your own.
func Compose(several ...Step) Step { return list{named("Compose", steps.Anys(several)...), several} }

type list struct {
	*call
	steps []Step
}

func (l list) add(p *program) error {
	p.addAll(l.steps)
	return nil
}
