package transform

import (
	"errors"
	"fmt"

	"gorgonia.org/tensor"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/internal/dense"
	"github.com/penstock-go/penstock/internal/steps"
)

// Mask says that a field holds the class number of every pixel of the image: all
// steps move it with the image, as torchvision moves tv_tensors.Mask. A resize takes
// the nearest pixel, with PyTorch's rounding. The field is either ragged uint8, PNG
// files with a palette or in grey, whose numbers are those that
// numpy.asarray(PIL.Image.open(f)) has; or uint8 of shape (h, w). The result is
// uint8 of shape (h, w). It must come before all steps that change the image.
func Mask(field string) MaskField { return MaskField{field: field, dtype: tensor.Uint8} }

// Masks says that a field holds a mask per object, as instance segmentation has
// them. The field is ragged uint8: n·h·w values of an image of h×w pixels, plane by
// plane. With [Boxes] there is a plane per box, and [SanitizeBoundingBoxes] removes
// both. The result is ragged with the shape (n, h, w), or n·h·w values with
// [Ragged].
func Masks(field string) MaskField {
	return MaskField{field: field, dtype: tensor.Uint8, several: true}
}

// MaskField is the step that [Mask] and [Masks] make.
type MaskField struct {
	field   string
	dtype   tensor.Dtype
	fill    uint8
	several bool
}

// Fill sets the number of pixels that a crop or pad adds, for example 255 where
// the loss ignores 255. The default is 0.
func (s MaskField) Fill(v uint8) MaskField {
	s.fill = v
	return s
}

// Dtype sets the dtype of the result: tensor.Uint8, which is the default, or
// tensor.Int64, as PyTorch's losses take class numbers.
func (s MaskField) Dtype(dt tensor.Dtype) MaskField {
	s.dtype = dt
	return s
}

// String prints the call that made the step.
func (s MaskField) String() string {
	name := "Mask"
	if s.several {
		name = "Masks"
	}
	text := fieldCall(name, s.field)
	if s.fill != 0 {
		text += steps.Call(".Fill", s.fill)
	}
	if s.dtype != tensor.Uint8 {
		text += ".Dtype(" + dense.Name(s.dtype) + ")"
	}
	return text
}

func (s MaskField) add(p *program) error {
	if s.dtype != tensor.Uint8 && s.dtype != tensor.Int64 {
		return errors.New("want tensor.Uint8 or tensor.Int64")
	}
	if err := p.declare(s.field); err != nil {
		return err
	}
	p.annotated.masks = append(p.annotated.masks, s)
	p.plan = append(p.plan, "move      "+s.String()+", nearest, only the rows that are kept")
	return nil
}

// at checks the field f of the dataset that the step names.
func (s MaskField) at(index int, f dataset.Field) (maskAt, error) {
	at := maskAt{MaskField: s, field: index}
	switch {
	case f.Dtype != tensor.Uint8 || f.Ragged && f.Elements() != 1:
	case f.Ragged:
		return at, nil
	case len(f.Shape) == 2 && !s.several:
		at.w, at.h = f.Shape[1], f.Shape[0]
		return at, nil
	}
	if s.several {
		return at, fmt.Errorf("field %v: want ragged uint8", f)
	}
	return at, fmt.Errorf("field %v: want ragged uint8 or uint8 (h, w)", f)
}

// result is the field of the results.
func (s MaskField) result(p *program, f dataset.Field) dataset.Field {
	f = dataset.Field{Name: f.Name, Dtype: s.dtype, Ragged: s.several || p.ragged}
	if !p.ragged {
		f.Shape = tensor.Shape{p.output.h, p.output.w}
	}
	return f
}

// A maskAt is a field of masks. W and h are 0 where the sizes vary.
type maskAt struct {
	MaskField
	field, w, h int
}

// A maskSource is the masks of one field of a sample.
type maskSource struct {
	cell  dataset.Cell // what the dataset places
	file  indexPNG
	coded bool   // the mask is in file
	pix   []byte // all planes of w×h, unless it is
	w, h  int
	n     int    // planes
	whole []byte // the rows decoded from file, or warped
	spare []byte
}

// begin starts with the masks of an image.
func (s *maskSource) begin(a *annotations, at *maskAt) (err error) {
	s.pix, s.w, s.h, s.n, s.coded = s.cell.Bytes(), a.w, a.h, 1, false
	switch {
	case at.several:
		area := a.w * a.h
		s.n = len(s.pix) / area
		if len(s.pix)%area != 0 {
			return fmt.Errorf("%d values are no planes of %d×%d pixels (height×width)", len(s.pix), a.h, a.w)
		}
		if a.layout.boxes >= 0 && s.n != len(a.kept) {
			return fmt.Errorf("%d planes for %d boxes", s.n, len(a.kept))
		}
	case at.w > 0:
		s.w, s.h = at.w, at.h
	default:
		s.coded = true
		s.w, s.h, err = s.file.header(s.pix)
	}
	if err == nil && (s.w != a.w || s.h != a.h) {
		err = fmt.Errorf("it has %d×%d pixels, the image %d×%d (height×width)", s.h, s.w, a.h, a.w)
	}
	return err
}

// decode makes pix hold at least the first rows of the mask.
func (s *maskSource) decode(rows int) error {
	if !s.coded {
		return nil
	}
	s.whole = grow(s.whole, s.w*rows)
	s.pix = s.whole
	return s.file.decode(s.pix, rows)
}

// plane is plane k of the result: a plane of pix.
func (s *maskSource) plane(k int) []byte { return s.pix[k*s.w*s.h:] }

// store writes the masks to their cell, moved as a.moved says.
func (s *maskSource) store(a *annotations, at *maskAt) error {
	if err := s.decode(a.moved.lastRow() + 1); err != nil {
		return err
	}
	n := s.n
	byBox := at.several && a.layout.boxes >= 0
	if byBox {
		n = len(a.kept)
	}
	cell, area := a.dst.Cell(at.field), a.w*a.h
	if err := a.checkPlanes(n, area); err != nil {
		return err
	}
	if cell.Ragged() {
		cell.Grow(n * area * int(at.dtype.Size()))
	}
	for k := range n {
		from := k
		if byBox {
			from = int(a.kept[k])
		}
		if at.dtype == tensor.Int64 {
			gather(dense.Values[int64](cell.Bytes())[k*area:], s.plane(from), s.w, &a.moved, at.fill)
		} else {
			gather(cell.Bytes()[k*area:], s.plane(from), s.w, &a.moved, at.fill)
		}
	}
	return nil
}

// gather writes a plane whose rows have w pixels, moved as t says.
func gather[T uint8 | int64](dst []T, plane []byte, w int, t *track, fill uint8) {
	n := len(t.columns)
	for y, from := range t.rows {
		out := dst[y*n:][:n]
		if from < 0 {
			for x := range out {
				out[x] = T(fill)
			}
			continue
		}
		row := plane[int(from)*w:][:w]
		for x, i := range t.columns {
			if i < 0 {
				out[x] = T(fill)
			} else {
				out[x] = T(row[i])
			}
		}
	}
}
