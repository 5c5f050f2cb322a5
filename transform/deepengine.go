package transform

import (
	"fmt"
	"image"
	"math"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/internal/figures"
	"github.com/penstock-go/penstock/internal/resize"
)

// A deepSource gives the values of an image before the first step.
type deepSource interface {
	// samples is the number of channels and their dtype.
	samples() (channels int, dtype dataset.Dtype, err error)
	// decodeDeep writes a window of the image, one plane after the other without gaps.
	decodeDeep(dst []float32, window image.Rectangle) error
}

// A deepEngine does for images of Depth16 what render, prepare and rowOf of its engine do
// for those of 8 bits. The view is the engine's.
type deepEngine struct {
	stored   int       // the channels of the files or arrays
	channels int       // those of the current image
	fill     []float32 // per channel, or one for all; nil means 0
	dtype    dataset.Dtype

	img, spare Planes // img is the current image if the engine is inside

	x, y   resize.FloatWeights
	window []float32
	pix    []float32 // what the view shows
	pitch  int       // from a row to the next
	plane  int       // from a channel to the next
	mid    []float32 // after the horizontal pass, from row y.Lo
	wide   []float32
	stride int // of mid
	layer  int // of mid, from a channel to the next
	row    []float32

	kernels [2][]float32 // of GaussianBlur, across and down
	order   []int        // of RandomChannelPermutation
	before  []float32    // what AugMix begins with
}

func newDeepEngine(d *deepPlan) *deepEngine {
	if d == nil {
		return nil
	}
	return &deepEngine{stored: d.channels, channels: d.channels, fill: d.fill}
}

// begin forgets the last image, whose channels Grayscale may have changed.
func (d *deepEngine) begin(src source) {
	if d == nil {
		return
	}
	d.channels = d.stored
	if shared, ok := src.(*sharedSource); ok {
		d.channels = shared.channels
	}
}

func (d *deepEngine) check(w, h, limit int) error { return checkValues(w, h, d.channels, limit) }

// checkValues is checkSize for images of many channels.
func checkValues(w, h, channels, limit int) error {
	if err := checkSize(w, h, limit); err != nil {
		return err
	}
	if w > limit/channels/h {
		return fmt.Errorf("transform: an image would become %s of %d channels, more values than the limit of %d (see MaxPixels)", pixelsOf(w, h), channels, limit)
	}
	return nil
}

// open asks the source what it has, unless the steps have begun.
func (d *deepEngine) open(e *engine) error {
	if e.inside {
		return nil
	}
	var err error
	if d.dtype, err = checkSamples(e.src.(deepSource), d.channels); err != nil {
		return err
	}
	return d.checkFill()
}

// checkFill checks that the dtype has the values of the fill.
func (d *deepEngine) checkFill() error {
	kind := depthOf(d.dtype)
	for _, v := range d.fill {
		if kind.whole && !(v >= kind.least && v <= kind.most && v == float32(math.Trunc(float64(v)))) {
			return fmt.Errorf("transform: the image has %s values: want a Fill of Depth16 among them, not %v", d.dtype, v)
		}
	}
	return nil
}

// checkSamples checks that a source has this number of channels, and returns their dtype.
func checkSamples(src deepSource, channels int) (dataset.Dtype, error) {
	n, dtype, err := src.samples()
	switch {
	case err != nil:
		return dtype, err
	case n != channels:
		return dtype, fmt.Errorf("transform: the image has %s, Depth16 wants %d", figures.Count(n, "channel", "channels"), channels)
	case dtype == dataset.Dtype(0):
		dtype = dataset.Float32
	}
	return dtype, nil
}

// render applies the geometry collected so far. After it, d.img is the image.
func (d *deepEngine) render(e *engine) error {
	w, h := e.size()
	if e.inside && e.view.isWhole(w, h) && d.img.Width == w && d.img.Height == h {
		return nil
	}
	if err := d.check(w, h, e.limit); err != nil {
		return err
	}
	if err := d.prepare(e); err != nil {
		return err
	}
	d.spare.resize(d.channels, w, h)
	for c := range d.channels {
		plane := d.spare.Plane(c)
		for y := range h {
			d.rowOf(e, plane[y*w:][:w], c, y)
		}
	}
	d.swap(e)
	return nil
}

