package transform

import (
	"errors"
	"fmt"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/internal/dense"
)

// Mask says that a field holds the class number of every pixel of the image: all steps move
// it with the image, as torchvision moves tv_tensors.Mask. A resize takes the nearest
// pixel, with PyTorch's rounding. The field holds files or arrays. Files are ragged uint8:
// PNG, GIF and BMP with a palette or in grey, PBM and PGM, or TIFF in grey of 8 or 16 bits. Their
// numbers are those of numpy.asarray(PIL.Image.open(f)): indices of a palette as stored, and
// grey values that Pillow scales from the file's maximum to 255 or 65535. Arrays are uint8 or uint16 of
// shape (h, w). The result is uint8 of shape (h, w), unless [Dtype] says otherwise.
//
// [Fill] is the number of pixels that a crop or pad adds, by default 0: for example 255 where the loss
// ignores 255. [SegmentIDs] is for files of segments in colour.
func Mask(field string, options ...Option) Option {
	return maskSetting(field, calling("Mask", keyDtype|keyLevel|keySegmentIDs, arguments{dtype: dataset.Uint8}, options, quoted(field)...), false)
}

// Masks says that a field holds a mask per object, as instance segmentation has
// them. The field is ragged uint8: n·h·w values of an image of h×w pixels, plane by
// plane. With [Boxes] there is a plane per box, and [SanitizeBoundingBoxes] removes
// both. The result is ragged with the shape (n, h, w), or n·h·w values with
// [Ragged]. [Dtype] and [Fill] are those of [Mask].
func Masks(field string, options ...Option) Option {
	return maskSetting(field, calling("Masks", keyDtype|keyLevel, arguments{dtype: dataset.Uint8}, options, quoted(field)...), true)
}

func maskSetting(field string, c *call, several bool) Option {
	m := maskField{call: c, name: field, several: several}
	o := setting(c, m.add)
	o.several = true
	return o
}

type maskField struct {
	*call
	name    string
	several bool
	outside uint16 // the number of pixels that crops and pads add
}

func (s maskField) add(p *program) error {
	wide := s.dtype == dataset.Int32 || s.dtype == dataset.Int64
	switch {
	case s.dtype != dataset.Uint8 && s.dtype != dataset.Uint16 && !wide:
		return errors.New("want dataset.Uint8, dataset.Uint16, dataset.Int32 or dataset.Int64")
	case len(s.fill) > 1 || s.level() != float64(uint16(s.level())):
		return errors.New("want a Fill of one whole number from 0 to 65535")
	case s.dtype == dataset.Uint8 && s.level() > 255:
		return fmt.Errorf("want a Fill up to 255 for uint8, not %v", s.level())
	case s.ids && !wide:
		return errors.New("SegmentIDs want Dtype(dataset.Int32) or Dtype(dataset.Int64)")
	}
	if err := p.declare(s.name); err != nil {
		return err
	}
	s.outside = uint16(s.level())
	p.annotated.masks = append(p.annotated.masks, s)
	p.plan = append(p.plan, "move      "+s.String()+", nearest, only the rows that are kept")
	return nil
}

// level is the number of pixels outside of the image.
func (s maskField) level() float64 {
	if len(s.fill) == 0 {
		return 0
	}
	return s.fill[0]
}

// at checks the field f of the dataset that the step names.
func (s maskField) at(index int, f dataset.Field) (maskAt, error) {
	at := maskAt{maskField: s, field: index, size: 1}
	switch {
	case s.several && (!f.Ragged || f.Dtype != dataset.Uint8 || f.Elements() != 1):
		return at, fmt.Errorf("field %v: want ragged uint8", f)
	case f.Ragged && f.Dtype == dataset.Uint8 && f.Elements() == 1:
		return at, nil
	case f.Ragged || len(f.Shape) != 2 || s.ids || f.Dtype != dataset.Uint8 && f.Dtype != dataset.Uint16:
		want := "ragged uint8, or uint8 or uint16 (h, w)"
		if s.ids {
			want = "ragged uint8"
		}
		return at, fmt.Errorf("field %v: want %s", f, want)
	}
	at.size = f.Dtype.Size()
	at.w, at.h = f.Shape[1], f.Shape[0]
	if at.size > s.dtype.Size() {
		return at, fmt.Errorf("field %v: want Dtype(dataset.Uint16), or a larger one", f)
	}
	return at, nil
}

