// Package npy reads and writes files of NumPy: .npy files with one array of all
// samples ([Open]) or one array per sample ([Items]), and .npz files with
// several arrays ([OpenNpz]).
//
// The dtype of a field is the dtype in the file: bool, int8 to int64, uint8 to
// uint64, float32, float64, complex64 or complex128, in either byte order.
// float16 becomes float32, exactly. Arrays of Python objects, structured types,
// text and times are errors, and so are bytes after the array.
package npy

import (
	"errors"
	"fmt"
	"io/fs"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/internal/arrays"
	"github.com/penstock-go/penstock/internal/files"
	"github.com/penstock-go/penstock/internal/npy"
)

// An Option changes what [Open] and [OpenNpz] do.
type Option struct{ set func(*config) }

type config struct{ limit int64 }

// MaxBytes sets how many bytes of samples may be held in memory, where all
// workers share them. If samples that must be in memory do not fit, opening the
// file is an error, and no memory is allocated. The default is 1 GiB.
func MaxBytes(bytes int64) Option { return Option{func(c *config) { c.limit = bytes }} }

func configOf(options []Option) (*config, error) {
	c := &config{limit: 1 << 30}
	for _, option := range options {
		if option.set != nil {
			option.set(c)
		}
	}
	if c.limit < 1 {
		return nil, fmt.Errorf("npy: MaxBytes(%d): want 1 or more", c.limit)
	}
	return c, nil
}

// Open makes a dataset of the array in a file of numpy.save, which may be
// compressed by gzip. The first dimension of the array is the number of
// samples. field is the name of the dataset's only field. [dataset.Zip] joins
// several.
//
// Samples of up to 16 KiB are held in memory if all of them fit (see
// [MaxBytes]). Larger samples are read straight into their slots. The
// samples of a compressed file or of an array in Fortran order are always held
// in memory.
func Open(fsys fs.FS, file, field string, options ...Option) (dataset.Dataset, error) {
	c, err := configOf(options)
	if err != nil {
		return nil, err
	}
	a, err := open(fsys, file, field, &c.limit)
	if err != nil {
		return nil, fmt.Errorf("npy: read %s: %w", file, err)
	}
	return arrays.Dataset("npy", a)
}

func open(fsys fs.FS, file, field string, limit *int64) (*arrays.Array, error) {
	in, err := files.OpenInput(fsys, file)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	a, err := arrayIn(in, field)
	if err != nil {
		return nil, err
	}
	a.FS, a.File = fsys, file
	return a, a.Attach(in, limit)
}

// arrayIn reads the header of an array, which must have a first dimension.
func arrayIn(in *files.Input, field string) (*arrays.Array, error) {
	h, err := npy.ReadHeader(in)
	if err != nil {
		return nil, err
	}
	if len(h.Shape) == 0 {
		return nil, errors.New("an array of shape (): want a first dimension, the number of samples")
	}
	return arrays.New(field, h.Encoding, h.Shape, h.Fortran)
}
