package transform

import (
	"errors"
	"fmt"
	"image"
	"math/rand/v2"
	"runtime"
	"strings"
	"unsafe"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/internal/dense"
	"github.com/penstock-go/penstock/transform/internal/source"
)

// Compiled is a compiled list of steps for single images, or with [Inputs] for single samples,
// without a dataset and a loader, for example in a server. [Compile] makes it.
//
// Any number of goroutines may use it at the same time. At most GOMAXPROCS images
// are processed at a time, and further calls wait. Compile fixes that number. One
// goroutine processes an image; with [Parallel], several can process a large one. In
// steady state nothing is allocated for pixels and for JPEG, PNG, GIF, BMP, TIFF and PNM
// files. WebP files need memory for every image.
type Compiled struct {
	*program
	field   dataset.Field
	lanes   chan *single
	samples *samples // with Inputs; then it has no lanes
}

// Compile checks the steps and compiles them for single images. The results are
// those of [Images], bit for bit. The steps must give all images the same size, unless [Ragged] is
// there. With [Inputs] it compiles them for samples of several fields.
// The error joins everything that is wrong with the steps.
func Compile(list ...Item) (*Compiled, error) {
	c, err := compiledOf(list)
	if err != nil {
		return nil, within("transform", err)
	}
	return c, nil
}

func compiledOf(list []Item) (*Compiled, error) {
	p, err := compile(list)
	if err != nil {
		return nil, err
	}
	if p.inputs != nil {
		several, err := withInputs(p)
		if err != nil {
			return nil, err
		}
		return &Compiled{program: p, samples: several}, nil
	}
	if len(p.views) > 0 && p.crops.n == 0 {
		return nil, errors.New("Views: only for Images, and for Compile with Inputs: here an image has one result")
	}
	if p.annotated.any() {
		return nil, fmt.Errorf("%s: only for Images, and for Compile with Inputs: here the image is alone", strings.Join(p.annotated.calls(), ", "))
	}
	if err := p.findFields(nil); err != nil {
		return nil, err
	}
	field, err := p.resultOf(0, 0)
	if err != nil {
		return nil, err
	}
	c := &Compiled{program: p, field: field, lanes: make(chan *single, runtime.GOMAXPROCS(0))}
	for range cap(c.lanes) {
		c.lanes <- nil
	}
	return c, nil
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
	if c.hands > 1 {
		text += fmt.Sprintf("  decode    large JPEG images on up to %d goroutines\n", c.hands)
	}
	for _, line := range c.plan {
		text += "  " + line + "\n"
	}
	return text + "  store     " + c.output.String()
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
	if c.ragged {
		return errRagged
	}
	if len(dst) != c.field.Elements() {
		return fmt.Errorf("transform: into: %d values for %v: want %d", len(dst), c.field, c.field.Elements())
	}
	return c.into(dense.Bytes(dst), from)
}

// IntoBytes is [Compiled.Into] for any dtype. dst is the memory of the result, in
// the machine's byte order and aligned for its dtype: for uint8 the values
// themselves.
func (c *Compiled) IntoBytes(dst []byte, from Source) error {
	if c.samples != nil {
		return errSamples
	}
	if c.ragged {
		return errRagged
	}
	if len(dst) != c.field.Bytes() {
		return fmt.Errorf("transform: into: %d bytes for %v: want %d", len(dst), c.field, c.field.Bytes())
	}
	if uintptr(unsafe.Pointer(unsafe.SliceData(dst)))%uintptr(c.field.Dtype.Size()) != 0 {
		return fmt.Errorf("transform: into: memory for %v that is not aligned to %d bytes", c.field, c.field.Dtype.Size())
	}
	return c.into(dst, from)
}

var (
	errRagged  = errors.New("transform: into: the size varies: use Append")
	errSamples = errors.New("transform: into: the steps have Inputs: use IntoSample")
)

