// Package arrays makes datasets from arrays in files, for dataset/idx, dataset/npy and dataset/shards.
// The first dimension of an array is the number of samples.
package arrays

import (
	"context"
	"fmt"
	"io"
	"io/fs"
	"math"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/internal/bulk"
	"github.com/penstock-go/penstock/internal/encoding"
	"github.com/penstock-go/penstock/internal/files"
)

// An Array is one field of all samples, contiguous in a file.
type Array struct {
	FS   fs.FS
	File string

	field    dataset.Field
	n        int
	encoding encoding.Encoding
	fortran  bool // the first index varies fastest

	offset int64  // of the first sample in the file
	record int64  // bytes of a sample in the file
	data   []byte // all samples in memory; nil if they are read one by one
}

// New makes an array of that shape. field is the name of the samples' field.
func New(field string, e encoding.Encoding, shape []int, fortran bool) (*Array, error) {
	f := dataset.Field{Name: field, Dtype: e.Dtype, Shape: dataset.Shape(shape[1:])}
	if err := (dataset.Spec{f}).Validate(); err != nil {
		return nil, err
	}
	a := &Array{field: f, n: shape[0], encoding: e, fortran: fortran && len(shape) > 1}
	a.record = e.Stored(int64(f.Bytes()))
	if int64(a.n) > (1<<62)/(2*a.record) {
		return nil, fmt.Errorf("shape %v is larger than any file", shape)
	}
	return a, nil
}

// Attach finds the samples in in, after the header. It reads them into memory if they
// cannot be read one by one, or if they are small and fit the limit. It subtracts the
// bytes in memory from the limit.
func (a *Array) Attach(in *files.Input, limit *int64) error {
	if err := in.Holds(int64(a.n) * a.record); err != nil {
		return err
	}
	a.offset = in.Start + in.Offset()
	rows := int64(a.n) * int64(a.field.Bytes())
	if !in.Packed && !a.fortran && (a.record > files.Small || rows > *limit) {
		return nil
	}
	if rows > min(*limit, math.MaxInt-bulk.Align) {
		return fmt.Errorf("%d bytes of samples to be held in memory%s, MaxBytes leaves %d", rows, a.why(in), *limit)
	}
	data, err := a.load(in, rows)
	if err != nil {
		return err
	}
	a.encoding.Decode(data)
	a.data = data
	*limit -= rows
	return nil
}

// load reads all samples. The bytes of the file are at the end of the returned memory,
// which has rows bytes.
func (a *Array) load(in *files.Input, rows int64) ([]byte, error) {
	stored := a.encoding.Stored(rows)
	if stored == rows && !a.fortran {
		return in.Rest(stored)
	}
	in, err := in.Unpacked(stored)
	if err != nil {
		return nil, err
	}
	data := bulk.Make(int(rows))
	raw := a.encoding.Raw(data)
	if a.fortran {
		err = fillFromFortran(raw, in.Fill, append([]int{a.n}, a.field.Shape...))
	} else {
		err = in.Fill(raw)
	}
	if err == nil {
		err = in.Finish()
	}
	return data, err
}

func (a *Array) why(in *files.Input) string {
	switch {
	case in.Packed:
		return " because they are compressed"
	case a.fortran:
		return " because they are in Fortran order"
	}
	return ""
}

// row is sample i, which is in memory.
func (a *Array) row(i int) []byte {
	size := a.field.Bytes()
	return a.data[i*size:][:size]
}

// read reads the bytes of the file from sample i on.
func (a *Array) read(ctx context.Context, file io.ReaderAt, to []byte, i int) error {
	return files.Fill(ctx, file, to, a.offset+int64(i)*a.record)
}
