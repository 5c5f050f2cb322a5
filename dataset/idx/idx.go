// Package idx reads and writes arrays in IDX, the format of MNIST. It is
// described at http://yann.lecun.com/exdb/mnist/. For the images and labels of
// MNIST itself use package classic.
package idx

import (
	"context"
	"fmt"
	"io"
	"io/fs"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/internal/arrays"
	"github.com/penstock-go/penstock/internal/encoding"
	"github.com/penstock-go/penstock/internal/files"
)

// An Option changes what [Open] does.
type Option struct{ set func(*config) }

type config struct{ limit int64 }

// MaxBytes sets how many bytes of samples may be held in memory, where all
// workers share them. If samples that must be in memory do not fit, opening the
// file is an error, and no memory is allocated. The default is 1 GiB.
func MaxBytes(bytes int64) Option { return Option{func(c *config) { c.limit = bytes }} }

// Open makes a dataset of the array in an IDX file, which may be compressed by
// gzip. The first dimension of the array is the number of samples. field is the
// name of the dataset's only field. Its dtype is that of the file: uint8 (type
// 0x08), int8 (0x09), int16 (0x0B), int32 (0x0C), float32 (0x0D) or float64
// (0x0E). [dataset.Zip] joins several.
//
// Samples of up to 16 KiB are held in memory if all of them fit (see
// [MaxBytes]). Larger samples are read straight into their slots. The
// samples of a compressed file are always held in memory.
func Open(fsys fs.FS, file, field string, options ...Option) (dataset.Dataset, error) {
	c := config{limit: 1 << 30}
	for _, option := range options {
		if option.set != nil {
			option.set(&c)
		}
	}
	if c.limit < 1 {
		return nil, fmt.Errorf("idx: MaxBytes(%d): want 1 or more", c.limit)
	}
	a, err := open(fsys, file, field, &c.limit)
	if err != nil {
		return nil, fmt.Errorf("idx: read %s: %w", file, err)
	}
	return arrays.Dataset("idx", a)
}

func open(fsys fs.FS, file, field string, limit *int64) (*arrays.Array, error) {
	in, err := files.OpenInput(fsys, file)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	kind, shape, err := files.ReadIDXHeader(in)
	if err != nil {
		return nil, err
	}
	dtype, err := dataset.ParseDtype(kind.String())
	if err != nil {
		return nil, err
	}
	a, err := arrays.New(field, encoding.Of(dtype, true), shape, false)
	if err != nil {
		return nil, err
	}
	a.FS, a.File = fsys, file
	return a, a.Attach(in, limit)
}

// Write writes a field of all samples of ds to w as a file that [Open] reads.
// The field must be uint8, int8, int16, int32, float32 or float64, and not
// ragged. Samples are written one by one as they are read. Random transforms
// draw the numbers of seed 0 and epoch 0.
func Write(ctx context.Context, w io.Writer, ds dataset.Dataset, field string) error {
	k, err := arrays.Field(ds, field)
	if err != nil {
		return fmt.Errorf("idx: %w", err)
	}
	f := ds.Spec()[k]
	header, err := files.IDXHeader(f.Dtype.Type().Kind(), append([]int{ds.Len()}, f.Shape...))
	if err != nil {
		return fmt.Errorf("idx: field %v: %w", f, err)
	}
	if err := arrays.Write(ctx, w, header, ds, k, encoding.Of(f.Dtype, true)); err != nil {
		return fmt.Errorf("idx: %w", err)
	}
	return nil
}