func (c *Compiled) into(dst []byte, from Source) error {
	s, err := c.run(from, dst)
	if err == nil && s.viewer == nil {
		err = c.store(s, dst)
	}
	c.release(s)
	return err
}

// A single holds the memory to process one image at a time.
type single struct {
	lane   *lane
	viewer *viewer      // of FiveCrop and TenCrop; nil without them
	slot   dataset.Slot // nothing is stored in it: the engine reports its stages to it
	pcg    rand.PCG
	rand   *rand.Rand
	raw    source.Raw
	image  source.Decoded
}

// run applies the steps to an image. Several crops are stored in dst, else the result is
// still to be stored. The caller must release the single.
func (c *Compiled) run(from Source, dst []byte) (s *single, err error) {
	s = <-c.lanes
	returns := false
	defer func() {
		if !returns { // runtime.Goexit in a user's Transform or image
			c.release(nil)
		}
	}()
	if s == nil {
		s = &single{lane: newLane(c.program), slot: dataset.NewSlot(dataset.Field{Name: "image", Dtype: dataset.Uint8})}
		s.rand = rand.New(&s.pcg)
		if len(c.views) > 0 {
			s.viewer = newViewer(c.program, nil)
		}
	}
	s.lane.engine.hands = min(c.hands, 1+len(c.lanes)) // no more than are idle
	s.pcg.Seed(from.seed, 0)
	err = s.Begin(from)
	switch {
	case err != nil:
	case s.viewer == nil:
		err = s.lane.run(s.rand)
	default:
		if err = s.viewer.Begin(s.lane, s.slot, s.rand); err == nil {
			err = s.viewer.groups[0].store(dst, s.slot, s.rand)
		}
	}
	returns = true
	return s, err
}

// store writes the result of run.
func (c *Compiled) store(s *single, dst []byte) error {
	returns := false
	defer func() {
		if !returns { // runtime.Goexit in a user's PlanesTransform
			c.release(nil)
		}
	}()
	err := s.lane.store(dst, s.rand)
	returns = true
	return err
}

// release gives the memory back for the next call.
func (c *Compiled) release(s *single) {
	if s != nil {
		s.raw.Pix, s.image.Image = nil, nil
	}
	c.lanes <- s
}

// Begin reads the image's size.
func (s *single) Begin(from Source) error {
	var w, h int
	var src source.Image
	switch {
	case from.image != nil:
		s.image = source.Decoded{Image: from.image}
		if err := s.image.Size(&w, &h); err != nil {
			return err
		}
		src = &s.image
	case from.raw.Pix != nil:
		s.raw = from.raw
		w, h, src = s.raw.W, s.raw.H, &s.raw
		if err := s.raw.CheckRGB(); err != nil {
			return err
		}
	default:
		return s.lane.file(source.Encoded{Data: from.file}, s.slot)
	}
	if err := source.CheckSize(w, h, s.lane.limit); err != nil {
		return err
	}
	s.lane.engine.Begin(src, w, h, s.slot)
	return nil
}

// A Source is the input image of a [Compiled]. [File], [Decoded] and [RGB] make
// one. The memory that it was made from must not change during the call.
type Source struct {
	file  []byte
	image image.Image
	raw   source.Raw
	seed  uint64
}

// File is an encoded image. Data is the content of a file in any format that
// [Images] reads.
func File(data []byte) Source { return Source{file: data} }

// Decoded is an image of the standard library. It is converted to RGB as PIL does
// it: alpha is dropped. For JPEG files use [File], because the pixels that
// image/jpeg decodes differ slightly from PIL's.
func Decoded(m image.Image) Source { return Source{image: internally(m)} }

// RGB is an image of w×h pixels, 3 bytes each, row by row.
func RGB(pix []uint8, w, h int) Source {
	return Source{raw: source.RGB(pix, w, h)}
}

// Seed returns s with another seed for the random steps. Equal seeds give equal
// random numbers. The default is 0.
func (s Source) Seed(seed uint64) Source {
	s.seed = seed
	return s
}
