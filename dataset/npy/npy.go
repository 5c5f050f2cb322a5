// Package npy reads and writes NumPy's arrays: the .npy files of numpy.save, one
// for all samples ([Open]) or one for each ([Items]), and the .npz files of
// numpy.savez ([OpenNpz]).
//
// Dtypes are the file's: bool, int8 to int64, uint8 to uint64, float32, float64,
// complex64 or complex128, of either byte order. A float16 becomes float32,
// exactly. Python objects, structured types, text and times are refused, and so
// is data after the array.
package npy

import (
	"errors"
	"fmt"
	"io/fs"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/internal/arrays"
	"github.com/penstock-go/penstock/internal/files"
)

// An Option changes what [Open] and [OpenNpz] do.
type Option struct{ set func(*config) }

type config struct{ limit int64 }

// MemoryLimit sets how many bytes of samples may be held in memory, where all
// workers share them. The default is 1 GiB. What must be in memory and does not
// fit is an error, before memory is taken for it.
func MemoryLimit(bytes int64) Option { return Option{func(c *config) { c.limit = bytes }} }

func configOf(options []Option) (*config, error) {
	c := &config{limit: 1 << 30}
	for _, option := range options {
		if option.set != nil {
			option.set(c)
		}
	}
	if c.limit < 1 {
		return nil, fmt.Errorf("npy: MemoryLimit(%d): want 1 or more", c.limit)
	}
	return c, nil
}

// Open makes a dataset of an array that NumPy's save wrote, plain or compressed
// by gzip. Its first dimension counts the samples; they become the field of that
// name. [dataset.Zip] joins several.
//
// Samples of up to 16 KiB are held in memory if all fit (see [MemoryLimit]),
// larger ones are read straight into their slots. A compressed file is
// decompressed, and an array in Fortran order put in C order, once, in memory.
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

// arrayIn reads a header, whose array has samples to count.
func arrayIn(in *files.Input, field string) (*arrays.Array, error) {
	h, err := readHeader(in)
	if err != nil {
		return nil, err
	}
	if len(h.shape) == 0 {
		return nil, errors.New("an array of shape (): want a first dimension that counts the samples")
	}
	return arrays.New(field, h.encoding, h.shape, h.fortran)
}
