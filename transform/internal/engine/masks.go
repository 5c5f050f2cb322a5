package engine

import (
	"errors"
	"fmt"
	"image"
	"math"
	"slices"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/internal/dense"
	"github.com/penstock-go/penstock/internal/figures"
	"github.com/penstock-go/penstock/transform/internal/raster"
	"github.com/penstock-go/penstock/transform/internal/source"
)

// A Layout says where the annotations are in a slot.
type Layout struct {
	Boxes  int // -1: none
	Format dataset.Kind
	Rows   []int // fields with a row per box
	Points []PointsAt
	Masks  []MaskAt
}

// PointsAt is a field of keypoints.
type PointsAt struct {
	Field int
	Step  int   // numbers per point
	Size  int   // numbers per element
	Rows  []int // fields with a row per element
}

// Result is the field of the results.
func (m *MaskAt) Result(ragged bool, o *Output, f dataset.Field) dataset.Field {
	kind := dataset.Mask
	if m.Several {
		kind = dataset.Masks
	}
	f = dataset.Field{Name: f.Name, Dtype: m.Dtype, Ragged: m.Several || ragged, Kind: kind, Of: f.Of}
	if !ragged {
		f.Shape = dataset.Shape{o.H, o.W}
	}
	return f
}

// A MaskAt is a field of masks. W and h are 0 where the sizes vary.
type MaskAt struct {
	Name        string
	Several     bool
	Ids         bool
	Dtype       dataset.Dtype // of the result
	Outside     uint16        // the number of pixels that crops and pads add
	Field, W, H int
	Size        int // bytes of a number that is not in a file
}

// A maskSource is the masks of one field of a sample.
type maskSource struct {
	cell   dataset.Cell // what the dataset places
	file   *source.Mask
	coded  bool   // the mask is in file
	pix    []byte // all planes of w×h, unless it is
	size   int    // bytes of a number
	w, h   int
	n      int    // planes
	warped []byte // planes
	spare  []byte
	own    [2]dataset.Cell // what own steps see, and what it is made of
}

// Begin starts with the masks of an image.
func (s *maskSource) Begin(a *Annotations, at *MaskAt) error {
	s.pix, s.w, s.h, s.n, s.size, s.coded = s.cell.Bytes(), a.W, a.H, 1, at.Size, false
	switch {
	case at.Several:
		area := a.W * a.H
		s.n = len(s.pix) / area
		if len(s.pix)%area != 0 {
			return fmt.Errorf("%d values are no planes of %s", len(s.pix), figures.Pixels(a.W, a.H))
		}
		if a.Layout.Boxes >= 0 && s.n != len(a.kept) {
			return fmt.Errorf("%d planes for %d boxes", s.n, len(a.kept))
		}
	case at.W > 0:
		s.w, s.h = at.W, at.H
		if err := s.checkNumbers(); err != nil {
			return err
		}
	default:
		s.coded = true
		if err := s.file.Open(s.pix, at.Ids, a.plan.Limit); err != nil {
			return err
		}
		s.w, s.h, s.size = s.file.W, s.file.H, s.file.Size()
		if s.size > 1 && at.Dtype == dataset.Uint8 {
			return errors.New("16 bits per pixel: want Dtype(dataset.Uint16), or a larger one")
		}
	}
	if s.w != a.W || s.h != a.H {
		return fmt.Errorf("it has %s, the image %d×%d", figures.Pixels(s.w, s.h), a.H, a.W)
	}
	return nil
}

// Decode makes pix hold at least the first rows of the mask.
func (s *maskSource) Decode(rows int) (err error) {
	if s.coded {
		s.pix, err = s.file.First(rows)
	}
	return err
}

// plane is the bytes of plane k of the result: of a plane of pix.
func (s *maskSource) plane(k int) []byte { return s.pix[s.size*k*s.w*s.h:] }

// Store writes the masks to their cell of the result.
func (s *maskSource) Store(a *Annotations, at *MaskAt) error {
	_, err := s.storeIn(a.dst.Cell(at.Field), a, at)
	return err
}

