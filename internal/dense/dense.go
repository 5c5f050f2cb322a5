// Package dense converts between bytes, values and tensors without a copy. It also
// lists the dtypes of fixed size.
package dense

import (
	"fmt"
	"reflect"
	"unsafe"

	"gorgonia.org/tensor"

	"github.com/penstock-go/penstock/dataset/half"
)

// Element is every type of fixed size.
type Element interface {
	bool | int | int8 | int16 | int32 | int64 |
		uint | uint8 | uint16 | uint32 | uint64 |
		float32 | float64 | complex64 | complex128 | half.Float16 | half.BFloat16
}

// Values is b as values of T, without a copy. It is nil if b is empty. b must be
// aligned for T.
func Values[T Element](b []byte) []T {
	if len(b) == 0 {
		return nil
	}
	return unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(b))), len(b)/int(unsafe.Sizeof(*new(T))))
}

// Bytes is the memory of values. It is nil if there are none.
func Bytes[T Element](values []T) []byte {
	if len(values) == 0 {
		return nil
	}
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(values))), len(values)*int(unsafe.Sizeof(values[0])))
}

// Cast is b as values of T, without a copy. It panics if T is not the dtype dt of b.
func Cast[T Element](dt tensor.Dtype, b []byte) []T {
	if dt.Type != reflect.TypeFor[T]() {
		panic(fmt.Sprintf("values of %v, not %v", dt, reflect.TypeFor[T]()))
	}
	return Values[T](b)
}

// Tensor makes a tensor of that dtype and shape that shares the memory of b. b must be
// aligned for the dtype and have exactly the size of the shape.
func Tensor(dt tensor.Dtype, shape tensor.Shape, b []byte) *tensor.Dense {
	return tensor.New(tensor.WithShape(shape...), tensor.WithBacking(backing(dt, b)))
}

func backing(dt tensor.Dtype, b []byte) any {
	switch dt {
	case half.Float16Dtype:
		return Values[half.Float16](b)
	case half.BFloat16Dtype:
		return Values[half.BFloat16](b)
	}
	switch dt.Kind() {
	case reflect.Bool:
		return Values[bool](b)
	case reflect.Int:
		return Values[int](b)
	case reflect.Int8:
		return Values[int8](b)
	case reflect.Int16:
		return Values[int16](b)
	case reflect.Int32:
		return Values[int32](b)
	case reflect.Int64:
		return Values[int64](b)
	case reflect.Uint:
		return Values[uint](b)
	case reflect.Uint8:
		return b
	case reflect.Uint16:
		return Values[uint16](b)
	case reflect.Uint32:
		return Values[uint32](b)
	case reflect.Uint64:
		return Values[uint64](b)
	case reflect.Float32:
		return Values[float32](b)
	case reflect.Float64:
		return Values[float64](b)
	case reflect.Complex64:
		return Values[complex64](b)
	case reflect.Complex128:
		return Values[complex128](b)
	}
	panic(fmt.Sprintf("dtype %v has no fixed size", dt))
}
