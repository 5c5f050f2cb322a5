package dataset

import (
	"encoding/binary"
	"io/fs"

	"gorgonia.org/tensor"
)

// IDX makes a dataset of a file in the format of MNIST, plain or compressed by
// gzip. Its first dimension counts the samples; they become the field of that
// name, of the file's kind: uint8 (type 0x08), int8 (0x09), int16 (0x0B), int32
// (0x0C), float32 (0x0D) or float64 (0x0E). [Zip] joins pictures and labels.
//
// Samples of up to 16 KiB are held in memory if all fit (see [MemoryLimit]),
// larger ones are read straight into their slots. A compressed file is
// decompressed once, into memory.
//
// The format is described at http://yann.lecun.com/exdb/mnist/.
func IDX(fsys fs.FS, file, field string, options ...ArrayOption) (Dataset, error) {
	c, err := newArrayConfig(options)
	if err != nil {
		return nil, err
	}
	a, err := openIDX(fsys, file, field, &c.limit, false)
	if err != nil {
		return nil, err
	}
	return newArrays([]array{a})
}

// openIDX reads the header and, as attach decides or because it must, the samples.
func openIDX(fsys fs.FS, file, field string, limit *MemoryLimit, must bool) (array, error) {
	in, err := openInput(fsys, file)
	if err != nil {
		return array{}, err
	}
	defer in.Close()
	k, shape, err := readIDXHeader(in)
	if err != nil {
		return array{}, err
	}
	a, err := newArray(field, k, shape, false)
	if err != nil {
		return array{}, readError(file, err)
	}
	a.fsys, a.file, a.name, a.must = fsys, file, file, must
	return a, a.attach(in, limit)
}

// readIDXHeader reads the magic number, which says the kind and the rank, and
// the dimensions, big-endian and 4 bytes each.
func readIDXHeader(in *input) (kind, []int, error) {
	var word [4]byte
	if err := in.fill(word[:]); err != nil {
		return kind{}, nil, err
	}
	if word[0] != 0 || word[1] != 0 {
		return kind{}, nil, in.fail("byte 0: magic number % x, want 00 00, the type and the rank", word)
	}
	dtype, ok := idxDtype(word[2])
	if !ok {
		return kind{}, nil, in.fail("byte 2: type 0x%02x, want 0x08, 0x09 or 0x0b to 0x0e", word[2])
	}
	rank := int(word[3])
	if rank == 0 {
		return kind{}, nil, in.fail("byte 3: rank 0, want a first dimension that counts the samples")
	}
	shape := make([]int, rank)
	for d := range shape {
		if err := in.fill(word[:]); err != nil {
			return kind{}, nil, err
		}
		size := int32(binary.BigEndian.Uint32(word[:]))
		if size < 0 {
			return kind{}, nil, in.fail("byte %d: dimension %d is %d, below 0", in.offset-4, d, size)
		}
		shape[d] = int(size)
	}
	return kindOf(dtype, true), shape, nil
}

func idxDtype(code byte) (tensor.Dtype, bool) {
	switch code {
	case 0x08:
		return tensor.Uint8, true
	case 0x09:
		return tensor.Int8, true
	case 0x0b:
		return tensor.Int16, true
	case 0x0c:
		return tensor.Int32, true
	case 0x0d:
		return tensor.Float32, true
	case 0x0e:
		return tensor.Float64, true
	}
	return tensor.Dtype{}, false
}
