package files

import (
	"encoding/binary"
	"fmt"
	"math"
	"reflect"
	"slices"
)

// idxKinds are the types of values in an IDX file, by their codes.
var idxKinds = [...]reflect.Kind{
	0x08: reflect.Uint8, 0x09: reflect.Int8, 0x0b: reflect.Int16, 0x0c: reflect.Int32, 0x0d: reflect.Float32, 0x0e: reflect.Float64,
}

// ReadIDXHeader reads the header of an IDX file, the format of MNIST, which
// http://yann.lecun.com/exdb/mnist/ describes: the magic number, which gives the type of the values and the rank, and the
// dimensions, which are big-endian numbers of 4 bytes, as the values are. There is at least one
// dimension, and none is negative.
func ReadIDXHeader(in *Input) (reflect.Kind, []int, error) {
	var word [4]byte
	if err := in.Fill(word[:]); err != nil {
		return 0, nil, err
	}
	if word[0] != 0 || word[1] != 0 {
		return 0, nil, fmt.Errorf("byte 0: magic number % x, want 00 00, the type and the rank", word)
	}
	if int(word[2]) >= len(idxKinds) || idxKinds[word[2]] == 0 {
		return 0, nil, fmt.Errorf("byte 2: type 0x%02x, want 0x08, 0x09 or 0x0b to 0x0e", word[2])
	}
	kind, rank := idxKinds[word[2]], int(word[3])
	if rank == 0 {
		return 0, nil, fmt.Errorf("byte 3: rank 0, want a first dimension with the number of samples")
	}
	shape := make([]int, rank)
	for d := range shape {
		if err := in.Fill(word[:]); err != nil {
			return 0, nil, err
		}
		size := int32(binary.BigEndian.Uint32(word[:]))
		if size < 0 {
			return 0, nil, fmt.Errorf("byte %d: dimension %d is %d, below 0", in.Offset()-4, d, size)
		}
		shape[d] = int(size)
	}
	return kind, shape, nil
}

// IDXHeader is the header of an array of that type and shape.
func IDXHeader(kind reflect.Kind, shape []int) ([]byte, error) {
	code := slices.Index(idxKinds[:], kind)
	if code <= 0 {
		return nil, fmt.Errorf("values of dtype %v: want uint8, int8, int16, int32, float32 or float64", kind)
	}
	if len(shape) > math.MaxUint8 {
		return nil, fmt.Errorf("%d dimensions, want at most 255", len(shape))
	}
	header := []byte{0, 0, byte(code), byte(len(shape))}
	for _, d := range shape {
		if d > math.MaxInt32 {
			return nil, fmt.Errorf("dimension of %d: want at most %d", d, math.MaxInt32)
		}
		header = binary.BigEndian.AppendUint32(header, uint32(d))
	}
	return header, nil
}
