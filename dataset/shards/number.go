package shards

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"strconv"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/internal/bulk"
)

// convertible is an error if values of one dtype do not become those of another one.
func convertible(from, to dataset.Dtype) error {
	if from == to || from.IsInteger() && to.IsInteger() || from == dataset.Float32 && to == dataset.Float64 {
		return nil
	}
	return fmt.Errorf("values of %s, want %s", from, to)
}

// convert writes the elements of values, in the machine's byte order, as elements of
// another dtype. They must be convertible.
func convert(to []byte, dtype dataset.Dtype, values []byte, from dataset.Dtype) error {
	size, fromSize := dtype.Size(), int(from.Size())
	for len(values) > 0 {
		if from == dataset.Float32 {
			v := math.Float32frombits(binary.NativeEndian.Uint32(values))
			binary.NativeEndian.PutUint64(to, math.Float64bits(float64(v)))
		} else if err := setInteger(to[:size], dtype, values[:fromSize], from); err != nil {
			return err
		}
		to, values = to[size:], values[fromSize:]
	}
	return nil
}

func isSigned(dt dataset.Dtype) bool {
	switch dt {
	case dataset.Int, dataset.Int8, dataset.Int16, dataset.Int32, dataset.Int64:
		return true
	}
	return false
}

// setInteger converts one integer.
func setInteger(to []byte, dtype dataset.Dtype, value []byte, from dataset.Dtype) error {
	word := loadWord(value)
	if isSigned(from) {
		word = uint64(signed(word, len(value)))
	}
	negative := isSigned(from) && int64(word) < 0
	bits := 8 * len(to)
	fits := !negative && word>>(bits-1) == 0
	switch {
	case isSigned(dtype) && negative:
		fits = int64(word)>>(bits-1) == -1
	case !isSigned(dtype) && !negative:
		fits = bits == 64 || word>>bits == 0
	}
	if !fits {
		if negative {
			return fmt.Errorf("%s cannot hold %d", dtype, int64(word))
		}
		return fmt.Errorf("%s cannot hold %d", dtype, word)
	}
	bulk.Put(to, word)
	return nil
}

// signed is the number in a word of that many bytes.
func signed(word uint64, bytes int) int64 {
	shift := 64 - 8*bytes
	return int64(word<<shift) >> shift
}

func loadWord(p []byte) uint64 {
	switch len(p) {
	case 1:
		return uint64(p[0])
	case 2:
		return uint64(binary.NativeEndian.Uint16(p))
	case 4:
		return uint64(binary.NativeEndian.Uint32(p))
	}
	return binary.NativeEndian.Uint64(p)
}

// setText writes the number that a text says.
func setText(to []byte, dtype dataset.Dtype, text []byte) error {
	text = bytes.TrimSpace(text)
	bits := 8 * len(to)
	var word uint64
	var err error
	switch {
	case dtype == dataset.Bool:
		var v bool
		if v, err = strconv.ParseBool(string(text)); v {
			word = 1
		}
	case dtype == dataset.Float32:
		var v float64
		v, err = strconv.ParseFloat(string(text), 32)
		word = uint64(math.Float32bits(float32(v)))
	case dtype == dataset.Float64:
		var v float64
		v, err = strconv.ParseFloat(string(text), 64)
		word = math.Float64bits(v)
	case isSigned(dtype):
		var v int64
		v, err = strconv.ParseInt(string(text), 10, bits)
		word = uint64(v)
	case dtype.IsInteger():
		word, err = strconv.ParseUint(string(text), 10, bits)
	default:
		return fmt.Errorf("a text, want %s", dtype)
	}
	if err != nil {
		return fmt.Errorf("%.40q is not a number that %s can hold", text, dtype)
	}
	bulk.Put(to, word)
	return nil
}