// swap makes the spare image the current one.
func (d *deepEngine) swap(e *engine) {
	d.img, d.spare = d.spare, d.img
	d.img.Dtype = d.dtype
	e.inside = true
	e.view = whole(d.img.Width, d.img.Height)
}

// needs is the window of the current image that the view's resampling reads, for which it
// computes the weights.
func (d *deepEngine) needs(v *view) image.Rectangle {
	if v.part.Empty() {
		return image.Rectangle{}
	}
	ax, ay := v.axes()
	d.x.Compute(ax)
	d.y.Compute(ay)
	return image.Rect(d.x.Lo, d.y.Lo, d.x.Hi, d.y.Hi).Add(v.window.Min)
}

// prepare gets what the view shows and runs the horizontal pass, so that rowOf can be
// called.
func (d *deepEngine) prepare(e *engine) error {
	v := &e.view
	if err := d.open(e); err != nil || v.part.Empty() {
		return err
	}
	need := d.needs(v)
	if err := d.pixels(e, need); err != nil {
		return err
	}
	e.slot.Stage(dataset.StageResample)
	ax, _ := v.axes()
	if !ax.Reverse && ax.In == ax.Out {
		d.mid, d.stride, d.layer = d.pix, d.pitch, d.plane
		return nil
	}
	w, h := v.part.Dx(), need.Dy()
	d.wide = growFloats(d.wide, w*h*d.channels)
	d.mid, d.stride, d.layer = d.wide, w, w*h
	for c := range d.channels {
		d.x.Horizontal(d.mid[c*d.layer:], w, d.pix[c*d.plane:], d.pitch, h)
	}
	if d.dtype == dataset.Uint8 && v.filter != resize.Nearest {
		settleBytes(d.mid) // torch and Pillow have bytes between the two passes
	}
	return nil
}

// pixels makes d.pix the current image's values in r.
func (d *deepEngine) pixels(e *engine, r image.Rectangle) error {
	if e.inside {
		d.pix, d.pitch, d.plane = d.img.Pix[r.Min.Y*d.img.Width+r.Min.X:], d.img.Width, d.img.Width*d.img.Height
		return nil
	}
	if err := d.check(r.Dx(), r.Dy(), e.limit); err != nil {
		return err
	}
	d.window = growFloats(d.window, d.channels*r.Dx()*r.Dy())
	d.pix, d.pitch, d.plane = d.window, r.Dx(), r.Dx()*r.Dy()
	return e.src.(deepSource).decodeDeep(d.window, r)
}

// rowOf writes row y of channel c of the canvas.
func (d *deepEngine) rowOf(e *engine, dst []float32, c, y int) {
	v := &e.view
	if y < v.at.Min.Y || y >= v.at.Max.Y || v.at.Min.X > 0 || v.at.Max.X < v.canvas.X {
		fillFloats(dst, d.filling(c))
	}
	if y < v.at.Min.Y || y >= v.at.Max.Y {
		return
	}
	out := dst[v.at.Min.X:v.at.Max.X]
	d.y.Vertical(out, d.mid[c*d.layer:], d.stride, y-v.at.Min.Y)
	switch {
	case !v.resampled() || v.filter == resize.Nearest:
	case d.dtype == dataset.Uint8:
		settleBytes(out)
	default:
		depthOf(d.dtype).settle(out)
	}
}

// filling is what is outside the image in channel c.
func (d *deepEngine) filling(c int) float32 {
	if len(d.fill) == 0 {
		return 0
	}
	return d.fill[c%len(d.fill)]
}

func fillFloats(dst []float32, v float32) {
	for i := range dst {
		dst[i] = v
	}
}

// pad pads the image to frame as mode says.
func (d *deepEngine) pad(e *engine, frame image.Rectangle, mode PadMode) error {
	if err := d.check(frame.Dx(), frame.Dy(), e.limit); err != nil {
		return err
	}
	if err := d.render(e); err != nil {
		return err
	}
	from, to := &d.img, &d.spare
	to.resize(d.channels, frame.Dx(), frame.Dy())
	for c := range d.channels {
		src, dst := from.Plane(c), to.Plane(c)
		for y := range to.Height {
			row := src[from.Width*mode.index(y+frame.Min.Y, from.Height):][:from.Width]
			out := dst[to.Width*y:][:to.Width]
			for x := range out {
				out[x] = row[mode.index(x+frame.Min.X, from.Width)]
			}
		}
	}
	d.swap(e)
	e.annotations.pad(frame, mode)
	return nil
}
