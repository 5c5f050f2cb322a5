package dataset

import (
	"bufio"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"math"

	"gorgonia.org/tensor"

	"github.com/penstock-go/penstock/internal/bulk"
)

// WriteIDX writes a field of all samples of ds to w as a file of [IDX]. The
// field is uint8, int8, int16, int32, float32 or float64. It writes as it
// reads. Random augmentations are those of seed 0 and epoch 0.
func WriteIDX(ctx context.Context, w io.Writer, ds Dataset, field string) error {
	k, err := fixedField(ds, field)
	if err != nil {
		return err
	}
	f := ds.Spec()[k]
	out := bufio.NewWriterSize(w, 64<<10)
	if err := writeIDXHeader(out, f, ds.Len()); err != nil {
		return err
	}
	c := kindOf(f.Dtype, true).codec
	err = eachSample(ctx, ds, func(i int, cells []Cell) error {
		row := cells[k].Bytes() // written anew for every sample, so that it may be changed
		if c.swap {
			bulk.Swap(row, c.size)
		}
		return written(i, out, row)
	})
	if err != nil {
		return err
	}
	return flushed(out)
}

// writeIDXHeader writes the header for n samples of f. An error of w is kept for Flush.
func writeIDXHeader(w *bufio.Writer, f Field, n int) error {
	code := byte(0x08)
	for dtype, ok := idxDtype(code); !ok || dtype != f.Dtype; dtype, ok = idxDtype(code) {
		if code++; code > 0x0e {
			return fmt.Errorf("dataset: field %v: want uint8, int8, int16, int32, float32 or float64", f)
		}
	}
	if len(f.Shape) > math.MaxUint8-1 {
		return fmt.Errorf("dataset: field %v: more than 254 dimensions", f)
	}
	w.Write([]byte{0, 0, code, byte(1 + len(f.Shape))})
	for _, d := range append([]int{n}, f.Shape...) {
		if d > math.MaxInt32 {
			return fmt.Errorf("dataset: field %v of %d samples: dimension %d is beyond 31 bits", f, n, d)
		}
		w.Write(binary.BigEndian.AppendUint32(nil, uint32(d)))
	}
	return nil
}

// WriteMNIST writes all samples of ds to two files of [MNIST]: to images the
// field "image", uint8 (1, h, w) or (h, w), and to labels the field "label", a
// whole number from 0 to 255. Random augmentations are those of seed 0 and
// epoch 0.
func WriteMNIST(ctx context.Context, images, labels io.Writer, ds Dataset) error {
	image, err := imageField(ds, "(1, h, w) or (h, w)", func(s tensor.Shape) bool {
		return len(s) == 2 || len(s) == 3 && s[0] == 1
	})
	if err != nil {
		return err
	}
	class, err := labelField(ds, "label")
	if err != nil {
		return err
	}
	shape := ds.Spec()[image].Shape
	x, y := bufio.NewWriterSize(images, 64<<10), bufio.NewWriter(labels)
	if err := writeIDXHeader(x, Field{Name: "image", Dtype: tensor.Uint8, Shape: shape[len(shape)-2:]}, ds.Len()); err != nil {
		return err
	}
	if err := writeIDXHeader(y, Field{Name: "label", Dtype: tensor.Uint8}, ds.Len()); err != nil {
		return err
	}
	err = eachSample(ctx, ds, func(i int, cells []Cell) error {
		v, err := label(cells[class], 256)
		if err != nil {
			return fmt.Errorf("dataset: write sample %d: %w", i, err)
		}
		y.WriteByte(v) // its error is kept for Flush
		return written(i, x, cells[image].Bytes())
	})
	if err != nil {
		return err
	}
	if err := flushed(x); err != nil {
		return err
	}
	return flushed(y)
}
