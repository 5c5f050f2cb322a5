package engine

import (
	"image"
	"math/rand/v2"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/internal/dense"
	"github.com/penstock-go/penstock/internal/resize"
	"github.com/penstock-go/penstock/transform/internal/raster"
	"github.com/penstock-go/penstock/transform/internal/source"
)

// A ByteFrame is a frame of 8 bits, with the kernels that the processor has.
type ByteFrame struct {
	raster.Bytes
	pillow int // the version of Pillow whose resizing this is

	cache        resize.Cache
	x, y         *resize.Weights
	cv           resize.OpenCV // in place of the two passes, where the view has a filter of OpenCV
	tf           resize.TensorFlow
	window, wide []byte
	pix          []byte // what the view shows, and the bytes from one of its rows to the next
	pitch        int
	mid          []byte // after the horizontal pass, from row y.Lo
	tall         []byte // after the vertical pass, if that comes first
	stride       int
	row          []byte
	planes       []float32 // a row of all channels, for patches, or of one of TensorFlow's
}

func (f *ByteFrame) Begin(source.Image) {}

func (f *ByteFrame) cost() int { return 1 }

func (f *ByteFrame) needs(v *view) image.Rectangle {
	ax, ay := v.axes()
	switch {
	case v.filter.IsOpenCV():
		return f.cv.Begin(ax, ay).Add(v.window.Min)
	case v.filter == resize.TensorFlowBilinear:
		return f.tf.Begin(ax, ay).Add(v.window.Min)
	}
	f.x, f.y = f.cache.Weights(ax), f.cache.Weights(ay)
	return image.Rect(f.x.Lo, f.y.Lo, f.x.Hi, f.y.Hi).Add(v.window.Min)
}

func (f *ByteFrame) weights(x, y resize.Axis) int64 {
	var passes, cv, tf [2]resize.Axis // the axes of two of them are empty
	switch axes := [2]resize.Axis{x, y}; {
	case x.Filter.IsOpenCV():
		cv = axes
	case x.Filter == resize.TensorFlowBilinear:
		tf = axes
	default:
		passes = axes
	}
	return f.cache.Memory(passes[0], passes[1]) + f.cv.Memory(cv[0], cv[1]) + f.tf.Memory(tf[0], tf[1])
}

func (f *ByteFrame) prepare(e *Engine) error {
	v := &e.View
	window, err := e.needs()
	if err != nil || v.Part.Empty() {
		return err
	}
	if v.filter.ByRows() {
		return f.byRows(e, window)
	}
	ax, ay := v.axes()
	straight := !ax.Reverse && ax.In == ax.Out
	columns := !straight && ay.In != ay.Out && v.verticalFirst(f.pillow)
	rows := window.Dy()
	if columns {
		rows = v.Part.Dy()
	}
	takes := e.pixels(window)
	if !straight {
		if err := e.Check(v.Part.Dx(), rows); err != nil { // a high and narrow image becomes wide before it becomes low
			return err
		}
		takes.passes = grown(4 * int64(v.Part.Dx()) * int64(rows))
	}
	if columns {
		takes.passes += grown(4 * int64(window.Dx()) * int64(rows))
	}
	if err := e.claim(takes); err != nil {
		return err
	}
	if err := f.pixels(e, window); err != nil {
		return err
	}
	if straight {
		f.mid, f.stride = f.pix, f.pitch
		return nil
	}
	if columns {
		f.columns(4*window.Dx(), rows)
	}
	f.stride = 4 * v.Part.Dx()
	f.wide = raster.Grow(f.wide, f.stride*rows)
	f.mid = f.wide
	resize.Horizontal(f.mid, f.stride, f.pix, f.pitch, rows, f.x)
	return nil
}

// byRows prepares a resize of OpenCV or TensorFlow, which rowOf or valuesOf computes row by row.
func (f *ByteFrame) byRows(e *Engine, window image.Rectangle) error {
	takes := e.pixels(window)
	const sums = 24 // bytes of two rows of red, green and blue, or less
	takes.passes = grown(sums * int64(e.View.Part.Dx()))
	if err := e.claim(takes); err != nil {
		return err
	}
	if err := f.pixels(e, window); err != nil {
		return err
	}
	if e.View.filter.IsOpenCV() {
		f.cv.From(f.pix, f.pitch)
	} else {
		f.tf.From(f.pix, f.pitch)
	}
	return nil
}