// storeIn writes the masks to a cell, moved as a.Moved says, and returns how many there are.
func (s *maskSource) storeIn(cell dataset.Cell, a *Annotations, at *MaskAt) (n int, err error) {
	if err := s.Decode(a.Moved.lastRow() + 1); err != nil {
		return 0, err
	}
	n = s.n
	byBox := at.Several && a.Layout.Boxes >= 0
	if byBox {
		n = len(a.kept)
	}
	plane := a.W * a.H * at.Dtype.Size()
	if err := a.checkPlanes(n, a.W*a.H); err != nil {
		return 0, err
	}
	if cell.Ragged() {
		cell.Grow(n * plane)
	}
	for k := range n {
		from := k
		if byBox {
			from = int(a.kept[k])
		}
		out := cell.Bytes()[k*plane:][:plane]
		switch at.Dtype {
		case dataset.Uint8:
			gatherFrom(s, out, from, &a.Moved, uint8(at.Outside))
		case dataset.Uint16:
			gatherFrom(s, dense.Values[uint16](out), from, &a.Moved, at.Outside)
		case dataset.Int32:
			gatherFrom(s, dense.Values[int32](out), from, &a.Moved, int32(at.Outside))
		default:
			gatherFrom(s, dense.Values[int64](out), from, &a.Moved, int64(at.Outside))
		}
	}
	return n, nil
}

// gatherFrom writes plane k, moved as t says.
func gatherFrom[T uint8 | uint16 | int32 | int64](s *maskSource, dst []T, k int, t *track, fill T) {
	switch s.size {
	case 1:
		gather(dst, s.plane(k), s.w, t, fill)
	case 2:
		gather(dst, dense.Values[uint16](s.plane(k)), s.w, t, fill)
	case 4:
		gather(dst, dense.Values[int32](s.plane(k)), s.w, t, fill)
	default:
		gather(dst, dense.Values[int64](s.plane(k)), s.w, t, fill)
	}
}

// gather writes a plane whose rows have w pixels, moved as t says.
func gather[T, S uint8 | uint16 | int32 | int64](dst []T, plane []S, w int, t *track, fill T) {
	n := len(t.columns)
	for y, from := range t.rows {
		out := dst[y*n:][:n]
		if from < 0 {
			for x := range out {
				out[x] = fill
			}
			continue
		}
		row := plane[int(from)*w:][:w]
		for x, i := range t.columns {
			if i < 0 {
				out[x] = fill
			} else {
				out[x] = T(row[i])
			}
		}
	}
}

// settle makes all masks as they are now, in the dtype of the results and in memory of their own.
func (a *Annotations) settle() error {
	a.Moved.indices(a.W, a.H)
	for k := range a.masks {
		s, at := &a.masks[k], &a.Layout.Masks[k]
		if s.own[0] == (dataset.Cell{}) {
			f := dataset.Field{Name: at.Name, Dtype: at.Dtype, Ragged: true}
			s.own = [2]dataset.Cell{dataset.NewCell(f), dataset.NewCell(f)}
		}
		n, err := s.storeIn(s.own[1], a, at)
		if err != nil {
			return fmt.Errorf("transform: mask %q: %w", at.Name, err)
		}
		s.own[0], s.own[1] = s.own[1], s.own[0]
		s.pix, s.n, s.w, s.h, s.size, s.coded = s.own[0].Bytes(), n, a.W, a.H, at.Dtype.Size(), false
	}
	for k := range a.kept {
		a.kept[k] = int32(k)
	}
	a.Moved.Begin()
	return nil
}

// checkNumbers is the error of numbers that later steps could not move.
func (s *maskSource) checkNumbers() error {
	switch s.size {
	case 4:
		return checkRange(dense.Values[int32](s.pix))
	case 8:
		return checkRange(dense.Values[int64](s.pix))
	}
	return nil
}

func checkRange[T int32 | int64](numbers []T) error {
	if len(numbers) == 0 {
		return nil
	}
	if least, most := slices.Min(numbers), slices.Max(numbers); least < 0 || most > maxNumber {
		return fmt.Errorf("numbers from %d to %d, want 0 to %d", least, most, maxNumber)
	}
	return nil
}

// maxNumber is the greatest number of a mask: 24 bits.
const maxNumber = 1<<24 - 1

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
