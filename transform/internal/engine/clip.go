package engine

import (
	"context"
	"errors"
	"fmt"
	"image"
	"math/rand/v2"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/internal/figures"
	"github.com/penstock-go/penstock/internal/slots"
)

// A clip is a sample of several images, the frames, which all have one size. The plan runs over each of them. Before each, the random
// numbers are set back to where they were before the first, so all frames have the same draws.

// Subsample is which of a clip's frames is number k of n: that of torchvision's UniformTemporalSubsample, which truncates
// torch.linspace(0, frames-1, n). That has float32, counts its second half from the end, and rounds there once, as fused instructions do. Of more
// than 2^24 frames it may name one after the last, which is an error there; here it is the last.
func Subsample(k, n, frames int) int {
	if n == 1 {
		return 0
	}
	last := float32(frames - 1)
	step := last / float32(n-1)
	if k < n/2 {
		return int(step * float32(k))
	}
	return min(int(float32(float64(last)-float64(step)*float64(n-1-k))), frames-1)
}

// An ofFrame is what a frame has for itself.
type ofFrame struct {
	clip   bool
	number uint64
	pcg    rand.PCG
	rand   *rand.Rand
}

// Own are random numbers for the pixels of this image: in a clip, those of the frame, of which r gives the seed.
func (e *Engine) Own(r *rand.Rand) *rand.Rand {
	f := &e.frameOf
	if !f.clip {
		return r
	}
	if f.rand == nil {
		f.rand = rand.New(&f.pcg)
	}
	f.pcg.Seed(r.Uint64(), f.number)
	return f.rand
}

// A framer has the frames of the clip that a lane runs over.
type framer interface {
	// openFrame begins with frame k.
	openFrame(k int) error
	// rewind sets the random numbers back to where they were before the first frame.
	rewind()
}

// clip runs the plan over a clip of so many frames, and stores the result. Room is its memory, once the first frame has shown how many values one
// has.
func (l *lane) clip(ctx context.Context, from framer, frames int, r *rand.Rand, room func(values int) ([]byte, error)) error {
	if frames < 1 {
		return errors.New("transform: a clip without frames")
	}
	e := &l.Engine
	var out []byte
	var size image.Point
	for k := range l.Frames {
		if err := ctx.Err(); err != nil {
			return err
		}
		at := Subsample(k, l.Frames, frames)
		e.frameOf.clip, e.frameOf.number = true, uint64(k)
		from.rewind()
		err := from.openFrame(at)
		if k == 0 {
			size = e.from
		}
		if err == nil && e.from != size {
			err = fmt.Errorf("transform: it has %s, but the first one %d×%d", figures.Pixels(e.from.X, e.from.Y), size.Y, size.X)
		}
		if err == nil {
			err = l.Run(r)
		}
		if err == nil && k == 0 {
			out, err = room(l.values())
		}
		if err == nil {
			e.Slot.Stage(dataset.StageStore)
			n := len(out) / l.Frames
			err = l.Store(out[k*n:(k+1)*n:(k+1)*n], r)
		}
		if err != nil {
			return fmt.Errorf("frame %d of a clip of %d: %w", at, frames, err)
		}
	}
	return nil
}

// openFrame begins with a frame of the clip that files has opened.
func (l *lane) openFrame(k int, slot dataset.Slot) error {
	w, h, err := l.files.OpenFrame(k)
	if err == nil {
		l.opened(w, h, slot)
	}
	return err
}

// placeClip places a sample that is a clip.
func (r *Reader) placeClip(ctx context.Context, dst dataset.Slot) error {
	frames, err := 0, error(nil)
	if r.Bytes > 0 {
		frames = len(r.input.Bytes()) / r.Bytes
	} else if frames, err = r.Lane.files.OpenClip(r.file.Data); err != nil {
		return err
	}
	random := dst.Rand()
	r.dst, r.draws = dst, slots.Slot(dst).Draw().Watch()
	defer func() { r.dst = dataset.Slot{} }()
	err = r.Lane.clip(ctx, r, frames, random, func(values int) ([]byte, error) {
		cell := dst.Cell(r.Field)
		if r.Ragged {
			cell.Grow(r.Frames * values * r.Output.Dtype.Size())
		}
		return cell.Bytes(), nil
	})
	if err != nil {
		return err
	}
	return r.putSizes(dst)
}

func (r *Reader) openFrame(k int) error {
	r.dst.Stage(dataset.StageDecode)
	if r.Bytes == 0 {
		return r.Lane.openFrame(k, r.dst)
	}
	r.Raw.Frame(r.input.Bytes(), r.Bytes, k)
	r.Lane.Engine.Begin(&r.Raw, r.Raw.W, r.Raw.H, r.dst)
	return nil
}

func (r *Reader) rewind() { r.draws.Rewind() }

// clip is into for clips.
func (s *single) clip(room func(s Sizes, values int) ([]byte, error)) error {
	frames, err := len(s.from.Frames), error(nil)
	switch {
	case frames > 0:
	case s.from.File == nil:
		return errors.New("transform: a single image, but the steps are for clips: want Clip, or the File of a clip")
	default:
		if frames, err = s.lane.files.OpenClip(s.from.File); err != nil {
			return err
		}
	}
	return s.lane.clip(s.from.Context, s, frames, s.rand, func(values int) ([]byte, error) {
		return room(s.lane.sizes(), s.lane.Frames*values)
	})
}

func (s *single) openFrame(k int) error {
	if len(s.from.Frames) > 0 {
		return s.Begin(s.from.Frames[k])
	}
	return s.lane.openFrame(k, s.slot)
}

func (s *single) rewind() { s.pcg.Seed(s.from.Seed, 0) }
