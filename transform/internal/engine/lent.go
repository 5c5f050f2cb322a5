package engine

import (
	"fmt"
	"image"
	"math/rand/v2"
	"slices"
	"unsafe"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/internal/dense"
	"github.com/penstock-go/penstock/internal/figures"
	"github.com/penstock-go/penstock/transform/internal/raster"
	"github.com/penstock-go/penstock/transform/internal/source"
)

// A Lent is what a step of the user's own sees during one call: the image, and the fields that it names.
type Lent struct {
	Image  *raster.Image  // nil with Depth16
	Planes *raster.Planes // nil without it
	Fields dataset.Slot
	User   any // what the caller keeps from call to call

	engine *Engine
	step   *Sampling
	cells  []dataset.Cell
	sizes  []int // bytes of the cells before

	pix    [2][]uint8   // the engine's memory of the image and of what NewImage has made
	values [2][]float32 // those of Planes and NewPlanes

	channels int // those of Planes
	dtype    dataset.Dtype
}

// NewImage makes an image of w×h pixels in memory that the current one does not have.
func (s *Lent) NewImage(w, h int) *raster.Image {
	s.mustHold("New", w, h)
	f := s.engine.Frame.(*ByteFrame)
	f.Spare.Pix = forSpare(&s.pix, f.Pix)
	f.Spare.Resize(w, h)
	s.pix[1] = f.Spare.Pix
	return &f.Spare
}

// NewPlanes is NewImage for Depth16.
func (s *Lent) NewPlanes(w, h int) *raster.Planes {
	f, ok := s.engine.Frame.(*floatFrame)
	if !ok {
		panic("transform: NewPlanes: only with Depth16: without it the image is Sample.Image, and Sample.New makes another")
	}
	s.mustHold("NewPlanes", w, h)
	m := &f.Spare
	m.Pix = forSpare(&s.values, f.Pix)
	f.Spare.Resize(s.channels, w, h)
	m.Dtype = s.dtype
	s.values[1] = m.Pix
	return m
}

// mustHold panics if a step asks for an image of w×h pixels that cannot be.
func (s *Lent) mustHold(call string, w, h int) {
	switch limit := s.engine.limit; {
	case w < 1 || h < 1:
		panic(fmt.Sprintf("transform: %s: got a width of %d and a height of %d, want 1 or more", call, w, h))
	case w > limit/h:
		panic(fmt.Sprintf("transform: %s: got %s, want at most %d (see MaxPixels)", call, figures.Pixels(w, h), limit))
	}
}

// NewMask is the cell for the masks of a field, and how many numbers they have in an image of w×h pixels.
func (s *Lent) NewMask(k, w, h int, got dataset.Dtype) (cells dataset.Slot, n int) {
	if k < 0 || k >= len(s.step.Masks) {
		panic(fmt.Sprintf("transform: NewMask: got field %d, want the index of one of the fields that Apply names: %q", k, s.step.Fields))
	}
	m := s.step.Masks[k]
	if m < 0 {
		panic(fmt.Sprintf("transform: NewMask: got field %d, which is %q, want a field of Mask or Masks", k, s.step.Fields[k]))
	}
	a := s.engine.Annotations
	if want := a.Layout.Masks[m].Dtype; got != want {
		panic(fmt.Sprintf("transform: NewMask: got NewMask[%v] for mask %q, want NewMask[%v], as the result has", got, s.step.Fields[k], want))
	}
	s.mustHold("NewMask", w, h)
	mask := &a.masks[m]
	if err := a.checkPlanes(mask.n, w*h); err != nil {
		panic(err)
	}
	mask.made = true
	return s.Fields.With(mask.own[1:]), mask.n * w * h
}

// A Sampling is a SampleTransform in a program.
type Sampling struct {
	Text   string
	Fields []string
	Call   func(l *Lent, r *rand.Rand) error
	Size   func(w, h int) (int, int) // nil if it keeps the size
	At     []int                     // the fields in the dataset
	Masks  []int                     // of each field: which mask of the annotations it is, or -1
	Sees   bool                      // one of them is a mask
}

func (s *Sampling) String() string { return s.Text }

func (s *Sampling) Do(e *Engine, r *rand.Rand) error {
	if err := e.Render(); err != nil {
		return err
	}
	e.Slot.Stage(dataset.StageAugment)
	if err := s.Apply(e, r); err != nil {
		return fmt.Errorf("transform: %v: %w", s, err)
	}
	return nil
}

