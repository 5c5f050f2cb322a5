package packed

import (
	"context"
	"errors"
	"fmt"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/internal/codec/blockcode"
	"github.com/penstock-go/penstock/internal/codec/photo"
)

// A Level says how [Photos] codes photos: [Fast] or [Small].
type Level uint8

// Fast decodes fastest and takes about 1.3 times the bytes of the JPEG files. Small
// takes about as many bytes as the files.
const (
	Fast Level = iota
	Small
)

func (l Level) code() (blockcode.Level, error) {
	switch l {
	case Fast:
		return blockcode.Fast, nil
	case Small:
		return blockcode.Small, nil
	}
	return 0, fmt.Errorf("level %d: want Fast or Small", uint8(l))
}

// stagePack lasts while a photo is coded anew.
const stagePack = "pack"

// Photos returns ds with the JPEG files in its field "image" as packed photos. They
// give the same pixels, bit for bit, and decode up to 2.4 times as fast. All other
// fields stay as they are. The field must be ragged uint8, as in an
// [dataset.ImageFolder]. [Write] or [Create] stores the result, and transform.Images
// reads it as it reads JPEG files.
//
// A packed photo holds the quantised coefficients of the file and its orientation.
// The file itself, with its other metadata, cannot be restored from it. A file
// that cannot be repacked stays as it is: a file in another format, a damaged or
// truncated one, a JPEG file of four components, or a progressive one without the
// last bits of its coefficients.
func Photos(ds dataset.Dataset, level Level) (dataset.Dataset, error) {
	code, err := level.code()
	if err != nil {
		return nil, fmt.Errorf("packed: photos: %w", err)
	}
	if ds == nil {
		return nil, errors.New("packed: photos: the dataset is nil")
	}
	spec := ds.Spec()
	k := spec.Index("image")
	if k < 0 {
		return nil, fmt.Errorf(`packed: photos: the dataset has no field "image", only %v`, spec)
	}
	if f := spec[k]; !f.Ragged || f.Dtype != dataset.Uint8 || f.Elements() != 1 {
		return nil, fmt.Errorf("packed: photos: field %v: want files as ragged uint8", f)
	}
	return &photos{Wrap: dataset.Wrap{Dataset: ds}, field: k, level: code}, nil
}

type photos struct {
	dataset.Wrap
	field int
	level blockcode.Level
}

func (p *photos) Open() (dataset.Reader, error) {
	inner, err := p.Wrap.Open()
	if err != nil {
		return nil, err
	}
	spec := p.Spec()
	return &photoReader{photos: p, inner: inner, cells: make([]dataset.Cell, len(spec)), file: dataset.NewCell(spec[p.field])}, nil
}

type photoReader struct {
	*photos
	inner  dataset.Reader
	cells  []dataset.Cell
	file   dataset.Cell
	packer photo.Packer
	record []byte
}

func (r *photoReader) Close() error { return r.inner.Close() }

func (r *photoReader) Place(ctx context.Context, i int, dst dataset.Slot) error {
	for k := range r.cells {
		r.cells[k] = dst.Cell(k)
	}
	r.cells[r.field] = r.file
	if err := r.inner.Place(ctx, i, dst.With(r.cells)); err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	dst.Stage(stagePack)
	record := r.file.Bytes()
	if packed, err := r.packer.Pack(r.record[:0], record, r.level); err == nil {
		r.record, record = packed, packed
	}
	copy(dst.Cell(r.field).Grow(len(record)), record)
	return nil
}
