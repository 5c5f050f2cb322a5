package transform

import (
	"errors"
	"fmt"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/transform/internal/engine"
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
		if err := m.Check(); err != nil {
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
	return m.Check()
}

// Check is the error of a dtype of the result.
func (m *maskField) Check() error {
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
func (m maskField) at(index int, f dataset.Field) (engine.MaskAt, error) {
	at := engine.MaskAt{Name: m.name, Several: m.several, Ids: m.ids, Dtype: m.dtype, Outside: m.outside, Field: index, Size: 1}
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
	at.Size = f.Dtype.Size()
	at.W, at.H = f.Shape[1], f.Shape[0]
	if at.Size > m.dtype.Size() {
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
