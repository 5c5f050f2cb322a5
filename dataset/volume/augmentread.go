package volume

import (
	"context"
	"fmt"
	"slices"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/internal/bulk"
)

// A reader applies the steps to samples, for one worker.
type reader struct {
	*Augmented
	inner   dataset.Reader
	cells   []dataset.Cell // of the inner slot
	first   []dataset.Cell // what the inner dataset places, if that is not the slot
	values  []Volume
	volumes []*Volume
	memory  buffers
	work    work
}

// Close closes the underlying reader.
func (r *reader) Close() error { return r.inner.Close() }

// Place places sample i.
func (r *reader) Place(ctx context.Context, i int, dst dataset.Slot) error {
	for f := range r.cells {
		r.cells[f] = dst.Cell(f)
	}
	for k, f := range r.fields {
		r.memory.of[k].slot = r.cells[f.at].Bytes()
		if r.first != nil {
			r.cells[f.at] = r.first[k]
		}
		v := &r.values[k]
		v.Data = r.cells[f.at].Bytes()
		v.Dtype = r.before[f.at].Dtype
		copy(v.Shape, r.before[f.at].Shape)
		clear(v.Axes)
	}
	if err := r.inner.Place(ctx, i, dst.With(r.cells)); err != nil {
		return err
	}
	dst.Stage(dataset.StageAugment)
	r.work.ctx, r.work.rand = ctx, dst.Rand()
	if err := r.p.run(r.volumes, &r.work); err != nil {
		return fmt.Errorf("volume: %w", err)
	}
	for k, f := range r.fields {
		if v := &r.values[k]; !slices.Equal(v.Shape, r.spec[f.at].Shape) || v.Dtype != r.spec[f.at].Dtype {
			return fmt.Errorf("volume: the steps made %v, want %v", v, r.spec[f.at])
		}
	}
	return nil
}

// buffers are a worker's memory for intermediate results.
type buffers struct {
	last   int // the operation that writes into the slot
	of     []fieldMemory
	region []bool
}

type fieldMemory struct {
	slot  []byte
	spare [2][]byte
	turn  int
}

// next returns n bytes for the result of volume k. They are not in use.
func (b *buffers) next(op, k, n int) []byte {
	m := &b.of[k]
	if op == b.last {
		return m.slot
	}
	m.turn = 1 - m.turn
	if cap(m.spare[m.turn]) < n {
		m.spare[m.turn] = bulk.Make(n)
	}
	return m.spare[m.turn][:n]
}

func (b *buffers) flags(n int) []bool {
	if cap(b.region) < n {
		b.region = make([]bool, n)
	}
	return b.region[:n]
}
