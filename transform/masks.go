package transform

import (
	"errors"
	"fmt"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/internal/dense"
	"github.com/penstock-go/penstock/internal/figures"
	"github.com/penstock-go/penstock/transform/internal/source"
)

// Mask says that a field of the dataset holds the class number of every pixel of the image, where
// the dataset does not say it itself ([dataset.Field.Kind]), or how the result is stored: all steps
// move it with the image, as torchvision moves tv_tensors.Mask. A resize takes the nearest
// pixel, with PyTorch's rounding. The field holds files or arrays. Files are ragged uint8:
// PNG, GIF and BMP with a palette or in grey, PBM and PGM, or TIFF in grey of 8 or 16 bits. Their
// numbers are those of numpy.asarray(PIL.Image.open(f)): indices of a palette as stored, and
// grey values that Pillow scales from the file's maximum to 255 or 65535. Arrays are uint8, uint16,
// int32 or int64 of shape (h, w).
//
// The result has the shape (h, w). Options: [Dtype], by default uint8 for files, int32 for files of
// [SegmentIDs], and that of the dataset for arrays; [Fill], one number, 0 by default, such as 255
// where the loss ignores 255; and SegmentIDs, which a field of the kind [dataset.Segments] has by
// itself.
func Mask(field string, options ...Option) Option {
	c := calling("Mask", keyLevel|keyDtype|keySegmentIDs, arguments{}, options, quoted(field)...)
	return declare(c, field, func(p *program) error { return p.addMask(maskField{call: c, name: field}) })
}

// Masks says that a field of the dataset holds a mask per object, as instance segmentation has
// them, where the dataset does not say it itself. The field is ragged uint8: n·h·w values of an
// image of h×w pixels, plane by plane. With boxes there is a plane per box, and
// [SanitizeBoundingBoxes] removes both. The result is ragged with the shape (n, h, w), or n·h·w
// values with [Ragged]. Its options are [Dtype], by default uint8, and [Fill].
func Masks(field string, options ...Option) Option {
	c := calling("Masks", keyLevel|keyDtype, arguments{}, options, quoted(field)...)
	return declare(c, field, func(p *program) error { return p.addMask(maskField{call: c, name: field, several: true}) })
}

// maskField is a field of masks. Its call is the option that declares it.
type maskField struct {
	*call
	name    string
	several bool
	ids     bool
	dtype   dataset.Dtype // of the result
	outside uint16        // the number of pixels that crops and pads add
}

// addMask adds a mask whose dtype may be left open.
func (p *program) addMask(m maskField) error {
	m.ids, m.dtype = m.call.ids, m.call.dtype
	if len(m.fill) > 0 {
		if m.outside = uint16(m.fill[0]); len(m.fill) > 1 || float64(m.outside) != m.fill[0] {
			return errors.New("want a Fill of one whole number from 0 to 65535")
		}
	}
	if m.has(keyDtype) {
		if err := m.check(); err != nil {
			return err
		}
	}
	p.annotated.masks = append(p.annotated.masks, m)
	return nil
}

// Take makes what the option leaves open as the dataset's field has it.
func (m *maskField) Take(f dataset.Field) error {
	m.ids = m.ids || f.Kind == dataset.Segments && !m.several
	switch {
	case m.has(keyDtype):
	case m.ids:
		m.dtype = dataset.Int32
	case f.Ragged:
		m.dtype = dataset.Uint8
	default:
		m.dtype = f.Dtype
	}
	return m.check()
}

// check is the error of a dtype of the result.
func (m *maskField) check() error {
	wide := m.dtype == dataset.Int32 || m.dtype == dataset.Int64
	switch {
	case m.dtype != dataset.Uint8 && m.dtype != dataset.Uint16 && !wide:
		return errors.New("want dataset.Uint8, dataset.Uint16, dataset.Int32 or dataset.Int64")
	case m.dtype == dataset.Uint8 && m.outside > 255:
		return fmt.Errorf("want a Fill up to 255 for uint8, not %d", m.outside)
	case m.ids && !wide:
		return errors.New("SegmentIDs want Dtype(dataset.Int32) or Dtype(dataset.Int64)")
	}
	return nil
}

