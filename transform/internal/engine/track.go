package engine

import (
	"image"
	"math"
	"slices"

	"github.com/penstock-go/penstock/transform/internal/raster"
)

// A track is how the pixels of an image have moved, as far as columns and rows move independently of each other. It
// is kept step by step and read backwards, so it takes no memory for images that are never made.
type track struct {
	axes    [2]axis // x and y
	columns []int32 // what indices computed: which column each column shows, or -1
	rows    []int32
}

// An axis is how the columns or the rows of an image have moved.
type axis []shift

// A shift is one move along an axis of n pixels.
type shift struct {
	how   shiftKind
	mode  raster.PadMode
	n     int     // pixels before the move
	by    int     // of crops and pads: where the result begins
	scale float32 // of resizes: pixels before per pixel after
}

type shiftKind uint8

const (
	shiftPad shiftKind = iota // or crop
	shiftFlip
	shiftResize
)

// Begin starts with an image of w×h.
func (t *track) Begin() { t.axes[0], t.axes[1] = t.axes[0][:0], t.axes[1][:0] }

func (t *track) Pad(frame image.Rectangle, w, h int, mode raster.PadMode) {
	t.axes[0].add(shift{how: shiftPad, mode: mode, n: w, by: frame.Min.X}, frame.Dx())
	t.axes[1].add(shift{how: shiftPad, mode: mode, n: h, by: frame.Min.Y}, frame.Dy())
}

func (t *track) Flip(k, n int) { t.axes[k].add(shift{how: shiftFlip, n: n}, n) }

func (t *track) resize(w, h, toW, toH int) {
	t.axes[0].add(shift{how: shiftResize, n: w, scale: float32(w) / float32(toW)}, toW)
	t.axes[1].add(shift{how: shiftResize, n: h, scale: float32(h) / float32(toH)}, toH)
}

// add adds a move, after which there are n pixels.
func (a *axis) add(s shift, n int) {
	if s.how != shiftFlip && s.n == n && s.by == 0 {
		return // nothing moves
	}
	*a = append(*a, s)
}

// indices computes columns and rows, for an image that now has w×h pixels.
func (t *track) indices(w, h int) {
	t.columns = t.axes[0].indices(t.columns, w)
	t.rows = t.axes[1].indices(t.rows, h)
}

// lastRow is the last row that is shown, of those that indices computed, or -1.
func (t *track) lastRow() int { return int(slices.Max(t.rows)) }

func (a axis) indices(out []int32, n int) []int32 {
	if cap(out) < n {
		out = make([]int32, n, n+n/4)
	}
	out = out[:n]
	for i := range out {
		out[i] = int32(i)
	}
	for k := len(a) - 1; k >= 0; k-- {
		a[k].back(out)
	}
	return out
}

// back replaces pixels after the move by those that they show before it.
func (s shift) back(index []int32) {
	for k, i := range index {
		if i < 0 {
			continue
		}
		at := int(i) + s.by
		switch s.how {
		case shiftFlip:
			at = s.n - 1 - at
		case shiftResize:
			// PyTorch's upsample_nearest2d, in float32 as there.
			at = min(int(math.Floor(float64(float32(at)*s.scale))), s.n-1)
		case shiftPad:
			if s.mode != raster.Constant && (at < 0 || at >= s.n) {
				at = s.mode.Index(at, s.n)
			}
		}
		if at < 0 || at >= s.n {
			at = -1
		}
		index[k] = int32(at)
	}
}