// result is the field of the results.
func (s maskField) result(p *program, f dataset.Field) dataset.Field {
	f = dataset.Field{Name: f.Name, Dtype: s.dtype, Ragged: s.several || p.ragged}
	if !p.ragged {
		f.Shape = dataset.Shape{p.output.h, p.output.w}
	}
	return f
}

// A maskAt is a field of masks. W and h are 0 where the sizes vary.
type maskAt struct {
	maskField
	field, w, h int
	size        int // bytes of a number that is not in a file
}

// A maskSource is the masks of one field of a sample.
type maskSource struct {
	cell   dataset.Cell // what the dataset places
	file   *maskFile
	owner  bool   // it opens the file, which several views may share
	coded  bool   // the mask is in file
	pix    []byte // all planes of w×h, unless it is
	size   int    // bytes of a number
	w, h   int
	n      int    // planes
	warped []byte // planes
	spare  []byte
	own    [2]dataset.Cell // what own steps see, and what NewMask makes
	made   bool            // by NewMask, in the step that is running
}

// begin starts with the masks of an image.
func (s *maskSource) begin(a *annotations, at *maskAt) error {
	s.pix, s.w, s.h, s.n, s.size, s.coded, s.made = s.cell.Bytes(), a.w, a.h, 1, at.size, false, false
	switch {
	case at.several:
		area := a.w * a.h
		s.n = len(s.pix) / area
		if len(s.pix)%area != 0 {
			return fmt.Errorf("%d values are no planes of %s", len(s.pix), pixelsOf(a.w, a.h))
		}
		if a.layout.boxes >= 0 && s.n != len(a.kept) {
			return fmt.Errorf("%d planes for %d boxes", s.n, len(a.kept))
		}
	case at.w > 0:
		s.w, s.h = at.w, at.h
	default:
		s.coded = true
		if s.owner {
			if err := s.file.open(s.pix, at.ids, a.program.limit); err != nil {
				return err
			}
		}
		s.w, s.h, s.size = s.file.w, s.file.h, s.file.size()
		if s.size > 1 && at.dtype == dataset.Uint8 {
			return errors.New("16 bits per pixel: want Dtype(dataset.Uint16), or a larger one")
		}
	}
	if s.w != a.w || s.h != a.h {
		return fmt.Errorf("it has %s, the image %d×%d", pixelsOf(s.w, s.h), a.h, a.w)
	}
	return nil
}

// decode makes pix hold at least the first rows of the mask.
func (s *maskSource) decode(rows int) (err error) {
	if s.coded {
		s.pix, err = s.file.first(rows)
	}
	return err
}

// plane is the bytes of plane k of the result: of a plane of pix.
func (s *maskSource) plane(k int) []byte { return s.pix[s.size*k*s.w*s.h:] }

// store writes the masks to their cell of the result.
func (s *maskSource) store(a *annotations, at *maskAt) error {
	_, err := s.storeIn(a.dst.Cell(at.field), a, at)
	return err
}

// storeIn writes the masks to a cell, moved as a.moved says, and returns how many there are.
func (s *maskSource) storeIn(cell dataset.Cell, a *annotations, at *maskAt) (n int, err error) {
	if err := s.decode(a.moved.lastRow() + 1); err != nil {
		return 0, err
	}
	n = s.n
	byBox := at.several && a.layout.boxes >= 0
	if byBox {
		n = len(a.kept)
	}
	plane := a.w * a.h * at.dtype.Size()
	if err := a.checkPlanes(n, a.w*a.h); err != nil {
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
		switch at.dtype {
		case dataset.Uint8:
			gatherFrom(s, out, from, &a.moved, uint8(at.outside))
		case dataset.Uint16:
			gatherFrom(s, dense.Values[uint16](out), from, &a.moved, at.outside)
		case dataset.Int32:
			gatherFrom(s, dense.Values[int32](out), from, &a.moved, int32(at.outside))
		default:
			gatherFrom(s, dense.Values[int64](out), from, &a.moved, int64(at.outside))
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
