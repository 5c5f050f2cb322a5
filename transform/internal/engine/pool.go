package engine

import (
	"context"
	"errors"
	"fmt"
	"image"
	"math/rand/v2"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/transform/internal/source"
)

// A Pool applies a plan to single images, several at a time.
type Pool struct {
	*Plan
	memory  *memory      // nil without a bound
	singles chan *single // nil where no memory has been made yet
}

// NewPool makes a pool for n images at a time.
func NewPool(p *Plan, n int) *Pool {
	c := &Pool{Plan: p, singles: make(chan *single, n)}
	for range n {
		c.singles <- nil
	}
	if p.Memory > 0 {
		c.memory = newMemory(p.Memory, n)
	}
	return c
}

// An Input is one image, or one clip.
type Input struct {
	Frames  []Input // of a clip, which has nothing of the rest but Seed and Context
	File    []byte
	Image   image.Image
	Raw     source.Raw
	Seed    uint64
	Context context.Context // nil never ends
}

// A single holds the memory to process one image at a time.
type single struct {
	lane  *lane
	slot  dataset.Slot // nothing is stored in it: the engine reports its stages to it
	pcg   rand.PCG
	rand  *rand.Rand
	raw   source.Raw
	image source.Decoded
	held  *holding // nil without a bound
	from  Input    // the image or clip that is being made
}

// newSingle makes memory for one image at a time.
func (c *Pool) newSingle() *single {
	s := &single{lane: newLane(c.Plan), slot: dataset.NewSlot(dataset.Field{Name: "image", Dtype: dataset.Uint8})}
	s.rand = rand.New(&s.pcg)
	s.lane.files.Interrupt(func() error { return s.from.Context.Err() })
	if c.memory != nil {
		s.held = &holding{memory: c.memory}
		s.lane.Engine.held = s.held
	}
	return s
}

// Into applies the plan to an image, and writes the result to the memory that room has for so many values. If another call
// had the memory that this one needs, room is called again.
func (c *Pool) Into(from Input, room func(s Sizes, values int) ([]byte, error)) error {
	if from.Context == nil {
		from.Context = context.Background()
	}
	anew, taken := false, int64(0)
	for {
		first, err := c.try(from, room, anew, taken)
		short, ok := errors.AsType[*shortage](err)
		if !ok {
			return err
		}
		anew, taken = true, 0
		if !first { // what the single had of other images was too much
			continue
		}
		if short.bytes > c.memory.limit/2 {
			return fmt.Errorf("transform: the image would take %d bytes of memory, more than half of the limit of %d (see MaxMemory)", short.bytes, c.memory.limit)
		}
		taken = short.bytes - c.memory.share
		if err := c.memory.wait(from.Context, taken); err != nil {
			return fmt.Errorf("transform: wait for memory: %w", err)
		}
	}
}

// try is Into with a single that is free, or in its place a new one. The call has taken so many bytes beyond a share. First
// reports whether the single was new.
func (c *Pool) try(from Input, room func(s Sizes, values int) ([]byte, error), anew bool, taken int64) (first bool, err error) {
	s, err := c.take(from.Context)
	if err != nil {
		if taken > 0 {
			c.memory.give(taken)
		}
		return false, err
	}
	returns := false
	defer func() {
		if s != nil && (!s.held.end() || !returns) { // runtime.Goexit in a user's step or image
			s = nil
		}
		c.singles <- s
	}()
	if s == nil || anew {
		s, first = c.newSingle(), true
	}
	if taken > 0 {
		s.held.taken = taken
	}
	err = s.into(from, room)
	returns = true
	return first, err
}

// take is the next single that is free.
func (c *Pool) take(ctx context.Context) (*single, error) {
	err := ctx.Err()
	if err == nil {
		select {
		case s := <-c.singles:
			return s, nil
		case <-ctx.Done():
			err = ctx.Err()
		}
	}
	return nil, fmt.Errorf("transform: %w", err)
}

func (s *single) into(from Input, room func(s Sizes, values int) ([]byte, error)) error {
	s.from = from
	defer func() { s.raw.Pix, s.image.Image, s.from = nil, nil, Input{} }()
	s.pcg.Seed(from.Seed, 0)
	if s.lane.Frames > 0 {
		return s.clip(room)
	}
	if len(from.Frames) > 0 {
		return errors.New("transform: a clip, but the steps are for single images: want UniformTemporalSubsample among them")
	}
	if err := s.Begin(from); err != nil {
		return err
	}
	if err := s.lane.Run(s.rand); err != nil {
		return err
	}
	if err := from.Context.Err(); err != nil {
		return fmt.Errorf("transform: %w", err)
	}
	out, err := room(s.lane.sizes(), s.lane.values())
	if err != nil {
		return err
	}
	return s.lane.Store(out, s.rand)
}

// Begin reads the image's size.
func (s *single) Begin(from Input) error {
	var w, h int
	var src source.Image
	switch {
	case len(from.Frames) > 0:
		return errors.New("transform: a clip in a clip")
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
