package dataset

import (
	"fmt"
	"reflect"
	"slices"
	"unsafe"

	"github.com/penstock-go/penstock/internal/dense"
)

// A Tensor is an array of values in memory, in row-major order. The zero Tensor has no dtype.
//
// It is a view: whoever makes it says whose memory it is, and how long. Package
// loader/tensors makes gorgonia's tensors of it, without a copy.
type Tensor struct {
	dtype  Dtype
	shape  Shape
	memory []byte
}

// TensorOf makes a tensor of values and a shape, without a copy. Without a shape it has one
// dimension. It panics if the shape has another number of elements.
func TensorOf[T Element](values []T, shape ...int) Tensor {
	if shape == nil {
		shape = []int{len(values)}
	}
	return NewTensor(DtypeOf[T](), shape, dense.Bytes(values))
}

// NewTensor makes a tensor of memory, without a copy. The memory has the values in the machine's byte
// order, and is aligned for the dtype. NewTensor panics if it has another size than the shape.
func NewTensor(dt Dtype, shape Shape, memory []byte) Tensor {
	if want := shape.Elements() * dt.Size(); len(memory) != want {
		panic(fmt.Sprintf("dataset: tensor of %v %v: %d bytes, want %d", dt, shape, len(memory), want))
	}
	return Tensor{dt, shape, slices.Clip(memory)}
}

// Dtype is the dtype of the values.
func (t Tensor) Dtype() Dtype { return t.dtype }

// Shape is the tensor's shape. Do not change it.
func (t Tensor) Shape() Shape { return t.shape }

// Bytes is the tensor's memory, in the machine's byte order.
func (t Tensor) Bytes() []byte { return t.memory }

// Data is the tensor's values as a slice, such as []float32, without a copy, or the value of a scalar.
func (t Tensor) Data() any {
	values := reflect.SliceAt(t.dtype.Type(), unsafe.Pointer(unsafe.SliceData(t.memory)), t.shape.Elements())
	if len(t.shape) == 0 {
		return values.Index(0).Interface()
	}
	return values.Interface()
}

// String prints the values as Go prints slices of slices, [[1 2] [3 4]], or of more than 64 values the
// dtype and the shape: float32 (3, 224, 224).
func (t Tensor) String() string {
	if !t.dtype.valid() || t.shape.Elements() > 64 {
		return fmt.Sprintf("%v %v", t.dtype, t.shape)
	}
	return t.text()
}

func (t Tensor) text() string {
	if len(t.shape) < 2 {
		return fmt.Sprint(t.Data())
	}
	rows := make([]string, t.shape[0])
	size := t.shape[1:].Elements() * t.dtype.Size()
	for i := range rows {
		rows[i] = Tensor{t.dtype, t.shape[1:], t.memory[i*size:][:size]}.text()
	}
	return fmt.Sprint(rows)
}

// ValuesOf is the tensor's values in row-major order, without a copy. It panics if T is not their
// dtype.
func ValuesOf[T Element](t Tensor) []T {
	if dt := DtypeOf[T](); dt != t.dtype {
		panic(fmt.Sprintf("dataset: values of %v, not %v", t.dtype, dt))
	}
	return dense.Values[T](t.memory)
}
