package dataset

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/penstock-go/penstock/internal/files"
)

// WritePacked writes all samples of ds to w, in the format of [PackedTensors]
// and nothing else; a [Packing] adds checksums, and resumes. It writes a row at a
// time, so a w without a buffer suits large samples. Random augmentations are
// those of seed 0 and epoch 0.
func WritePacked(ctx context.Context, w io.Writer, ds Dataset) error {
	if _, err := recordSize(ds.Spec()); err != nil {
		return err
	}
	return eachSample(ctx, ds, func(i int, cells []Cell) error {
		if err := writeCells(w, cells); err != nil {
			return fmt.Errorf("dataset: write sample %d: %w", i, err)
		}
		return nil
	})
}

// WriteItems writes all samples of ds into dir, which it makes if there is none,
// in the format of [RawTensors]: a file per sample, named 00000000.raw and so
// on, so that names sort as samples do. Random augmentations are those of seed 0
// and epoch 0.
func WriteItems(ctx context.Context, dir string, ds Dataset) error {
	if _, err := recordSize(ds.Spec()); err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return fmt.Errorf("dataset: write %s: %w", dir, files.Cause(err))
	}
	return eachSample(ctx, ds, func(i int, cells []Cell) error {
		name := filepath.Join(dir, fmt.Sprintf("%08d.raw", i))
		if err := writeItem(name, cells); err != nil {
			return fmt.Errorf("dataset: write %s: %w", name, files.Cause(err))
		}
		return nil
	})
}

func writeItem(name string, cells []Cell) (err error) {
	f, err := os.Create(name)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	return writeCells(f, cells)
}

func writeCells(w io.Writer, cells []Cell) error {
	for _, c := range cells {
		if _, err := w.Write(c.Bytes()); err != nil {
			return err
		}
	}
	return nil
}

// eachSample places one sample after the other and hands its cells to use.
func eachSample(ctx context.Context, ds Dataset, use func(i int, cells []Cell) error) (err error) {
	spec := ds.Spec()
	if err := spec.Validate(); err != nil {
		return err
	}
	r, err := ds.Open()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	cells := make([]Cell, len(spec))
	for k, f := range spec {
		cells[k] = NewCell(f)
	}
	draw := new(Draw)
	for i := range ds.Len() {
		if err := ctx.Err(); err != nil {
			return err
		}
		draw.Reset(0, 0, i)
		if err := r.Place(ctx, i, NewSlot(cells, draw)); err != nil {
			return fmt.Errorf("dataset: sample %d: %w", i, err)
		}
		if err := use(i, cells); err != nil {
			return err
		}
	}
	return nil
}
