package transform

import (
	"fmt"
	"image"
	"math"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/internal/figures"
	"github.com/penstock-go/penstock/internal/resize"
	"github.com/penstock-go/penstock/transform/internal/raster"
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
	stored int // the channels of the files or arrays
	raster.Floats

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
}

func newDeepEngine(d *deepPlan) *deepEngine {
	if d == nil {
		return nil
	}
	return &deepEngine{stored: d.channels, Floats: raster.Floats{Planes: raster.Planes{Channels: d.channels}, Fill: d.fill}}
}

// begin forgets the last image, whose channels Grayscale may have changed.
func (d *deepEngine) begin(src source) {
	if d == nil {
		return
	}
	d.Planes.Channels = d.stored
	if shared, ok := src.(*sharedSource); ok {
		d.Planes.Channels = shared.channels
	}
}

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
	if d.Dtype, err = checkSamples(e.src.(deepSource), d.Planes.Channels); err != nil {
		return err
	}
	return d.checkFill()
}

// checkFill checks that the dtype has the values of the fill.
func (d *deepEngine) checkFill() error {
	kind := raster.DepthOf(d.Dtype)
	for _, v := range d.Fill {
		if kind.Whole && !(v >= kind.Least && v <= kind.Most && v == float32(math.Trunc(float64(v)))) {
			return fmt.Errorf("transform: the image has %s values: want a Fill of Depth16 among them, not %v", d.Dtype, v)
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
	if e.inside && e.view.isWhole(w, h) && d.Width == w && d.Height == h {
		return nil
	}
	if err := e.check(w, h); err != nil {
		return err
	}
	if err := d.prepare(e); err != nil {
		return err
	}
	d.Spare.Resize(d.Planes.Channels, w, h)
	for c := range d.Planes.Channels {
		plane := d.Spare.Plane(c)
		for y := range h {
			d.rowOf(e, plane[y*w:][:w], c, y)
		}
	}
	d.Swap()
	e.moved()
	return nil
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
	d.wide = raster.GrowFloats(d.wide, w*h*d.Planes.Channels)
	d.mid, d.stride, d.layer = d.wide, w, w*h
	for c := range d.Planes.Channels {
		d.x.Horizontal(d.mid[c*d.layer:], w, d.pix[c*d.plane:], d.pitch, h)
	}
	if d.Dtype == dataset.Uint8 && v.filter != resize.Nearest {
		raster.SettleBytes(d.mid) // torch and Pillow have bytes between the two passes
	}
	return nil
}

// pixels makes d.pix the current image's values in r.
func (d *deepEngine) pixels(e *engine, r image.Rectangle) error {
	if e.inside {
		d.pix, d.pitch, d.plane = d.Pix[r.Min.Y*d.Width+r.Min.X:], d.Width, d.Width*d.Height
		return nil
	}
	if err := e.check(r.Dx(), r.Dy()); err != nil {
		return err
	}
	d.window = raster.GrowFloats(d.window, d.Planes.Channels*r.Dx()*r.Dy())
	d.pix, d.pitch, d.plane = d.window, r.Dx(), r.Dx()*r.Dy()
	return e.src.(deepSource).decodeDeep(d.window, r)
}

// rowOf writes row y of channel c of the canvas.
func (d *deepEngine) rowOf(e *engine, dst []float32, c, y int) {
	v := &e.view
	if y < v.at.Min.Y || y >= v.at.Max.Y || v.at.Min.X > 0 || v.at.Max.X < v.canvas.X {
		fillFloats(dst, d.Filling(c))
	}
	if y < v.at.Min.Y || y >= v.at.Max.Y {
		return
	}
	out := dst[v.at.Min.X:v.at.Max.X]
	d.y.Vertical(out, d.mid[c*d.layer:], d.stride, y-v.at.Min.Y)
	switch {
	case !v.resampled() || v.filter == resize.Nearest:
	case d.Dtype == dataset.Uint8:
		raster.SettleBytes(out)
	default:
		raster.DepthOf(d.Dtype).Settle(out)
	}
}

func fillFloats(dst []float32, v float32) {
	for i := range dst {
		dst[i] = v
	}
}
