package journal

import (
	"fmt"
	"slices"

	"github.com/penstock-go/penstock/dataset"
)

// Rows finds n samples with these fields in a batch: of each field, a function that gives the bytes
// of a row.
func Rows(b dataset.Batch, fields []dataset.Field, n int) ([]func(row int) []byte, error) {
	rows := make([]func(row int) []byte, len(fields))
	for k, f := range fields {
		data, size := b.Bytes(f.Name), f.Bytes()
		if !f.Ragged {
			if len(data) != n*size {
				return nil, fmt.Errorf("field %q: %d bytes, want %d samples of %d", f.Name, len(data), n, size)
			}
			rows[k] = func(row int) []byte { return data[row*size:][:size] }
			continue
		}
		offsets := b.Offsets(f.Name)
		if len(offsets) != n+1 || !slices.IsSorted(offsets) || offsets[0] < 0 || offsets[n] > len(data)/size {
			return nil, fmt.Errorf("field %q: offsets %v in %d bytes, want those of %d samples", f.Name, offsets, len(data), n)
		}
		rows[k] = func(row int) []byte { return data[offsets[row]*size : offsets[row+1]*size] }
	}
	return rows, nil
}
