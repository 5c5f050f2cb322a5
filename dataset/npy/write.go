package npy

import (
	"archive/zip"
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/internal/arrays"
	"github.com/penstock-go/penstock/internal/bulk"
	"github.com/penstock-go/penstock/internal/encoding"
	"github.com/penstock-go/penstock/internal/npy"
)

// Write writes a field of all samples of ds to w as one array of shape (n, …),
// which [Open] and numpy.load read. The field must not be ragged, nor bfloat16, a
// dtype that NumPy does not have. Samples are
// written one by one as they are read. Random transforms draw the numbers of
// seed 0 and epoch 0.
func Write(ctx context.Context, w io.Writer, ds dataset.Dataset, field string) error {
	if err := write(ctx, w, ds, field); err != nil {
		return fmt.Errorf("npy: %w", err)
	}
	return nil
}

func write(ctx context.Context, w io.Writer, ds dataset.Dataset, field string) error {
	k, err := arrays.Field(ds, field)
	if err != nil {
		return err
	}
	f := ds.Spec()[k]
	if f.Dtype == dataset.BFloat16 {
		return fmt.Errorf("field %v: NumPy has no bfloat16", f)
	}
	return arrays.Write(ctx, w, npy.HeaderOf(f.Dtype, append([]int{ds.Len()}, f.Shape...)), ds, k, encoding.Of(f.Dtype, !bulk.LittleEndian()))
}

// WriteNpz writes all fields of ds to w as a .npz file, which [OpenNpz] and
// numpy.load read: an array per field, not compressed. No field may be ragged.
// It reads ds once per field. Random transforms draw the numbers of seed 0 and
// epoch 0.
func WriteNpz(ctx context.Context, w io.Writer, ds dataset.Dataset) error {
	if ds == nil {
		return errors.New("npy: the dataset is nil")
	}
	var errs []error
	for _, f := range ds.Spec() {
		_, err := arrays.Field(ds, f.Name)
		errs = append(errs, err)
	}
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("npy: %w", err)
	}
	z := zip.NewWriter(w)
	for _, f := range ds.Spec() {
		member, err := z.CreateHeader(&zip.FileHeader{Name: f.Name + ".npy", Method: zip.Store})
		if err == nil {
			err = write(ctx, member, ds, f.Name)
		}
		if err != nil {
			return fmt.Errorf("npy: member %q: %w", f.Name, err)
		}
	}
	if err := z.Close(); err != nil {
		return fmt.Errorf("npy: write: %w", err)
	}
	return nil
}
