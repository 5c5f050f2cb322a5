package dataset

import (
	"fmt"
	"reflect"

	"gorgonia.org/tensor"

	"github.com/penstock-go/penstock/internal/dense"
)

// TensorOver makes a tensor of that kind and shape over bytes, without a copy:
// both see what the other writes. The bytes are aligned for the kind and
// exactly as many as the shape asks for.
func TensorOver(dt tensor.Dtype, shape tensor.Shape, bytes []byte) *tensor.Dense {
	var backing any
	switch dt.Kind() {
	case reflect.Bool:
		backing = dense.Values[bool](bytes)
	case reflect.Int:
		backing = dense.Values[int](bytes)
	case reflect.Int8:
		backing = dense.Values[int8](bytes)
	case reflect.Int16:
		backing = dense.Values[int16](bytes)
	case reflect.Int32:
		backing = dense.Values[int32](bytes)
	case reflect.Int64:
		backing = dense.Values[int64](bytes)
	case reflect.Uint:
		backing = dense.Values[uint](bytes)
	case reflect.Uint8:
		backing = bytes
	case reflect.Uint16:
		backing = dense.Values[uint16](bytes)
	case reflect.Uint32:
		backing = dense.Values[uint32](bytes)
	case reflect.Uint64:
		backing = dense.Values[uint64](bytes)
	case reflect.Float32:
		backing = dense.Values[float32](bytes)
	case reflect.Float64:
		backing = dense.Values[float64](bytes)
	case reflect.Complex64:
		backing = dense.Values[complex64](bytes)
	case reflect.Complex128:
		backing = dense.Values[complex128](bytes)
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
	return dense.Values[T](bytes)
}
