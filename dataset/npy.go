package dataset

import (
	"errors"
	"io/fs"
)

// Npy makes a dataset of an array that NumPy's save wrote. Its first dimension
// counts the samples; they become the field of that name. [Zip] joins several.
//
// The kind is the file's: bool, int8 to int64, uint8 to uint64, float32,
// float64, complex64 or complex128, of either byte order. A float16 becomes
// float32, exactly. Python objects, structured types, text and times are
// refused, and so is data behind the array.
//
// Samples of up to 16 KiB are held in memory if all fit (see [MemoryLimit]),
// larger ones are read straight into their slots. An array in Fortran order is
// put in C order once, in memory.
func Npy(fsys fs.FS, file, field string, options ...ArrayOption) (Dataset, error) {
	c, err := newArrayConfig(options)
	if err != nil {
		return nil, err
	}
	in, err := openInput(fsys, file)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	a, err := npyArray(in, field)
	if err != nil {
		return nil, err
	}
	a.fsys, a.file = fsys, file
	if err := a.attach(in, &c.limit); err != nil {
		return nil, err
	}
	return newArrays([]array{a})
}

// npyArray reads a header, whose array has samples to count.
func npyArray(in *input, field string) (array, error) {
	h, err := readNpyHeader(in)
	if err != nil {
		return array{}, err
	}
	if len(h.shape) == 0 {
		return array{}, readError(in.name, errors.New("an array of shape (): want a first dimension that counts the samples"))
	}
	a, err := newArray(field, h.kind, h.shape, h.fortran)
	if err != nil {
		return array{}, readError(in.name, err)
	}
	a.name = in.name
	return a, nil
}
