package transform

import (
	"context"
	"errors"
	"fmt"
	"image"
	"runtime"
	"slices"
	"unsafe"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/internal/dense"
	"github.com/penstock-go/penstock/transform/internal/engine"
	"github.com/penstock-go/penstock/transform/internal/program"
	"github.com/penstock-go/penstock/transform/internal/source"
)

// Compiled is a list of steps for single images, without a dataset and a loader, for example in a server.
//
// Any number of goroutines may use it at the same time, each with a dst of its own, such as a row of a batch. At most as
// many images are processed at a time as GOMAXPROCS was when [Compile] made it; further calls wait. [MaxMemory] bounds what
// all of them take, and [Source.Context] ends a call.
type Compiled struct {
	program *program.Program
	spec    dataset.Spec // the field of the pixels, and those of SizesFunc
	pool    *engine.Pool
}

// Compile checks the steps and compiles them for single images. The results are those of [Images], bit for bit. The
// steps must give all images the same size, unless [Ragged] is there. The error joins everything that is wrong.
func Compile(list ...Item) (*Compiled, error) {
	p, err := compile(nil, list)
	if err != nil {
		return nil, program.InPackage(err)
	}
	spec, err := p.Alone()
	if err != nil {
		return nil, program.InPackage(err)
	}
	return &Compiled{program: p, spec: spec, pool: engine.NewPool(&p.Plan, runtime.GOMAXPROCS(0))}, nil
}

// Spec describes the result: its field, with name, dtype and shape, and those of [SizesFunc].
func (c *Compiled) Spec() dataset.Spec { return slices.Clone(c.spec) }

// String describes the compiled steps: what is done to an image and what is stored.
func (c *Compiled) String() string {
	text := fmt.Sprintf("file or pixels → %v\n", c.spec[0])
	if n := c.program.Frames; n > 0 {
		text = fmt.Sprintf("clip → %v\n  frames    %d, all with the same draws\n", c.spec[0], n)
	}
	for _, line := range c.program.Lines {
		text += "  " + line + "\n"
	}
	return text + "  store     " + c.program.Output.String()
}

// Into applies the steps to an image and writes the result to dst, as many values as the shape in Spec has. The result
// must be float32, so the steps must contain [ToTensor]. After an error the content of dst is undefined.
func (c *Compiled) Into(dst []float32, from Source) error {
	if c.spec[0].Dtype != dataset.Float32 {
		return fmt.Errorf("transform: into: the steps make %s: use IntoBytes, or ToTensor without ToDtype", c.spec[0].Dtype)
	}
	if !c.program.Ragged && len(dst) != c.spec[0].Elements() {
		return fmt.Errorf("transform: into: %d values for %v: want %d", len(dst), c.spec[0], c.spec[0].Elements())
	}
	return c.into(dense.Bytes(dst), from)
}

// IntoBytes is [Compiled.Into] for any dtype. dst is the memory of the result, in the machine's byte order and aligned
// for its dtype.
func (c *Compiled) IntoBytes(dst []byte, from Source) error {
	if size := c.spec[0].Dtype.Size(); uintptr(unsafe.Pointer(unsafe.SliceData(dst)))%uintptr(size) != 0 {
		return fmt.Errorf("transform: into: memory for %v that is not aligned to %d bytes", c.spec[0], size)
	}
	return c.into(dst, from)
}

func (c *Compiled) into(dst []byte, from Source) error {
	if c.program.Ragged {
		return errors.New("transform: into: the size varies: use Append")
	}
	if len(dst) != c.spec[0].Bytes() {
		return fmt.Errorf("transform: into: %d bytes for %v: want %d", len(dst), c.spec[0], c.spec[0].Bytes())
	}
	return c.pool.Into(from.in, func(engine.Sizes, int) ([]byte, error) { return dst, nil })
}

// Append applies the steps to an image, and appends all values of the result to dst: those of an image of height×width
// pixels, whose size may vary if the steps have [Ragged]. The result must be float32, as for [Compiled.Into]. After an
// error the result is dst.
func (c *Compiled) Append(dst []float32, from Source) (values []float32, height, width int, err error) {
	values, _, s, err := c.appendAll(dst, nil, from, nil)
	return values, s.Stored[0], s.Stored[1], err
}

// AppendAll is [Compiled.Append] with all fields of [Compiled.Spec]: it appends the numbers of those after the first to
// numbers, one field after the other.
func (c *Compiled) AppendAll(dst []float32, numbers []int64, from Source) (values []float32, all []int64, err error) {
	values, all, _, err = c.appendAll(dst, numbers, from, c.program.Derived)
	return values, all, err
}

func (c *Compiled) appendAll(dst []float32, numbers []int64, from Source, fields []engine.Derived) (values []float32, all []int64, sizes engine.Sizes, err error) {
	if c.spec[0].Dtype != dataset.Float32 {
		return dst, numbers, sizes, fmt.Errorf("transform: append: the steps make %s, want ToTensor without ToDtype", c.spec[0].Dtype)
	}
	if crops := c.program.Crops; crops.N > 0 {
		return dst, numbers, sizes, fmt.Errorf("transform: append: %s makes several images: use Into", crops.Text)
	}
	err = c.pool.Into(from.in, func(s engine.Sizes, n int) ([]byte, error) {
		sizes, all = s, numbers
		for k := range fields {
			d, at := &fields[k], len(all)
			all = slices.Grow(all, d.Field.Elements())[:at+d.Field.Elements()]
			if err := d.Derive(c.spec[0].Name, s, all[at:]); err != nil {
				return nil, err
			}
		}
		values = slices.Grow(dst, n)[:len(dst)+n]
		return dense.Bytes(values[len(dst):]), nil
	})
	if err != nil {
		return dst, numbers, engine.Sizes{}, err
	}
	return values, all, sizes, nil
}

// A Source is the input image of a [Compiled]. [File], [Decoded] and [RGB] make
// one, and [Clip] makes one of several. The memory that it was made from must not change during the call.
type Source struct{ in engine.Input }

// File is an encoded image. Data is the content of a file in any format that [Images] reads.
func File(data []byte) Source { return Source{in: engine.Input{File: data}} }

// Decoded is an image of the standard library. It is converted to RGB as PIL does it: alpha is dropped. For JPEG
// files use [File], because the pixels that image/jpeg decodes differ slightly from PIL's.
func Decoded(m image.Image) Source { return Source{in: engine.Input{Image: m}} }

// RGB is an image of w×h pixels, 3 bytes each, row by row.
func RGB(pix []uint8, w, h int) Source {
	return Source{in: engine.Input{Raw: source.RGB(pix, w, h)}}
}

// Seed returns s with another seed for the random steps. Equal seeds give equal random numbers. The default is 0.
func (s Source) Seed(seed uint64) Source {
	s.in.Seed = seed
	return s
}

// Context returns s with a context. When that is done, the call ends with its error: while it waits for its turn or for
// memory, and between two rows of a file. BMP and WebP files, PNM files in binary, every strip or tile of a TIFF file, and
// files of formats that the program has registered with package image are decoded to their end.
func (s Source) Context(ctx context.Context) Source {
	s.in.Context = ctx
	return s
}
