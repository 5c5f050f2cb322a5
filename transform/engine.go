package transform

import (
	"fmt"
	"image"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/internal/resize"
	"github.com/penstock-go/penstock/transform/internal/raster"
)

// A source gives the pixels of an image before the first step.
type source interface {
	// decode writes a window of the image to dst, 4 bytes per pixel and
	// stride bytes per row.
	decode(dst []byte, stride int, window image.Rectangle) error
}

// An engine applies the steps to one image. It collects geometry in a view, which
// render applies when a step needs pixels. For the last view prepare and rowOf do
// that, row by row.
type engine struct {
	limit  int          // the most pixels that an image may have
	pillow int          // the version of Pillow whose resizing this is
	slot   dataset.Slot // told about the stages
	src    source
	view   view
	shown  image.Point // the size before PadTo

	deep *deepEngine // with Depth16; otherwise nil

	annotations *annotations // what moves with the image; nil if nothing does

	frame  raster.Frame // the current image, unless it is still in src: bytes, or with Depth16 deep
	inside bool         // the current image is frame
	bytes  raster.Bytes
	scratch

	sample Sample // of the ApplySample that is running
	crop5  int    // which crop of FiveCrop or TenCrop it makes

	order []int // of the RandomOrders that are running, the outermost first

	hands  int // how many goroutines may work on the image; 0 means 1
	x, y   *resize.Weights
	pix    []byte // what the view shows, and the bytes from one of its rows to the next
	pitch  int
	mid    []byte // after the horizontal pass, from row y.Lo
	tall   []byte // after the vertical pass, if that comes first
	stride int

	across, keeps func(pix []byte, stride, from, to int) // the methods horizontal and keep
}

// scratch is memory that steps share.
type scratch struct {
	of           string // the field of the images
	cache        resize.Cache
	window, wide []byte
	row          []byte
	field        raster.Field // of ElasticTransform
	channels     []int        // of RandomChannelPermutation
	weights      []float32    // of AugMix
}

// begin starts with an image of w×h pixels that is still in src.
func (e *engine) begin(src source, w, h int, slot dataset.Slot) {
	e.src, e.slot, e.inside = src, slot, false
	e.deep.begin(src)
	e.view = whole(w, h)
}

// size is the size of the image after the steps so far.
func (e *engine) size() (w, h int) { return e.view.canvas.X, e.view.canvas.Y }

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
	return fmt.Sprintf("%s would become %d×%d, want 1 to %d", pixelsOf(i.from.X, i.from.Y), i.to.Y, i.to.X, maxResampled)
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

// render applies the geometry collected so far. After it, e.img is the image.
func (e *engine) render() error {
	if e.deep != nil {
		return e.deep.render(e)
	}
	w, h := e.size()
	if e.inside && e.view.isWhole(w, h) && e.bytes.Width == w && e.bytes.Height == h {
		return nil
	}
	if err := checkSize(w, h, e.limit); err != nil {
		return err
	}
	if err := e.prepare(); err != nil {
		return err
	}
	e.bytes.Spare.Resize(w, h)
	for y := range h {
		e.rowOf(e.bytes.Spare.Pix[4*w*y:][:4*w], y)
	}
	e.bytes.Swap()
	e.moved()
	return nil
}

// moved says that the current image is the frame, whose size may be another than before.
func (e *engine) moved() {
	e.inside = true
	e.view = whole(e.frame.Size())
}

// check is the error of an image of w×h pixels that would be too large.
func (e *engine) check(w, h int) error {
	if e.deep != nil {
		return checkValues(w, h, e.frame.Channels(), e.limit)
	}
	return checkSize(w, h, e.limit)
}

// checkChannels is the error of a frame that would be too large with this number of channels.
func (e *engine) checkChannels(n int) error {
	if n <= e.frame.Channels() {
		return nil
	}
	w, h := e.size()
	return checkValues(w, h, n, e.limit)
}

// prepare gets the pixels that the view shows and runs the horizontal pass,
// so that rowOf can be called.
func (e *engine) prepare() error {
	if e.deep != nil {
		return e.deep.prepare(e)
	}
	v := &e.view
	if v.part.Empty() {
		return nil
	}
	need := e.needs()
	ax, ay := v.axes()
	switch {
	case !ax.Reverse && ax.In == ax.Out:
		err := e.pixels(need, nil)
		e.mid, e.stride = e.pix, e.pitch
		return err
	case ay.In != ay.Out && v.verticalFirst(e.pillow):
		if err := e.pixels(need, nil); err != nil {
			return err
		}
		e.columns(4 * need.Dx())
		e.widen(v.part.Dy())
		e.horizontal(e.pix, e.pitch, 0, v.part.Dy())
		return nil
	}
	e.widen(need.Dy())
	if e.across == nil {
		e.across = e.horizontal
	}
	return e.pixels(need, e.across)
}

