// Package engine runs a plan over one sample after the other: it collects geometry into one window, decodes and resamples it
// once, edits pixels where steps need them, moves masks, boxes and keypoints with the image, and stores the result.
package engine

import (
	"errors"
	"fmt"
	"image"
	"math/rand/v2"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/internal/figures"
	"github.com/penstock-go/penstock/internal/resize"
	"github.com/penstock-go/penstock/transform/internal/raster"
	"github.com/penstock-go/penstock/transform/internal/source"
)

// DoAll runs operations, one after the other.
func DoAll(ops []Operation, e *Engine, r *rand.Rand) error {
	for _, op := range ops {
		if err := op.Do(e, r); err != nil {
			return err
		}
	}
	return nil
}

// An Engine applies the steps to one image. It collects geometry in a view, which Render applies when a step needs
// pixels. For the last view prepare does that, and the frame's Store goes on row by row.
type Engine struct {
	of    string       // the field of the images
	limit int          // the most pixels that an image may have
	held  *holding     // of the memory of a pool; nil without a bound
	makes int64        // bytes of the largest images that steps have asked for, until Begin
	Slot  dataset.Slot // told about the stages

	src    source.Image
	View   view
	from   image.Point     // the size before all steps, or before Tiles
	Shown  image.Rectangle // where the image is after PadTo
	Frame  frame
	inside bool // the current image is in the frame, and not in src any more

	Annotations *Annotations // what moves with the image; nil if nothing does

	lent Lent // of the step of a user that is running

	frameOf  ofFrame      // of the clip, if it is one
	Order    []int        // of the RandomOrders that are running, the outermost first
	Field    raster.Field // of ElasticTransform
	channels []int        // of RandomChannelPermutation
	Weights  []float32    // of AugMix
}

// A frame is the memory of one kind of pixel: the current image, and what the view needs of it. Kinds differ in this
// alone: steps and views are the same for all.
type frame interface {
	raster.Frame
	// Swap makes the spare image the current one.
	Swap()

	// Begin forgets the last image.
	Begin(src source.Image)
	// cost is how many pixels of MaxPixels a pixel counts.
	cost() int
	// needs is the window of the current image that the view's resampling reads, for which it computes the weights.
	// The view shows something.
	needs(v *view) image.Rectangle
	// weights is how many bytes of weights there are once it has computed those of two axes.
	weights(x, y resize.Axis) int64
	// prepare gets the pixels that the view shows and runs the horizontal pass.
	prepare(e *Engine) error
	// Draw makes the spare image the canvas of w×h pixels that prepare has begun.
	Draw(v *view, w, h int)
	// Store writes the canvas that prepare has begun to the result of a lane.
	Store(l *lane, out []byte, r *rand.Rand) error

	// load decodes a window of a source for several engines.
	load(s *sharedSource, window image.Rectangle) error

	// lend runs a step of the user's own on the current image, which must keep its size.
	lend(l *Lent, s *Sampling, field string, r *rand.Rand) error
}

// newFrame is memory for images of a program.
func newFrame(p *Plan) frame {
	if d := p.Deep; d != nil {
		return &floatFrame{stored: d.Channels, Floats: raster.Floats{Planes: raster.Planes{Channels: d.Channels}}, fills: &d.Fills}
	}
	return &ByteFrame{pillow: p.Pillow}
}

// Begin starts with an image of w×h pixels that is still in src.
func (e *Engine) Begin(src source.Image, w, h int, slot dataset.Slot) {
	e.src, e.Slot, e.inside, e.makes = src, slot, false, 0
	e.Frame.Begin(src)
	e.from = image.Pt(w, h)
	e.View = whole(w, h)
}

// Guard calls code of the user. A panic is an error.
func (e *Engine) Guard(call func() error) error { return source.Guard(e.of, call) }

// Size is the size of the image after the steps so far.
func (e *Engine) Size() (w, h int) { return e.View.Canvas.X, e.View.Canvas.Y }

