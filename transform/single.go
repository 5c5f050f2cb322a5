package transform

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/internal/slots"
	"github.com/penstock-go/penstock/transform/internal/engine"
)

// Inputs says which fields a sample has that [Compile] prepares: an image with its masks, boxes or
// keypoints. The steps may then be all those that [Images] takes, [Views] and [Ragged] among them, and
// the results are those of Images, bit for bit: see [Compiled.IntoSample]. Without it Compile prepares
// images alone.
func Inputs(spec dataset.Spec) Option {
	spec = slices.Clone(spec)
	return setting(named("Inputs", spec), func(p *program) error {
		p.inputs = spec
		return spec.Validate()
	})
}

// samples are what a Compiled with Inputs has.
type samples struct {
	pipeline *Pipeline
	readers  chan *singleReader
}

func withInputs(p *program) (*samples, error) {
	x, err := p.over(engine.Given(p.inputs))
	if err != nil {
		return nil, err
	}
	c := &samples{pipeline: x, readers: make(chan *singleReader, runtime.GOMAXPROCS(0))}
	for range cap(c.readers) {
		c.readers <- nil
	}
	return c, nil
}

// IntoSample applies the steps to the sample in from, and writes the result to dst, if the steps
// have [Inputs]. Both are made by [dataset.NewSlot]: from with the fields of Inputs, dst with those of
// Spec, and both can be used again. Equal seeds give equal random numbers. After an error
// the content of dst is undefined.
//
// Cells of from that the steps do not change are copied.
func (c *Compiled) IntoSample(dst, from dataset.Slot, seed uint64) error {
	if c.samples == nil {
		return errors.New("transform: into: the steps are for images alone: want Inputs")
	}
	return c.samples.Into(dst, from, seed)
}

func (c *samples) Into(dst, from dataset.Slot, seed uint64) error {
	if err := checkSlot("the result", dst, c.pipeline.Spec()); err != nil {
		return err
	}
	if err := checkSlot("the sample", from, c.pipeline.Dataset.Spec()); err != nil {
		return err
	}
	r := <-c.readers
	returns := false
	defer func() {
		if !returns { // runtime.Goexit in a user's step
			r = nil
		}
		c.readers <- r
	}()
	err := error(nil)
	if r == nil {
		r, err = c.Open()
	}
	if err == nil {
		r.given.From = from
		r.draw.Reset(seed, 0, 0)
		err = r.Place(context.Background(), 0, dataset.Slot(slots.New(slots.Slot(dst).Cells(), &r.draw)))
		r.given.From = dataset.Slot{}
	}
	returns = true
	return err
}

func (c *samples) Open() (*singleReader, error) {
	opened, err := c.pipeline.Open()
	if err != nil {
		return nil, err
	}
	r := opened.(*engine.Reader)
	return &singleReader{Reader: r, given: r.Inner.(*engine.GivenReader)}, nil
}

// A singleReader applies the steps to one sample at a time.
type singleReader struct {
	*engine.Reader
	given *engine.GivenReader
	draw  slots.Draw
}

// checkSlot is the error of a slot that does not have the cells of spec.
func checkSlot(what string, s dataset.Slot, spec dataset.Spec) error {
	if s.Len() != len(spec) {
		return fmt.Errorf("transform: %s has %d fields, want %v", what, s.Len(), spec)
	}
	for k, f := range spec {
		c := s.Cell(k)
		if n := len(c.Bytes()); c.Ragged() != f.Ragged || n%f.Bytes() != 0 || !f.Ragged && n != f.Bytes() {
			return fmt.Errorf("transform: %s has a cell of %d bytes for field %v", what, n, f)
		}
	}
	return nil
}