func (s *Sampling) Apply(e *Engine, r *rand.Rand) error {
	v := &e.lent
	v.engine, v.step, v.Image, v.Planes = e, s, nil, nil
	e.Frame.lend(v)
	v.cells, v.sizes = v.cells[:0], v.sizes[:0]
	if s.Sees {
		if err := e.Annotations.settle(); err != nil {
			return err
		}
	}
	for k, f := range s.At {
		c := e.Slot.Cell(f)
		if m := s.Masks[k]; m >= 0 {
			c = e.Annotations.masks[m].own[0]
		}
		v.cells, v.sizes = append(v.cells, c), append(v.sizes, len(c.Bytes()))
	}
	v.Fields = e.Slot.With(v.cells)
	want := image.Pt(e.Size())
	if s.Size != nil {
		before := want
		if err := source.Guard(e.of, func() error { want.X, want.Y = s.Size(before.X, before.Y); return nil }); err != nil {
			return err
		}
	}
	err := source.Guard(e.of, func() error { return s.Call(v, r) })
	e.Frame.takeBack(v)
	if err != nil {
		return err
	}
	for k, c := range v.cells {
		if n := len(c.Bytes()); n != v.sizes[k] && s.Masks[k] < 0 {
			return fmt.Errorf("changed field %q from %d to %d bytes: want as many as before", s.Fields[k], v.sizes[k], n)
		}
	}
	varies := s.Size != nil && want == image.Point{}
	if err := e.Frame.finish(v, want, varies); err != nil {
		return err
	}
	e.Moved()
	if a := e.Annotations; a != nil {
		a.W, a.H = e.Size()
		return s.finishMasks(a, a.W, a.H)
	}
	return nil
}

// LendImage gives the image of 8 bits to a step of the user's own, which prints as text.
func (e *Engine) LendImage(text string, call func(m *raster.Image) error) error {
	img := &e.Frame.(*ByteFrame).Image
	w, h, before := img.Width, img.Height, img.Pix
	err := source.Guard(e.of, func() error { return call(img) })
	img.Pix = inOwn(before, img.Pix)
	if err != nil {
		return fmt.Errorf("transform: %s: %w", text, err)
	}
	if img.Width != w || img.Height != h || len(img.Pix) != 4*w*h {
		return fmt.Errorf("transform: %s: made %s, want %s: only a SampleTransform may change the size",
			text, sizeOf(img.Width, img.Height, len(img.Pix)), sizeOf(w, h, 4*w*h))
	}
	return nil
}

// sizeOf describes an image's memory.
func sizeOf(w, h, bytes int) string {
	return fmt.Sprintf("%s in %d bytes", figures.Pixels(w, h), bytes)
}

// inOwn returns the values in mem, the memory that they had before a user's step. The step may have
// given the image other memory, which must not be reused for the next image.
func inOwn[T uint8 | float32](mem, values []T) []T {
	if sameMemory(mem, values) {
		return values
	}
	return append(mem[:0], values...)
}

// bothOwn is inOwn for an image and its spare. A step may have exchanged their memory, which then
// stays exchanged. What else it gave them may be any part of mem, so values are copied before their
// memory is written.
func bothOwn[T uint8 | float32](mem [2][]T, img, spare *[]T) {
	if sameMemory(mem[0], *spare) && sameMemory(mem[1], *img) {
		return
	}
	if !sameMemory(mem[1], *spare) {
		*spare = slices.Clone(*spare)
	}
	*img = inOwn(mem[0], *img)
	*spare = inOwn(mem[1], *spare)
}

// forSpare returns the memory of mem that the image does not have, and makes it mem[1].
func forSpare[T uint8 | float32](mem *[2][]T, img []T) []T {
	if sameMemory(mem[1], img) {
		mem[0], mem[1] = mem[1], mem[0]
	}
	return mem[1]
}

// sameMemory reports whether both begin at the same address.
func sameMemory[T uint8 | float32](a, b []T) bool {
	return unsafe.SliceData(a) == unsafe.SliceData(b)
}

// A Planar is a step of the user's own on planes.
type Planar struct {
	Text string
	Call func(m *raster.Planes, r *rand.Rand) error
}

// Do applies it to an image of Depth16.
func (s Planar) Do(e *Engine, r *rand.Rand) error {
	if err := e.Render(); err != nil {
		return err
	}
	e.Slot.Stage(dataset.StageAugment)
	f := e.Frame.(*floatFrame)
	if err := s.Apply(e.of, &f.Planes, r); err != nil {
		return err
	}
	raster.DepthOf(f.Dtype).Settle(f.Pix)
	return nil
}

func (s Planar) Apply(field string, m *raster.Planes, r *rand.Rand) error {
	before := *m
	err := source.Guard(field, func() error { return s.Call(m, r) })
	m.Pix = inOwn(before.Pix, m.Pix)
	if err != nil {
		return fmt.Errorf("transform: %s: %w", s.Text, err)
	}
	if m.Width != before.Width || m.Height != before.Height || m.Channels != before.Channels || len(m.Pix) != len(before.Pix) || m.Dtype != before.Dtype {
		return fmt.Errorf("transform: %s: made %s, want %s", s.Text, m.Describe(), before.Describe())
	}
	return nil
}

// applyOwn runs the steps after ToTensor on the result.
func (l *lane) applyOwn(out []byte, r *rand.Rand) error {
	o := &l.output
	for _, s := range o.Own {
		l.planes = raster.Planes{Pix: dense.Values[float32](out), Channels: o.Channels, Width: o.W, Height: o.H, Dtype: dataset.Float32}
		if err := s.Apply(l.Engine.of, &l.planes, r); err != nil {
			return err
		}
	}
	l.planes.Pix = nil
	return nil
}
