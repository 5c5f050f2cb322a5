package engine

import (
	"context"
	"slices"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/transform/internal/source"
)

// A BatchReader is a Reader of what the inner one places faster together, as ffmpeg does clips.
type BatchReader struct {
	*Reader
	inner  dataset.BatchReader
	inputs []dataset.Cell // what the inner dataset has placed for each sample
	size   int            // in bytes, of the largest input so far

	of   dataset.Slots // while the inner dataset places some of them
	from int           // the first of these
	n    int           // how many they are
}

// Inputs that are held together are not more than mostTogether, and, if they are as large as the largest so far, have not more than together bytes.
const (
	mostTogether = 16
	together     = 32 << 20
)

// PlaceBatch places samples.
func (r *BatchReader) PlaceBatch(ctx context.Context, indices []int, dst dataset.Slots) error {
	one := r.input
	defer func() { r.input, r.of = one, nil }()
	r.of = dst
	for r.from = 0; r.from < len(indices); r.from += r.n {
		r.n = min(len(indices)-r.from, r.most())
		for len(r.inputs) < r.n {
			r.inputs = append(r.inputs, dataset.NewCell(r.In[r.Field]))
		}
		if err := r.inner.PlaceBatch(ctx, indices[r.from:r.from+r.n], r); err != nil {
			return err
		}
		for k := range r.n {
			r.input = r.inputs[k]
			r.size = max(r.size, len(r.input.Bytes()))
			r.file = source.Encoded{Data: r.input.Bytes()}
			if err := r.place(ctx, dst.At(r.from+k)); err != nil {
				return err
			}
		}
		r.inputs = slices.Delete(r.inputs, min(len(r.inputs), r.most()), len(r.inputs))
	}
	return nil
}

// most is how many samples the inner dataset places together: one, before anything is known of their size.
func (r *BatchReader) most() int {
	if r.size == 0 {
		return 1
	}
	return max(1, min(mostTogether, together/r.size))
}

// Len is the number of samples that the inner dataset places together.
func (r *BatchReader) Len() int { return r.n }

// At is the inner slot of one of them.
func (r *BatchReader) At(k int) dataset.Slot {
	dst := r.of.At(r.from + k)
	for f := range r.cells {
		r.cells[f] = dst.Cell(f)
	}
	r.cells[r.Field] = r.inputs[k]
	return dst.With(r.cells)
}
