package transform

import (
	"github.com/penstock-go/penstock/transform/internal/engine"
	"github.com/penstock-go/penstock/transform/internal/program"
)

// UniformTemporalSubsample takes n frames of a clip, from the first to the last one at equal distances rounded down:
// torchvision's UniformTemporalSubsample. A clip of fewer frames repeats some. It may stand anywhere in the list.
//
// It also says that samples are clips, so that the result has n frames: the shape (n, 3, h, w) with [ToTensor]. Arrays
// of the shape (t, h, w, c) or (t, c, h, w) are clips of t frames without it. Files are those of package video and GIF
// files, of which single images otherwise take the first frame. All frames of a clip must have one size. Every step
// draws once for all of them, and [GaussianNoise] and only that has other random numbers in each frame. A step of your
// own ([Apply]) is called for every frame, with the same random numbers.
//
// Views, Tiles, Patches, Boxes, Mask, Masks and KeyPoints are not for clips. docs/clips.md has more.
func UniformTemporalSubsample(n int) Step { return stepOf(program.UniformTemporalSubsample, nil, n) }

// Clip is a clip of these frames, for a [Compiled] whose steps have [UniformTemporalSubsample]. Seeds and contexts of
// the frames are ignored: give the clip its own.
func Clip(frames ...Source) Source {
	in := make([]engine.Input, len(frames))
	for k, f := range frames {
		in[k] = f.in
	}
	return Source{in: engine.Input{Frames: in}}
}
