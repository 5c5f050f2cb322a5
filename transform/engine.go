package transform

import (
	"fmt"
	"image"
	"math/rand/v2"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/internal/figures"
	"github.com/penstock-go/penstock/internal/resize"
	"github.com/penstock-go/penstock/transform/internal/raster"
	"github.com/penstock-go/penstock/transform/internal/source"
)

// An engine applies the steps to one image. It collects geometry in a view, which
// render applies when a step needs pixels. For the last view prepare does that, and the frame's store
// goes on row by row.
type engine struct {
	of    string       // the field of the images
	limit int          // the most pixels that an image may have
	hands int          // how many goroutines may work on the image; 0 means 1
	slot  dataset.Slot // told about the stages

	src    source.Image
	view   view
	shown  image.Point // the size before PadTo
	frame  frame
	inside bool // the current image is in the frame, and not in src any more

	annotations *annotations // what moves with the image; nil if nothing does

	sample Sample // of the ApplySample that is running
	crop5  int    // which crop of FiveCrop or TenCrop it makes

	order    []int        // of the RandomOrders that are running, the outermost first
	field    raster.Field // of ElasticTransform
	channels []int        // of RandomChannelPermutation
	weights  []float32    // of AugMix
}

// A frame is the memory of one kind of pixel: the current image, and what the view needs of it. Kinds differ in this
// alone: steps and views are the same for all.
type frame interface {
	raster.Frame
	// Swap makes the spare image the current one.
	Swap()

	// begin forgets the last image.
	Begin(src source.Image)
	// cost is how many pixels of MaxPixels a pixel counts.
	cost() int
	// needs is the window of the current image that the view's resampling reads, for which it computes the weights.
	// The view shows something.
	needs(v *view) image.Rectangle
	// prepare gets the pixels that the view shows and runs the horizontal pass.
	prepare(e *engine) error
	// draw makes the spare image the canvas of w×h pixels that prepare has begun.
	draw(v *view, w, h int)
	// store writes the canvas that prepare has begun to the result of a lane.
	store(l *lane, out []byte, r *rand.Rand) error

	// load decodes a window of a source for several engines, and share lets them have the current image.
	load(s *sharedSource, window image.Rectangle) error
	share(s *sharedSource)

	// lend gives the current image to a step of the user, and takeBack gives the frame its own memory again. finish makes
	// the step's image the current one; want is its size, unless that varies.
	lend(s *Sample)
	takeBack(s *Sample)
	finish(s *Sample, want image.Point, varies bool) error
}

// newFrame is memory for images of a program.
func newFrame(p *program) frame {
	if d := p.deep; d != nil {
		return &floatFrame{stored: d.channels, Floats: raster.Floats{Planes: raster.Planes{Channels: d.channels}, Fill: d.fill}}
	}
	return &byteFrame{pillow: p.pillow}
}

// Begin starts with an image of w×h pixels that is still in src.
func (e *engine) Begin(src source.Image, w, h int, slot dataset.Slot) {
	e.src, e.slot, e.inside = src, slot, false
	e.frame.Begin(src)
	e.view = whole(w, h)
}

// Size is the size of the image after the steps so far.
func (e *engine) Size() (w, h int) { return e.view.canvas.X, e.view.canvas.Y }

// resample adds a resize to w×h to the view.
func (e *engine) resample(w, h int, f resize.Filter) error {
	if w == e.view.canvas.X && h == e.view.canvas.Y {
		return nil
	}
	if w < 1 || h < 1 || w > maxResampled || h > maxResampled {
		return impossible{e.view.canvas, image.Pt(w, h)}
	}
	if !e.view.canResample() {
		if err := e.render(); err != nil {
			return err
		}
	}
	e.annotations.resize(w, h)
	e.view.resample(w, h, f)
	return nil
}

// maxResampled is the limit of a resized image's side. The limit of pixels does
// not apply to it, because often only a part of it is computed.
const maxResampled = 1 << 30

// impossible is the error of a resize to a size that no image has.
type impossible struct{ from, to image.Point }

func (i impossible) Error() string {
	return fmt.Sprintf("%s would become %d×%d, want 1 to %d", figures.Pixels(i.from.X, i.from.Y), i.to.Y, i.to.X, maxResampled)
}

// crop adds cutting out r to the view. R may reach beyond the image.
func (e *engine) crop(r image.Rectangle, fill [3]uint8) error {
	if !e.view.canCrop(r, fill) {
		if err := e.render(); err != nil {
			return err
		}
	}
	e.annotations.crop(r)
	e.view.crop(r, fill)
	return nil
}

// flip mirrors the image left to right, or top to bottom.
func (e *engine) flip(vertical bool) {
	e.annotations.flip(vertical)
	if vertical {
		e.view.flipY()
	} else {
		e.view.flipX()
	}
}

// render applies the geometry collected so far. After it, the frame has the image.
func (e *engine) render() error {
	w, h := e.Size()
	if fw, fh := e.frame.Size(); e.inside && e.view.isWhole(w, h) && fw == w && fh == h {
		return nil
	}
	if err := e.check(w, h); err != nil {
		return err
	}
	if err := e.frame.prepare(e); err != nil {
		return err
	}
	e.frame.draw(&e.view, w, h)
	e.frame.Swap()
	e.moved()
	return nil
}

// moved says that the current image is the frame, whose size may be another than before.
func (e *engine) moved() {
	e.inside = true
	e.view = whole(e.frame.Size())
}

// check is the error of an image of w×h pixels that would be too large.
func (e *engine) check(w, h int) error { return checkValues(w, h, e.frame.cost(), e.limit) }

// checkChannels is the error of a frame that would be too large with this number of channels.
func (e *engine) checkChannels(n int) error {
	if n <= e.frame.Channels() {
		return nil
	}
	w, h := e.Size()
	return checkValues(w, h, n, e.limit)
}

// checkValues is checkSize for images of many channels.
func checkValues(w, h, channels, limit int) error {
	if err := source.CheckSize(w, h, limit); err != nil {
		return err
	}
	if w > limit/channels/h {
		return fmt.Errorf("transform: an image would become %s of %d channels, more values than the limit of %d (see MaxPixels)", figures.Pixels(w, h), channels, limit)
	}
	return nil
}

// needs is the window of the current image that the view's resampling reads.
func (e *engine) needs() image.Rectangle {
	if e.view.part.Empty() {
		return image.Rectangle{}
	}
	return e.frame.needs(&e.view)
}
