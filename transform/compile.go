package transform

import (
	"context"
	"errors"
	"fmt"
	"image"
	"runtime"
	"unsafe"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/internal/dense"
	"github.com/penstock-go/penstock/internal/slots"
	"github.com/penstock-go/penstock/transform/internal/engine"
	"github.com/penstock-go/penstock/transform/internal/program"
	"github.com/penstock-go/penstock/transform/internal/source"
)

// Compiled is a compiled list of steps for single images, or with [Inputs] for single samples,
// without a dataset and a loader, for example in a server. [Compile] makes it.
//
// Any number of goroutines may use it at the same time. At most GOMAXPROCS images
// are processed at a time, and further calls wait. Compile fixes that number. In
// steady state nothing is allocated for pixels and for JPEG, PNG, GIF, BMP, TIFF and PNM
// files. WebP files need memory for every image.
type Compiled struct {
	program *program.Program
	field   dataset.Field
	pool    *engine.Pool
	samples *samples // with Inputs; then it has no lanes
}

// Compile checks the steps and compiles them for single images. The results are
// those of [Images], bit for bit. The steps must give all images the same size, unless [Ragged] is
// there. With [Inputs] it compiles them for samples of several fields.
// The error joins everything that is wrong with the steps.
func Compile(list ...Item) (*Compiled, error) {
	c, err := compiledOf(list)
	if err != nil {
		return nil, program.InPackage(err)
	}
	return c, nil
}

func compiledOf(list []Item) (*Compiled, error) {
	p, err := compile(nil, list)
	if err != nil {
		return nil, err
	}
	if p.Inputs != nil {
		several, err := withInputs(p)
		if err != nil {
			return nil, err
		}
		return &Compiled{program: p, samples: several}, nil
	}
	field, err := p.Alone()
	if err != nil {
		return nil, err
	}
	return &Compiled{program: p, field: field, pool: engine.NewPool(&p.Plan, runtime.GOMAXPROCS(0))}, nil
}

// Spec describes the result of the steps: one field with its name, dtype and shape. The dtype is
// float32, float16, bfloat16 or uint8, and with [Depth16] also uint16 or int32.
func (c *Compiled) Spec() dataset.Spec {
	if c.samples != nil {
		return c.samples.pipeline.Spec()
	}
	return dataset.Spec{c.field}
}

// String describes the compiled steps: what is done to an image and what is
// stored.
func (c *Compiled) String() string {
	if c.samples != nil {
		return c.samples.pipeline.String()
	}
	text := fmt.Sprintf("file or pixels → %v\n", c.field)
	for _, line := range c.program.Lines {
		text += "  " + line + "\n"
	}
	return text + "  store     " + c.program.Output.String()
}

// Into applies the steps to an image and writes the result to dst. The result must
// be float32: the steps must contain [ToTensor], and no [ToDtype] of another dtype.
// The length of dst must be the product of the shape in Spec. Otherwise there is an
// error. After an error the content of dst is undefined.
func (c *Compiled) Into(dst []float32, from Source) error {
	if c.samples != nil {
		return errSamples
	}
	if c.field.Dtype != dataset.Float32 {
		return fmt.Errorf("transform: into: the steps make %s: use IntoBytes, or ToTensor without ToDtype", c.field.Dtype)
	}
	if c.program.Ragged {
		return errRagged
	}
	if len(dst) != c.field.Elements() {
		return fmt.Errorf("transform: into: %d values for %v: want %d", len(dst), c.field, c.field.Elements())
	}
	return c.pool.Into(dense.Bytes(dst), from.in)
}

// IntoBytes is [Compiled.Into] for any dtype. dst is the memory of the result, in
// the machine's byte order and aligned for its dtype: for uint8 the values
// themselves.
func (c *Compiled) IntoBytes(dst []byte, from Source) error {
	if c.samples != nil {
		return errSamples
	}
	if c.program.Ragged {
		return errRagged
	}
	if len(dst) != c.field.Bytes() {
		return fmt.Errorf("transform: into: %d bytes for %v: want %d", len(dst), c.field, c.field.Bytes())
	}
	if uintptr(unsafe.Pointer(unsafe.SliceData(dst)))%uintptr(c.field.Dtype.Size()) != 0 {
		return fmt.Errorf("transform: into: memory for %v that is not aligned to %d bytes", c.field, c.field.Dtype.Size())
	}
	return c.pool.Into(dst, from.in)
}

var (
	errRagged  = errors.New("transform: into: the size varies: use Append")
	errSamples = errors.New("transform: into: the steps have Inputs: use IntoSample")
)

// A Source is the input image of a [Compiled]. [File], [Decoded] and [RGB] make
// one. The memory that it was made from must not change during the call.
type Source struct{ in engine.Input }

// File is an encoded image. Data is the content of a file in any format that
// [Images] reads.
func File(data []byte) Source { return Source{in: engine.Input{File: data}} }

// Decoded is an image of the standard library. It is converted to RGB as PIL does
// it: alpha is dropped. For JPEG files use [File], because the pixels that
// image/jpeg decodes differ slightly from PIL's.
func Decoded(m image.Image) Source { return Source{in: engine.Input{Image: internally(m)}} }

// RGB is an image of w×h pixels, 3 bytes each, row by row.
func RGB(pix []uint8, w, h int) Source {
	return Source{in: engine.Input{Raw: source.RGB(pix, w, h)}}
}

// Seed returns s with another seed for the random steps. Equal seeds give equal
// random numbers. The default is 0.
func (s Source) Seed(seed uint64) Source {
	s.in.Seed = seed
	return s
}

// Append applies the steps to an image, and appends the result to dst: all values
// of an image of height×width pixels. The result must be float32, as for
// [Compiled.Into]. Its size may vary from image to image if the steps have [Ragged].
// After an error the result is dst.
func (c *Compiled) Append(dst []float32, from Source) (values []float32, height, width int, err error) {
	if c.samples != nil {
		return dst, 0, 0, errSamples
	}
	if c.field.Dtype != dataset.Float32 {
		return dst, 0, 0, fmt.Errorf("transform: append: the steps make %s, want ToTensor without ToDtype", c.field.Dtype)
	}
	if len(c.program.Views) > 0 {
		return dst, 0, 0, fmt.Errorf("transform: append: %v makes several images: use Into", c.program.Cropping)
	}
	return c.pool.Append(dst, from.in)
}

// samples are what a Compiled with Inputs has.
type samples struct {
	pipeline *Pipeline
	readers  chan *singleReader
}

func withInputs(p *program.Program) (*samples, error) {
	x, err := over(p, engine.Given(p.Inputs))
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
