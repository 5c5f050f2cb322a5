package transform

import (
	"errors"
	"fmt"
	"image"
	"math/rand/v2"
	"runtime"

	"gorgonia.org/tensor"

	"github.com/penstock-go/penstock/dataset"
)

// A Compiled list of steps prepares single images, without a dataset and a loader:
// for a server that answers with a model's output. Any number of goroutines may
// use it; as many images are worked on at a time as there were processors when
// it was compiled, and further calls wait for one of them. In steady state
// neither files of JPEG, GIF, BMP, TIFF and PNM nor pixels take an allocation.
type Compiled struct {
	*program
	field dataset.Field
	lanes chan *single
}

// Compile checks the steps, which end in one size of image, and compiles them as
// [Images] does, with the same results bit for bit.
func Compile(list ...Step) (*Compiled, error) {
	p, err := compile(list)
	if err != nil {
		return nil, err
	}
	field, err := p.fieldOf(0, 0)
	if err != nil {
		return nil, err
	}
	c := &Compiled{program: p, field: field, lanes: make(chan *single, runtime.GOMAXPROCS(0))}
	for range cap(c.lanes) {
		c.lanes <- nil
	}
	return c, nil
}

// Spec is the image that the steps make: one field of dtype float32 or uint8, and
// its shape.
func (c *Compiled) Spec() dataset.Spec { return dataset.Spec{c.field} }

// String is the plan: what is done to an image and what comes out.
func (c *Compiled) String() string {
	text := fmt.Sprintf("file or pixels → %v\n", c.field)
	for _, line := range c.plan {
		text += "  " + line + "\n"
	}
	return text + "  store     " + c.output.String()
}

// Into writes the image that the steps make of one to dst, as many values as the
// shape in Spec has. The steps must end in float32, with [ToTensor]. After an
// error dst is undefined.
func (c *Compiled) Into(dst []float32, from Source) error {
	if c.field.Dtype != tensor.Float32 {
		return errors.New("transform: into: the steps make uint8: use IntoBytes, or add ToTensor")
	}
	if len(dst) != c.field.Elements() {
		return fmt.Errorf("transform: into: %d values for %v: want %d", len(dst), c.field, c.field.Elements())
	}
	s, err := c.run(from)
	if err == nil {
		s.lane.storeFloats(dst, s.rand)
	}
	c.release(s)
	return err
}

// IntoBytes is Into for steps that end in uint8.
func (c *Compiled) IntoBytes(dst []uint8, from Source) error {
	if c.field.Dtype != tensor.Uint8 {
		return errors.New("transform: into: the steps make float32: use Into")
	}
	if len(dst) != c.field.Elements() {
		return fmt.Errorf("transform: into: %d values for %v: want %d", len(dst), c.field, c.field.Elements())
	}
	s, err := c.run(from)
	if err == nil {
		s.lane.storeBytes(dst)
	}
	c.release(s)
	return err
}

// A single is the memory for one image at a time.
type single struct {
	lane  *lane
	slot  dataset.Slot // of nothing: the engine tells it its stages
	pcg   rand.PCG
	rand  *rand.Rand
	raw   raw
	image decoded
}

// run takes an image through the steps. The single has to be released.
func (c *Compiled) run(from Source) (s *single, err error) {
	s = <-c.lanes
	defer func() {
		if p := recover(); p != nil { // in a user's Transform
			c.release(nil)
			panic(p)
		}
	}()
	if s == nil {
		s = &single{lane: newLane(c.program), slot: dataset.NewSlot(dataset.Field{Name: "image", Dtype: tensor.Uint8})}
		s.rand = rand.New(&s.pcg)
	}
	s.pcg.Seed(from.seed, 0)
	if err := s.begin(from); err != nil {
		return s, err
	}
	return s, s.lane.run(s.rand)
}

// release gives back the memory, which then belongs to another call.
func (c *Compiled) release(s *single) {
	if s != nil {
		s.raw.pix, s.image.Image = nil, nil
	}
	c.lanes <- s
}

// begin reads the image's size.
func (s *single) begin(from Source) error {
	var w, h int
	var src source
	switch {
	case from.image != nil:
		s.image = decoded{from.image}
		w, h, src = from.image.Bounds().Dx(), from.image.Bounds().Dy(), &s.image
	case from.raw.pix != nil:
		s.raw = from.raw
		w, h, src = s.raw.w, s.raw.h, &s.raw
		if w < 1 || h > len(s.raw.pix)/3/w || 3*w*h != len(s.raw.pix) {
			return fmt.Errorf("transform: into: %d bytes of RGB for %d×%d pixels", len(s.raw.pix), w, h)
		}
	default:
		return s.lane.file(from.file, s.slot)
	}
	if err := checkSize(w, h, s.lane.limit); err != nil {
		return err
	}
	s.lane.engine.begin(src, w, h, s.slot)
	return nil
}

// A Source is an image to begin with: [File], [Decoded] or [RGB].
type Source struct {
	file  []byte
	image image.Image
	raw   raw
	seed  uint64
}

// File is the image in a file, whose bytes these are, of any format that [Images]
// reads.
func File(data []byte) Source { return Source{file: data} }

// Decoded is an image that Go has decoded, as PIL would convert it to RGB: alpha
// is dropped. Of JPEG files the pixels of image/jpeg are not quite those of PIL:
// give the [File].
func Decoded(m image.Image) Source { return Source{image: m} }

// RGB is an image of w×h pixels, 3 bytes each and row by row.
func RGB(pix []uint8, w, h int) Source {
	return Source{raw: raw{pix: pix, w: w, h: h, pixel: 3, row: 3 * w, green: 1, blue: 2}}
}

// Seed sets what random steps draw from. The default is 0: they draw the same
// for every image.
func (s Source) Seed(seed uint64) Source {
	s.seed = seed
	return s
}

// decoded is an image of the standard library's.
type decoded struct{ image.Image }

func (d *decoded) decode(dst []byte, stride int, window image.Rectangle) error {
	convert(dst, stride, d.Image, window.Add(d.Bounds().Min))
	return nil
}
