package npy

import (
	"archive/zip"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"strings"

	"gorgonia.org/tensor"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/dataset/half"
	"github.com/penstock-go/penstock/internal/arrays"
	"github.com/penstock-go/penstock/internal/bulk"
	"github.com/penstock-go/penstock/internal/dense"
	"github.com/penstock-go/penstock/internal/files"
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
	k, err := arrays.Field(ds.Spec(), field)
	if err != nil {
		return err
	}
	f := ds.Spec()[k]
	if f.Dtype == half.BFloat16Dtype {
		return fmt.Errorf("field %v: NumPy has no bfloat16", f)
	}
	return arrays.Write(ctx, w, headerOf(f, ds.Len()), ds, k, files.EncodingOf(f.Dtype, !bulk.LittleEndian()))
}

// WriteNpz writes all fields of ds to w as a .npz file, which [OpenNpz] and
// numpy.load read: an array per field, not compressed. No field may be ragged.
// It reads ds once per field. Random transforms draw the numbers of seed 0 and
// epoch 0.
func WriteNpz(ctx context.Context, w io.Writer, ds dataset.Dataset) error {
	var errs []error
	for _, f := range ds.Spec() {
		_, err := arrays.Field(ds.Spec(), f.Name)
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

// headerOf makes a header of version 1.0, or 2.0 if it is long. It is padded so that
// the data begins at a multiple of 64 bytes.
func headerOf(f dataset.Field, n int) []byte {
	shape := fmt.Sprint(n, ",")
	for i, d := range f.Shape {
		if i > 0 {
			shape += ","
		}
		shape += fmt.Sprint(" ", d)
	}
	text := fmt.Sprintf("{'descr': '%s', 'fortran_order': False, 'shape': (%s), }", descrOf(f.Dtype), shape)
	head := magic + "\x01\x00"
	size := 2
	if len(text) > 60_000 {
		head, size = magic+"\x02\x00", 4
	}
	begin := len(head) + size
	text += strings.Repeat(" ", 63-(begin+len(text))%64) + "\n"
	b := []byte(head)
	if size == 2 {
		b = binary.LittleEndian.AppendUint16(b, uint16(len(text)))
	} else {
		b = binary.LittleEndian.AppendUint32(b, uint32(len(text)))
	}
	return append(b, text...)
}

// descrOf is NumPy's name of a dtype in the machine's byte order.
func descrOf(dt tensor.Dtype) string {
	size := int(dt.Size())
	letter := map[string]string{"bool": "b", "int": "i", "uint": "u", "float": "f", "complex": "c"}[strings.TrimRight(dense.Name(dt), "0123456789")]
	switch {
	case size == 1:
		return fmt.Sprint("|", letter, size)
	case !bulk.LittleEndian():
		return fmt.Sprint(">", letter, size)
	}
	return fmt.Sprint("<", letter, size)
}
