package dataset

import (
	"fmt"
	"reflect"

	"gorgonia.org/tensor"
)

// TensorOver makes a tensor of that kind and shape over bytes, without a copy:
// both see what the other writes. The bytes are aligned for the kind and
// exactly as many as the shape asks for.
func TensorOver(dt tensor.Dtype, shape tensor.Shape, bytes []byte) *tensor.Dense {
	var backing any
	switch dt.Kind() {
	case reflect.Bool:
		backing = cast[bool](bytes)
	case reflect.Int:
		backing = cast[int](bytes)
	case reflect.Int8:
		backing = cast[int8](bytes)
	case reflect.Int16:
		backing = cast[int16](bytes)
	case reflect.Int32:
		backing = cast[int32](bytes)
	case reflect.Int64:
		backing = cast[int64](bytes)
	case reflect.Uint:
		backing = cast[uint](bytes)
	case reflect.Uint8:
		backing = bytes
	case reflect.Uint16:
		backing = cast[uint16](bytes)
	case reflect.Uint32:
		backing = cast[uint32](bytes)
	case reflect.Uint64:
		backing = cast[uint64](bytes)
	case reflect.Float32:
		backing = cast[float32](bytes)
	case reflect.Float64:
		backing = cast[float64](bytes)
	case reflect.Complex64:
		backing = cast[complex64](bytes)
	case reflect.Complex128:
		backing = cast[complex128](bytes)
	default:
		panic(fmt.Sprintf("dataset: TensorOver: kind %v has no fixed size", dt))
	}
	return tensor.New(tensor.WithShape(shape...), tensor.WithBacking(backing))
}

// Cast is bytes of kind dt as values, without a copy. It panics if dt is not
// T's kind.
func Cast[T Element](dt tensor.Dtype, bytes []byte) []T {
	if dt.Type != reflect.TypeFor[T]() {
		panic(fmt.Sprintf("dataset: values of %v, not %v", dt, reflect.TypeFor[T]()))
	}
	return cast[T](bytes)
}