// columns runs the vertical pass to this number of rows on n bytes of every row of pix, which it replaces.
// After it, rowOf only copies.
func (f *ByteFrame) columns(n, rows int) {
	f.tall = raster.Grow(f.tall, n*rows)
	for y := range rows {
		resize.Vertical(f.tall[n*y:][:n], f.pix, f.pitch, f.y, y)
	}
	f.y = f.cache.Weights(resize.Axis{In: rows, Out: rows, To: rows})
	f.pix, f.pitch = f.tall, n
}

// pixels makes f.pix the current image's pixels in r, from its upper left corner on.
func (f *ByteFrame) pixels(e *Engine, r image.Rectangle) (err error) {
	if e.inside {
		f.pix, f.pitch = f.Pix[4*(r.Min.Y*f.Width+r.Min.X):], 4*f.Width
	} else if shared, ok := e.src.(*sharedSource); ok {
		f.pix, f.pitch, err = shared.pixels(r)
	} else if err = e.Check(r.Dx(), r.Dy()); err == nil {
		f.pitch = 4 * r.Dx()
		f.window = raster.Grow(f.window, f.pitch*r.Dy())
		f.pix = f.window
		err = e.src.Decode(f.pix, f.pitch, r)
	}
	e.Slot.Stage(dataset.StageResample)
	return err
}

func (f *ByteFrame) Draw(v *view, w, h int) {
	f.Spare.Resize(w, h)
	for y := range h {
		f.rowOf(v, f.Spare.Pix[4*w*y:][:4*w], y)
	}
}

// rowOf writes row y of the canvas to dst.
func (f *ByteFrame) rowOf(v *view, dst []byte, y int) {
	if y < v.at.Min.Y || y >= v.at.Max.Y {
		raster.FillRow(dst, v.fill.Colour)
		return
	}
	if v.at.Min.X > 0 || v.at.Max.X < v.Canvas.X {
		raster.FillRow(dst, v.fill.Colour)
	}
	dst = dst[4*v.at.Min.X : 4*v.at.Max.X]
	if v.filter.IsOpenCV() {
		f.cv.Row(dst, y-v.at.Min.Y)
		return
	}
	resize.Vertical(dst, f.mid, f.stride, f.y, y-v.at.Min.Y)
}

// shown returns row y of the canvas, without a copy if it can. The row is valid until the next call.
func (f *ByteFrame) shown(v *view, y int) []byte {
	if !v.padded() && !v.filter.ByRows() {
		if row := resize.Unchanged(f.mid, f.stride, 4*v.Canvas.X, f.y, y); row != nil {
			return row
		}
	}
	f.rowOf(v, f.row, y)
	return f.row
}

// valuesOf writes row y of a channel of the canvas, where the resize makes floats.
func (f *ByteFrame) valuesOf(v *view, dst []float32, c, y int) {
	shown := y >= v.at.Min.Y && y < v.at.Max.Y
	if !shown || v.at.Dx() < v.Canvas.X {
		fillFloats(dst, float32(v.fill.Colour[c]))
	}
	if shown {
		f.tf.Row(dst[v.at.Min.X:v.at.Max.X], c, y-v.at.Min.Y)
	}
}

func (f *ByteFrame) Store(l *lane, out []byte, r *rand.Rand) error {
	o, v := &l.output, &l.Engine.View
	f.row = raster.Grow(f.row, 4*o.W)
	switch {
	case v.filter == resize.TensorFlowBilinear:
		f.planes = raster.GrowFloats(f.planes, o.W)
		l.storeValues(out, f.planes, dataset.Uint8, r, func(dst []float32, c, y int) { f.valuesOf(v, dst, c, y) })
	case o.Patches.Side > 0:
		f.storePatches(l, out)
	case o.full != nil:
		o.full.Store(l, f, dense.Values[float32](out), r)
	case o.halves != nil:
		o.halves.Store(l, f, dense.Values[uint16](out), r)
	default:
		for y := range o.H {
			o.storeBytes(out, f.shown(v, y), y)
		}
	}
	return nil
}

func (f *ByteFrame) load(s *sharedSource, window image.Rectangle) error {
	s.pix = raster.Grow(s.pix, 4*window.Dx()*window.Dy())
	return s.Decode(s.pix, 4*window.Dx(), window)
}
