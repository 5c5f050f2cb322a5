package program

import (
	"errors"
	"fmt"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/transform/internal/engine"
	"github.com/penstock-go/penstock/transform/internal/source"
)

// maxFrames is the limit of frames of a result.
const maxFrames = 1 << 16

// UniformTemporalSubsample says that samples are clips, and how many frames their results have.
var UniformTemporalSubsample = result("UniformTemporalSubsample", func(p *Program, c *Call) error {
	n := c.Args.int(0)
	switch {
	case n < 1 || n > maxFrames:
		return fmt.Errorf("want 1 to %d frames", maxFrames)
	case p.inView:
		return errors.New("not in Views")
	case p.Frames > 0:
		return errors.New("must come only once")
	}
	p.Frames = n
	p.Output.Calls = append(p.Output.Calls, c.String())
	return nil
})

// input finds how a field holds images or clips.
func (p *Program) input(x *engine.Task, f dataset.Field) (err error) {
	files := f.Ragged && f.Bytes() == 1 && f.Elements() == 1
	clips := len(f.Shape) == 4 && !f.Ragged || len(f.Shape) == 3 && f.Ragged
	frame := f
	switch {
	case files:
		return nil
	case clips && f.Ragged && p.Frames == 0:
		return errors.New("the number of frames varies: add UniformTemporalSubsample(n)")
	case clips:
		frame.Ragged, frame.Shape = false, f.Shape[len(f.Shape)-3:]
		x.Bytes = frame.Bytes()
		if p.Frames == 0 {
			p.Frames = f.Shape[0]
		}
		if err := want(p.Frames <= maxFrames, "%d frames at most", maxFrames); err != nil {
			return err
		}
	case f.Ragged:
		return errors.New("want files as ragged uint8, or frames of the shape (h, w, c) or (c, h, w)")
	case p.Frames > 0:
		return errors.New("want clips of the shape (t, h, w, c) or (t, c, h, w), or files, for UniformTemporalSubsample")
	}
	if p.Deep != nil {
		x.Raw, err = p.deepRaw(frame)
	} else {
		x.Raw, err = source.PixelsOf(frame)
	}
	return err
}

// ofClip makes the field of a frame that of a clip, if samples are clips.
func (p *Program) ofClip(f *dataset.Field) error {
	switch {
	case p.Frames == 0:
		return nil
	case p.any():
		return fmt.Errorf("%v: not for clips", p.parts[0])
	case p.Tiles != nil:
		return fmt.Errorf("%s: not for clips", p.Tiles.Text)
	case p.Output.Patches.Side > 0:
		return fmt.Errorf("%s: not for clips", Patches.name)
	case p.Ragged:
		return nil
	}
	f.Shape = append(dataset.Shape{p.Frames}, f.Shape...)
	return dataset.Spec{*f}.Validate()
}