// Resample adds a resize to w×h to the view.
func (e *Engine) Resample(w, h int, f resize.Filter) error {
	if w == e.View.Canvas.X && h == e.View.Canvas.Y {
		return nil
	}
	if w < 1 || h < 1 || w > maxResampled || h > maxResampled {
		return Impossible{e.View.Canvas, image.Pt(w, h)}
	}
	if !e.View.canResample() {
		if err := e.Render(); err != nil {
			return err
		}
	}
	e.Annotations.resize(w, h)
	e.View.Resample(w, h, f)
	return nil
}

// maxResampled is the limit of a resized image's side. The limit of pixels does
// not apply to it, because often only a part of it is computed.
const maxResampled = 1 << 30

// Impossible is the error of a resize to a size that no image has.
type Impossible struct{ from, to image.Point }

func (i Impossible) Error() string {
	return fmt.Sprintf("%s would become %d×%d, want 1 to %d", figures.Pixels(i.from.X, i.from.Y), i.to.Y, i.to.X, maxResampled)
}

// Crop adds cutting out r to the view. R may reach beyond the image.
func (e *Engine) Crop(r image.Rectangle, fill raster.Fill) error {
	if !e.View.canCrop(r, fill) {
		if err := e.Render(); err != nil {
			return err
		}
	}
	e.Annotations.Crop(r)
	e.View.Crop(r, fill)
	return nil
}

// Flip mirrors the image left to right, or top to bottom.
func (e *Engine) Flip(vertical bool) {
	e.Annotations.Flip(vertical)
	if vertical {
		e.View.flipY()
	} else {
		e.View.flipX()
	}
}

// Render applies the geometry collected so far. After it, the frame has the image.
func (e *Engine) Render() error {
	w, h := e.Size()
	if fw, fh := e.Frame.Size(); e.inside && e.View.isWhole(w, h) && fw == w && fh == h {
		return e.claim(need{})
	}
	if e.View.filter == resize.TensorFlowBilinear {
		return errors.New("transform: TensorFlowBilinear makes values that are not whole numbers: want no step after it that needs pixels")
	}
	if err := e.Make(w, h); err != nil {
		return err
	}
	if err := e.Frame.prepare(e); err != nil {
		return err
	}
	e.Frame.Draw(&e.View, w, h)
	e.Frame.Swap()
	e.Moved()
	return nil
}

// Moved says that the current image is the frame, whose size may be another than before.
func (e *Engine) Moved() {
	e.inside = true
	e.View = whole(e.Frame.Size())
}

// Check is the error of an image of w×h pixels that would be too large.
func (e *Engine) Check(w, h int) error { return checkValues(w, h, e.Frame.cost(), e.limit) }

// CheckChannels is the error of a frame that would be too large with this number of channels.
func (e *Engine) CheckChannels(n int) error {
	if n <= e.Frame.Channels() {
		return nil
	}
	w, h := e.Size()
	if err := e.makeOf(w, h, n); err != nil {
		return err
	}
	return e.claim(need{})
}

// checkValues is source.CheckSize for images of many channels.
func checkValues(w, h, channels, limit int) error {
	if err := source.CheckSize(w, h, limit); err != nil {
		return err
	}
	if w > limit/channels/h {
		return fmt.Errorf("transform: an image would become %s of %d channels, more values than the limit of %d (see MaxPixels)", figures.Pixels(w, h), channels, limit)
	}
	return nil
}

// Warp replaces the image, which Render has made, by what m shows of it, in w×h pixels.
func (e *Engine) Warp(m raster.Mapping, w, h int, p raster.Painter) error {
	if err := e.Make(w, h); err != nil {
		return err
	}
	if err := e.claim(need{}); err != nil {
		return err
	}
	e.Frame.Warp(m, w, h, p)
	e.Moved()
	return e.Annotations.Follow(&m, w, h)
}

// Permute exchanges the channels at random.
func (e *Engine) Permute(r *rand.Rand) {
	e.channels = e.channels[:0]
	for c := range e.Frame.Channels() {
		e.channels = append(e.channels, c)
	}
	for i := len(e.channels) - 1; i > 0; i-- {
		j := r.IntN(i + 1)
		e.channels[i], e.channels[j] = e.channels[j], e.channels[i]
	}
	e.Frame.Permute(e.channels)
}
