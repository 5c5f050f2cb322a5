package engine

import (
	"fmt"
	"image"
	"math"
	"math/rand/v2"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/internal/resize"
	"github.com/penstock-go/penstock/transform/internal/raster"
	"github.com/penstock-go/penstock/transform/internal/source"
)

// A floatFrame is a frame of the values of Depth16: planes of float32.
type floatFrame struct {
	raster.Floats
	stored int          // the channels of the files or arrays
	fills  *[][]float32 // of all steps

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

// Begin forgets the last image, whose channels Grayscale may have changed.
func (f *floatFrame) Begin(src source.Image) {
	f.Planes.Channels = f.stored
	if shared, ok := src.(*sharedSource); ok {
		f.Planes.Channels = shared.channels
	}
}

func (f *floatFrame) cost() int { return f.Channels() }

// Open asks the source what it has, unless the steps have begun.
func (f *floatFrame) Open(e *Engine) error {
	if e.inside {
		return nil
	}
	var err error
	if f.Dtype, err = source.CheckSamples(e.src.(source.Values), f.Channels()); err != nil {
		return err
	}
	return f.checkFill()
}

// checkFill checks that the dtype has the values of the fill.
func (f *floatFrame) checkFill() error {
	kind := raster.DepthOf(f.Dtype)
	for _, fill := range *f.fills {
		for _, v := range fill {
			if kind.Whole && !(v >= kind.Least && v <= kind.Most && v == float32(math.Trunc(float64(v)))) {
				return fmt.Errorf("transform: the image has %s values: want a Fill among them, not %v", f.Dtype, v)
			}
		}
	}
	return nil
}

func (f *floatFrame) needs(v *view) image.Rectangle {
	ax, ay := v.axes()
	f.x.Compute(ax)
	f.y.Compute(ay)
	return image.Rect(f.x.Lo, f.y.Lo, f.x.Hi, f.y.Hi).Add(v.window.Min)
}

func (f *floatFrame) weights(x, y resize.Axis) int64 { return f.x.Memory(x) + f.y.Memory(y) }

func (f *floatFrame) prepare(e *Engine) error {
	v := &e.View
	window, err := e.needs()
	switch {
	case err != nil:
		return err
	case v.Part.Empty():
		return f.Open(e)
	}
	ax, _ := v.axes()
	w, h := v.Part.Dx(), window.Dy()
	straight := !ax.Reverse && ax.In == ax.Out
	takes := e.pixels(window)
	if !straight {
		if err := e.Check(w, h); err != nil { // a high and narrow image becomes wide before it becomes low
			return err
		}
		takes.passes = grown(4 * int64(w) * int64(h) * int64(f.Channels()))
	}
	if err := e.claim(takes); err != nil {
		return err
	}
	if err := f.Open(e); err != nil { // which may decode the file
		return err
	}
	if err := f.pixels(e, window); err != nil {
		return err
	}
	e.Slot.Stage(dataset.StageResample)
	if straight {
		f.mid, f.stride, f.layer = f.pix, f.pitch, f.plane
		return nil
	}
	f.wide = raster.GrowFloats(f.wide, w*h*f.Channels())
	f.mid, f.stride, f.layer = f.wide, w, w*h
	for c := range f.Channels() {
		f.x.Horizontal(f.mid[c*f.layer:], w, f.pix[c*f.plane:], f.pitch, h)
	}
	if f.Dtype == dataset.Uint8 && v.filter != resize.Nearest {
		raster.SettleBytes(f.mid) // torch and Pillow have bytes between the two passes
	}
	return nil
}

// pixels makes f.pix the current image's values in r.
func (f *floatFrame) pixels(e *Engine, r image.Rectangle) error {
	if e.inside {
		f.pix, f.pitch, f.plane = f.Pix[r.Min.Y*f.Width+r.Min.X:], f.Width, f.Width*f.Height
		return nil
	}
	if err := e.Check(r.Dx(), r.Dy()); err != nil {
		return err
	}
	f.window = raster.GrowFloats(f.window, f.Channels()*r.Dx()*r.Dy())
	f.pix, f.pitch, f.plane = f.window, r.Dx(), r.Dx()*r.Dy()
	return e.src.(source.Values).DecodeValues(f.window, r)
}

func (f *floatFrame) Draw(v *view, w, h int) {
	f.Spare.Resize(f.Channels(), w, h)
	for c := range f.Channels() {
		plane := f.Spare.Plane(c)
		for y := range h {
			f.rowOf(v, plane[y*w:][:w], c, y)
		}
	}
}

// rowOf writes row y of channel c of the canvas.
func (f *floatFrame) rowOf(v *view, dst []float32, c, y int) {
	if y < v.at.Min.Y || y >= v.at.Max.Y || v.at.Min.X > 0 || v.at.Max.X < v.Canvas.X {
		fillFloats(dst, v.fill.Of(c))
	}
	if y < v.at.Min.Y || y >= v.at.Max.Y {
		return
	}
	out := dst[v.at.Min.X:v.at.Max.X]
	f.y.Vertical(out, f.mid[c*f.layer:], f.stride, y-v.at.Min.Y)
	switch {
	case !v.resampled() || v.filter == resize.Nearest:
	case f.Dtype == dataset.Uint8:
		raster.SettleBytes(out)
	default:
		raster.DepthOf(f.Dtype).Settle(out)
	}
}

func fillFloats(dst []float32, v float32) {
	for i := range dst {
		dst[i] = v
	}
}

func (f *floatFrame) Store(l *lane, out []byte, r *rand.Rand) error {
	o, v := &l.output, &l.Engine.View
	if err := o.Holds(f.Dtype); err != nil {
		return err
	}
	f.row = raster.GrowFloats(f.row, o.W)
	l.storeValues(out, f.row, f.Dtype, r, func(dst []float32, c, y int) { f.rowOf(v, dst, c, y) })
	return nil
}

func (f *floatFrame) load(s *sharedSource, window image.Rectangle) error {
	var err error
	if s.dtype, err = source.CheckSamples(s.Image.(source.Values), s.channels); err != nil {
		return err
	}
	s.known = true
	s.values = raster.GrowFloats(s.values, s.channels*window.Dx()*window.Dy())
	return s.Image.(source.Values).DecodeValues(s.values, window)
}
