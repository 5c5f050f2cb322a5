package engine

import (
	"image"
	"math/rand/v2"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/transform/internal/source"
)

// A Pool applies a plan to single images, several at a time.
type Pool struct {
	*Plan
	singles chan *single // nil where no memory has been made yet
}

// NewPool makes a pool for n images at a time.
func NewPool(p *Plan, n int) *Pool {
	c := &Pool{Plan: p, singles: make(chan *single, n)}
	for range n {
		c.singles <- nil
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

// A single holds the memory to process one image at a time.
type single struct {
	lane  *lane
	slot  dataset.Slot // nothing is stored in it: the engine reports its stages to it
	pcg   rand.PCG
	rand  *rand.Rand
	raw   source.Raw
	image source.Decoded
}

// Into applies the plan to an image, and writes the result to the memory that room has for h×w pixels.
func (c *Pool) Into(from Input, room func(h, w int) []byte) error {
	s := <-c.singles
	returns := false
	defer func() {
		if !returns { // runtime.Goexit in a user's step or image
			s = nil
		}
		c.singles <- s
	}()
	if s == nil {
		s = &single{lane: newLane(c.Plan), slot: dataset.NewSlot(dataset.Field{Name: "image", Dtype: dataset.Uint8})}
		s.rand = rand.New(&s.pcg)
	}
	s.pcg.Seed(from.Seed, 0)
	err := s.into(from, room)
	s.raw.Pix, s.image.Image = nil, nil
	returns = true
	return err
}

func (s *single) into(from Input, room func(h, w int) []byte) error {
	if err := s.Begin(from); err != nil {
		return err
	}
	if err := s.lane.Run(s.rand); err != nil {
		return err
	}
	return s.lane.Store(room(s.lane.output.H, s.lane.output.W), s.rand)
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
	case from.Raw.Pixel > 0:
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