// needs is the window of the current image that the view's resampling reads, for which it
// computes the weights.
func (e *engine) needs() image.Rectangle {
	if e.deep != nil {
		return e.deep.needs(&e.view)
	}
	if e.view.part.Empty() {
		return image.Rectangle{}
	}
	ax, ay := e.view.axes()
	e.x, e.y = e.cache.Weights(ax), e.cache.Weights(ay)
	return image.Rect(e.x.Lo, e.y.Lo, e.x.Hi, e.y.Hi).Add(e.view.window.Min)
}

// widen makes room for the horizontal pass of this number of rows.
func (e *engine) widen(rows int) {
	e.stride = 4 * e.view.part.Dx()
	e.wide = raster.Grow(e.wide, e.stride*rows)
	e.mid = e.wide
}

// horizontal runs the horizontal pass for row from to row to-1, which pix holds. Several
// goroutines may call it for different rows.
func (e *engine) horizontal(pix []byte, stride, from, to int) {
	resize.Horizontal(e.mid[from*e.stride:], e.stride, pix, stride, to-from, e.x)
}

// keep copies row from to row to-1 to the window.
func (e *engine) keep(pix []byte, stride, from, to int) {
	for y := from; y < to; y++ {
		copy(e.window[y*e.pitch:(y+1)*e.pitch], pix[(y-from)*stride:])
	}
}

// columns runs the vertical pass on n bytes of every row of pix, which it replaces.
// After it, rowOf only copies.
func (e *engine) columns(n int) {
	rows := e.view.part.Dy()
	e.tall = raster.Grow(e.tall, n*rows)
	for y := range rows {
		resize.Vertical(e.tall[n*y:][:n], e.pix, e.pitch, e.y, y)
	}
	e.y = e.cache.Weights(resize.Axis{In: rows, Out: rows, To: rows})
	e.pix, e.pitch = e.tall, n
}

// pixels calls use for the current image's pixels in r: pix holds row from to row to-1
// of r. If use is nil, it makes e.pix those pixels, from r's upper left corner on.
func (e *engine) pixels(r image.Rectangle, use func(pix []byte, stride, from, to int)) error {
	if e.inside {
		e.pix, e.pitch = e.bytes.Pix[4*(r.Min.Y*e.bytes.Width+r.Min.X):], 4*e.bytes.Width
	} else if shared, ok := e.src.(*sharedSource); ok {
		var err error
		if e.pix, e.pitch, err = shared.pixels(r); err != nil {
			return err
		}
	} else {
		if err := checkSize(r.Dx(), r.Dy(), e.limit); err != nil {
			return err
		}
		src, bands := e.src.(bandSource)
		bands = bands && e.hands > 1 && src.shares(r)
		if bands && use != nil {
			e.x.Share()
			return src.decodeBands(r, e.hands, use)
		}
		e.pitch = 4 * r.Dx()
		e.window = raster.Grow(e.window, e.pitch*r.Dy())
		e.pix = e.window
		if bands {
			if e.keeps == nil {
				e.keeps = e.keep
			}
			return src.decodeBands(r, e.hands, e.keeps)
		}
		if err := e.src.decode(e.pix, e.pitch, r); err != nil {
			return err
		}
	}
	e.slot.Stage(dataset.StageResample)
	if use != nil {
		use(e.pix, e.pitch, 0, r.Dy())
	}
	return nil
}

// rowOf writes row y of the canvas to dst.
func (e *engine) rowOf(dst []byte, y int) {
	v := &e.view
	if y < v.at.Min.Y || y >= v.at.Max.Y {
		raster.FillRow(dst, v.fill)
		return
	}
	if v.at.Min.X > 0 || v.at.Max.X < v.canvas.X {
		raster.FillRow(dst, v.fill)
	}
	resize.Vertical(dst[4*v.at.Min.X:4*v.at.Max.X], e.mid, e.stride, e.y, y-v.at.Min.Y)
}
