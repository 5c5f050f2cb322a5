package transform

import (
	"context"
	"fmt"
	"runtime"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/internal/slots"
)

// CompiledSamples is a compiled list of steps for single samples of several parts: an image
// with its masks, boxes or keypoints, without a dataset and a loader. [CompileSamples]
// makes it. For images alone use [Compile].
//
// Any number of goroutines may use it at the same time. At most GOMAXPROCS samples are
// processed at a time, and further calls wait. In steady state nothing is allocated for
// JPEG, PNG, GIF, BMP, TIFF and PNM files and for pixels.
type CompiledSamples struct {
	pipeline *Pipeline
	readers  chan *singleReader
}

// CompileSamples checks the steps and compiles them for single samples with the fields of
// spec. The steps may be all those that [Images] takes, [Views] and [Ragged] among them, and
// the results are those of Images, bit for bit. The error joins everything that is wrong
// with the steps.
func CompileSamples(spec dataset.Spec, list ...Item) (*CompiledSamples, error) {
	if err := spec.Validate(); err != nil {
		return nil, err
	}
	x, err := Images(given(spec), list...)
	if err != nil {
		return nil, err
	}
	c := &CompiledSamples{pipeline: x, readers: make(chan *singleReader, runtime.GOMAXPROCS(0))}
	for range cap(c.readers) {
		c.readers <- nil
	}
	return c, nil
}

// Spec is the fields of the results.
func (c *CompiledSamples) Spec() dataset.Spec { return c.pipeline.Spec() }

// String describes the compiled steps.
func (c *CompiledSamples) String() string { return c.pipeline.String() }

// Into applies the steps to the sample in from, and writes the result to dst. Both are made
// by [dataset.NewSlot]: from with the fields given to [CompileSamples], dst with those of
// Spec, and both can be used again. Equal seeds give equal random numbers. After an error
// the content of dst is undefined.
//
// Cells of from that the steps do not change are copied.
func (c *CompiledSamples) Into(dst, from dataset.Slot, seed uint64) error {
	if err := checkSlot("the result", dst, c.Spec()); err != nil {
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
		r, err = c.open()
	}
	if err == nil {
		r.given.from = from
		r.draw.Reset(seed, 0, 0)
		err = r.Place(context.Background(), 0, dataset.Slot(slots.New(slots.Slot(dst).Cells(), &r.draw)))
		r.given.from = dataset.Slot{}
	}
	returns = true
	return err
}

func (c *CompiledSamples) open() (*singleReader, error) {
	opened, err := c.pipeline.Open()
	if err != nil {
		return nil, err
	}
	r := opened.(*reader)
	return &singleReader{reader: r, given: r.inner.(*givenReader)}, nil
}

// A singleReader applies the steps to one sample at a time.
type singleReader struct {
	*reader
	given *givenReader
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

// given is a dataset of the sample that the caller gives.
type given dataset.Spec

func (g given) Len() int                      { return 1 }
func (g given) Spec() dataset.Spec            { return dataset.Spec(g) }
func (g given) Open() (dataset.Reader, error) { return new(givenReader), nil }

type givenReader struct{ from dataset.Slot }

func (r *givenReader) Close() error { return nil }

func (r *givenReader) Place(_ context.Context, _ int, dst dataset.Slot) error {
	for k := range r.from.Len() {
		from, to := r.from.Cell(k).Bytes(), dst.Cell(k)
		if to.Ragged() {
			to.Grow(len(from))
		}
		copy(to.Bytes(), from)
	}
	return nil
}
