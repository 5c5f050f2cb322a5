// Package idx reads and writes the header of an IDX file, the format of MNIST,
// which http://yann.lecun.com/exdb/mnist/ describes.
package idx

import (
	"encoding/binary"
	"fmt"
	"math"

	"gorgonia.org/tensor"

	"github.com/penstock-go/penstock/internal/files"
)

// ReadHeader reads the magic number, which gives the dtype and the rank, and the
// dimensions, which are big-endian numbers of 4 bytes. There is at least one
// dimension, and none is negative.
func ReadHeader(in *files.Input) (files.Encoding, []int, error) {
	var word [4]byte
	if err := in.Fill(word[:]); err != nil {
		return files.Encoding{}, nil, err
	}
	if word[0] != 0 || word[1] != 0 {
		return files.Encoding{}, nil, fmt.Errorf("byte 0: magic number % x, want 00 00, the type and the rank", word)
	}
	dtype, ok := dtypeOf(word[2])
	if !ok {
		return files.Encoding{}, nil, fmt.Errorf("byte 2: type 0x%02x, want 0x08, 0x09 or 0x0b to 0x0e", word[2])
	}
	rank := int(word[3])
	if rank == 0 {
		return files.Encoding{}, nil, fmt.Errorf("byte 3: rank 0, want a first dimension with the number of samples")
	}
	shape := make([]int, rank)
	for d := range shape {
		if err := in.Fill(word[:]); err != nil {
			return files.Encoding{}, nil, err
		}
		size := int32(binary.BigEndian.Uint32(word[:]))
		if size < 0 {
			return files.Encoding{}, nil, fmt.Errorf("byte %d: dimension %d is %d, below 0", in.Offset()-4, d, size)
		}
		shape[d] = int(size)
	}
	return files.EncodingOf(dtype, true), shape, nil
}

// Header is the header of an array of that dtype and shape.
func Header(dt tensor.Dtype, shape []int) ([]byte, error) {
	code := byte(0x08)
	for dtype, ok := dtypeOf(code); !ok || dtype != dt; dtype, ok = dtypeOf(code) {
		if code++; code > 0x0e {
			return nil, fmt.Errorf("values of dtype %v: want uint8, int8, int16, int32, float32 or float64", dt)
		}
	}
	if len(shape) > math.MaxUint8 {
		return nil, fmt.Errorf("%d dimensions, want at most 255", len(shape))
	}
	header := []byte{0, 0, code, byte(len(shape))}
	for _, d := range shape {
		if d > math.MaxInt32 {
			return nil, fmt.Errorf("dimension of %d: want at most %d", d, math.MaxInt32)
		}
		header = binary.BigEndian.AppendUint32(header, uint32(d))
	}
	return header, nil
}

func dtypeOf(code byte) (tensor.Dtype, bool) {
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
