package engine

import (
	"image"
	"math/rand/v2"
	"slices"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/internal/dense"
	"github.com/penstock-go/penstock/transform/internal/source"
)

// A Pool applies a plan to single images, several at a time.
type Pool struct {
	*Plan
	Lanes chan *single
}

func NewPool(p *Plan, n int) *Pool {
	c := &Pool{Plan: p, Lanes: make(chan *single, n)}
	for range n {
		c.Lanes <- nil
	}
	return c
}

// An Input is one image.
type Input struct {
	File  []byte
	Image image.Image
	Raw   source.Raw
	Seed  uint64
}

// Into applies the plan to an image, and writes the result to dst.
func (c *Pool) Into(dst []byte, from Input) error {
	s, err := c.Run(from, dst)
	if err == nil && s.viewer == nil {
		err = c.Store(s, dst)
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

// Run applies the steps to an image. Several crops are stored in dst, else the result is
// still to be stored. The caller must release the single.
func (c *Pool) Run(from Input, dst []byte) (s *single, err error) {
	s = <-c.Lanes
	returns := false
	defer func() {
		if !returns { // runtime.Goexit in a user's Transform or image
			c.release(nil)
		}
	}()
	if s == nil {
		s = &single{lane: newLane(c.Plan), slot: dataset.NewSlot(dataset.Field{Name: "image", Dtype: dataset.Uint8})}
		s.rand = rand.New(&s.pcg)
		if len(c.Views) > 0 {
			s.viewer = newViewer(c.Plan, nil)
		}
	}
	s.pcg.Seed(from.Seed, 0)
	err = s.Begin(from)
	switch {
	case err != nil:
	case s.viewer == nil:
		err = s.lane.Run(s.rand)
	default:
		if err = s.viewer.Begin(s.lane, s.slot, s.rand); err == nil {
			err = s.viewer.groups[0].Store(dst, s.slot, s.rand)
		}
	}
	returns = true
	return s, err
}

// Store writes the result of Run.
func (c *Pool) Store(s *single, dst []byte) error {
	returns := false
	defer func() {
		if !returns { // runtime.Goexit in a user's PlanesTransform
			c.release(nil)
		}
	}()
	err := s.lane.Store(dst, s.rand)
	returns = true
	return err
}

// release gives the memory back for the next call.
func (c *Pool) release(s *single) {
	if s != nil {
		s.raw.Pix, s.image.Image = nil, nil
	}
	c.Lanes <- s
}

// Begin reads the image's size.
func (s *single) Begin(from Input) error {
	var w, h int
	var src source.Image
	switch {
	case from.Image != nil:
		s.image = source.Decoded{Image: from.Image}
		if err := s.image.Size(&w, &h); err != nil {
			return err
		}
		src = &s.image
	case from.Raw.Pix != nil:
		s.raw = from.Raw
		w, h, src = s.raw.W, s.raw.H, &s.raw
		if err := s.raw.CheckRGB(); err != nil {
			return err
		}
	default:
		return s.lane.file(source.Encoded{Data: from.File}, s.slot)
	}
	if err := source.CheckSize(w, h, s.lane.Limit); err != nil {
		return err
	}
	s.lane.Engine.Begin(src, w, h, s.slot)
	return nil
}

// Append is Into for results whose size varies: it appends the values to dst, and says their height and width.
func (c *Pool) Append(dst []float32, from Input) (values []float32, height, width int, err error) {
	s, err := c.Run(from, nil)
	if err != nil {
		c.release(s)
		return dst, 0, 0, err
	}
	o := &s.lane.output
	n := o.Channels * o.H * o.W
	values = slices.Grow(dst, n)[:len(dst)+n]
	err = c.Store(s, dense.Bytes(values[len(dst):]))
	height, width = o.H, o.W
	c.release(s)
	if err != nil {
		return dst, 0, 0, err
	}
	return values, height, width, nil
}
