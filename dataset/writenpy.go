package dataset

import (
	archive "archive/zip"
	"bufio"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"strings"

	"gorgonia.org/tensor"
)

// WriteNpy writes a field of all samples of ds to w as one array of shape
// (n, …), a file of [Npy] that NumPy's load reads. It writes as it reads.
// Random augmentations are those of seed 0 and epoch 0.
func WriteNpy(ctx context.Context, w io.Writer, ds Dataset, field string) error {
	k, err := fixedField(ds, field)
	if err != nil {
		return err
	}
	out := bufio.NewWriterSize(w, 64<<10)
	out.Write(npyHeaderOf(ds.Spec()[k], ds.Len())) // its error is kept for Flush
	err = eachSample(ctx, ds, func(i int, cells []Cell) error {
		return written(i, out, cells[k].Bytes())
	})
	if err != nil {
		return err
	}
	return flushed(out)
}

// npyHeaderOf is a header of version 1.0, or 2.0 if it is long, padded so that
// the data begins at a multiple of 64 bytes.
func npyHeaderOf(f Field, n int) []byte {
	shape := fmt.Sprint(n, ",")
	for i, d := range f.Shape {
		if i > 0 {
			shape += ","
		}
		shape += fmt.Sprint(" ", d)
	}
	text := fmt.Sprintf("{'descr': '%s', 'fortran_order': False, 'shape': (%s), }", npyDescr(f.Dtype), shape)
	head := npyMagic + "\x01\x00"
	size := 2
	if len(text) > 60_000 {
		head, size = npyMagic+"\x02\x00", 4
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

// npyDescr is the name of a kind in this machine's byte order.
func npyDescr(dt tensor.Dtype) string {
	size := int(dt.Size())
	letter := map[string]string{"bool": "b", "int": "i", "uint": "u", "float": "f", "complex": "c"}[strings.TrimRight(dt.Name(), "0123456789")]
	switch {
	case size == 1:
		return fmt.Sprint("|", letter, size)
	case bigEndian():
		return fmt.Sprint(">", letter, size)
	}
	return fmt.Sprint("<", letter, size)
}

// WriteNpz writes all fields of ds to w as a file of [Npz] that NumPy's load
// reads, an array each, not compressed. It reads ds once per field. Random
// augmentations are those of seed 0 and epoch 0.
func WriteNpz(ctx context.Context, w io.Writer, ds Dataset) error {
	spec := ds.Spec()
	if _, err := recordSize(spec); err != nil {
		return err
	}
	z := archive.NewWriter(w)
	for _, f := range spec {
		member, err := z.CreateHeader(&archive.FileHeader{Name: f.Name + ".npy", Method: archive.Store})
		if err != nil {
			return fmt.Errorf("dataset: write member %q: %w", f.Name, err)
		}
		if err := WriteNpy(ctx, member, ds, f.Name); err != nil {
			return err
		}
	}
	if err := z.Close(); err != nil {
		return fmt.Errorf("dataset: write: %w", err)
	}
	return nil
}
