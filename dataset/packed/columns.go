package packed

import (
	"fmt"
	"slices"

	"github.com/penstock-go/penstock/dataset"
)

// A Batch is some samples with the fields of a spec. A batch of package loader is
// one.
type Batch interface {
	// Spec describes the fields.
	Spec() dataset.Spec
	// Bytes is a field of all samples, one after the other, in the machine's byte order.
	Bytes(field string) []byte
	// Offsets says where the samples of a ragged field begin and end, in elements:
	// one number more than there are samples.
	Offsets(field string) []int
}

// AppendBatch is [Writer.Append] for a batch of a loader. Its fields may be ragged.
func (p *Writer) AppendBatch(indices []int, b Batch) error {
	return p.appendColumns(indices, func() ([]column, error) { return p.batchColumns(len(indices), b) })
}

// A column gives the bytes of one field of a batch, by row.
type column func(row int) []byte

// columns finds the samples in the fields' tensors.
func (p *Writer) columns(n int, fields []dataset.Tensor) ([]column, error) {
	spec := p.trailer.spec
	if len(fields) != len(spec) {
		return nil, fmt.Errorf("%d fields, want %d: %v", len(fields), len(spec), spec)
	}
	columns := make([]column, len(fields))
	for k, f := range spec {
		if f.Ragged {
			return nil, fmt.Errorf("field %q is ragged: want AppendBatch", f.Name)
		}
		want, data, size := append(dataset.Shape{n}, f.Shape...), fields[k].Bytes(), f.Bytes()
		if got := fields[k]; got.Dtype() != f.Dtype || !slices.Equal(got.Shape(), want) {
			return nil, fmt.Errorf("field %q: tensor of %v %v, want %v %v", f.Name, got.Dtype(), got.Shape(), f.Dtype, want)
		}
		columns[k] = func(row int) []byte { return data[row*size:][:size] }
	}
	return columns, nil
}

// batchColumns finds n samples in a batch.
func (p *Writer) batchColumns(n int, b Batch) ([]column, error) {
	spec := p.trailer.spec
	if has := b.Spec(); has.String() != spec.String() {
		return nil, fmt.Errorf("batch of %v, want %v", has, spec)
	}
	columns := make([]column, len(spec))
	for k, f := range spec {
		data, size := b.Bytes(f.Name), f.Bytes()
		if !f.Ragged {
			if len(data) != n*size {
				return nil, fmt.Errorf("field %q: %d bytes, want %d samples of %d", f.Name, len(data), n, size)
			}
			columns[k] = func(row int) []byte { return data[row*size:][:size] }
			continue
		}
		offsets := b.Offsets(f.Name)
		if len(offsets) != n+1 || !slices.IsSorted(offsets) || offsets[0] < 0 || offsets[n] > len(data)/size {
			return nil, fmt.Errorf("field %q: offsets %v in %d bytes, want those of %d samples", f.Name, offsets, len(data), n)
		}
		columns[k] = func(row int) []byte { return data[offsets[row]*size : offsets[row+1]*size] }
	}
	return columns, nil
}