// at checks the field f of the dataset that the option names.
func (m maskField) at(index int, f dataset.Field) (maskAt, error) {
	at := maskAt{maskField: m, field: index, size: 1}
	file := f.Ragged && f.Dtype == dataset.Uint8 && f.Elements() == 1
	switch {
	case m.several && !file:
		return at, fmt.Errorf("field %v: want ragged uint8", f)
	case file:
		return at, nil
	case m.ids:
		return at, fmt.Errorf("field %v: want ragged uint8", f)
	case f.Ragged || len(f.Shape) != 2 || !isNumber(f.Dtype):
		return at, fmt.Errorf("field %v: want ragged uint8, or uint8, uint16, int32 or int64 (h, w)", f)
	}
	at.size = f.Dtype.Size()
	at.w, at.h = f.Shape[1], f.Shape[0]
	if at.size > m.dtype.Size() {
		return at, fmt.Errorf("field %v: want Dtype(dataset.%s), or a larger one", f, goName(f.Dtype))
	}
	return at, nil
}

// isNumber reports whether masks have numbers of that dtype.
func isNumber(dt dataset.Dtype) bool {
	return dt == dataset.Uint8 || dt == dataset.Uint16 || dt == dataset.Int32 || dt == dataset.Int64
}

// goName is a dtype as programs write it.
func goName(dt dataset.Dtype) string {
	name := dt.String()
	return string(name[0]-'a'+'A') + name[1:]
}

// result is the field of the results.
func (m maskField) result(p *program, f dataset.Field) dataset.Field {
	kind := dataset.Mask
	if m.several {
		kind = dataset.Masks
	}
	f = dataset.Field{Name: f.Name, Dtype: m.dtype, Ragged: m.several || p.ragged, Kind: kind, Of: f.Of}
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
	file   *source.Mask
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

// Begin starts with the masks of an image.
func (s *maskSource) Begin(a *annotations, at *maskAt) error {
	s.pix, s.w, s.h, s.n, s.size, s.coded, s.made = s.cell.Bytes(), a.w, a.h, 1, at.size, false, false
	switch {
	case at.several:
		area := a.w * a.h
		s.n = len(s.pix) / area
		if len(s.pix)%area != 0 {
			return fmt.Errorf("%d values are no planes of %s", len(s.pix), figures.Pixels(a.w, a.h))
		}
		if a.layout.boxes >= 0 && s.n != len(a.kept) {
			return fmt.Errorf("%d planes for %d boxes", s.n, len(a.kept))
		}
	case at.w > 0:
		s.w, s.h = at.w, at.h
		if err := s.checkNumbers(); err != nil {
			return err
		}
	default:
		s.coded = true
		if s.owner {
			if err := s.file.Open(s.pix, at.ids, a.program.limit); err != nil {
				return err
			}
		}
		s.w, s.h, s.size = s.file.W, s.file.H, s.file.Size()
		if s.size > 1 && at.dtype == dataset.Uint8 {
			return errors.New("16 bits per pixel: want Dtype(dataset.Uint16), or a larger one")
		}
	}
	if s.w != a.w || s.h != a.h {
		return fmt.Errorf("it has %s, the image %d×%d", figures.Pixels(s.w, s.h), a.h, a.w)
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

// store writes the masks to their cell of the result.
func (s *maskSource) store(a *annotations, at *maskAt) error {
	_, err := s.storeIn(a.dst.Cell(at.field), a, at)
	return err
}

// storeIn writes the masks to a cell, moved as a.moved says, and returns how many there are.
func (s *maskSource) storeIn(cell dataset.Cell, a *annotations, at *maskAt) (n int, err error) {
	if err := s.Decode(a.moved.lastRow() + 1); err != nil {
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
