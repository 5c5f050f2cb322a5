// Package tensors makes gorgonia's tensors of batches and samples, and the other way round:
//
//	x := tensors.Of(batch, "image") // *tensor.Dense (128, 3, 224, 224) float32 over the batch's memory, no copy
//
// It is the only package of the library that imports gorgonia.org/tensor. A program that does not
// import it is smaller by 16 MB.
package tensors

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"unsafe"

	"gorgonia.org/tensor"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/loader"
)

// Of is one field of all samples of a batch, as [loader.Batch.Tensor] says. It uses the batch's memory,
// without a copy, and is valid as long as the batch.
func Of(b *loader.Batch, field string) *tensor.Dense { return Dense(b.Tensor(field)) }

// Dense is gorgonia's tensor over the same memory, without a copy. Data of a tensor without elements
// panics: gorgonia does.
func Dense(t dataset.Tensor) *tensor.Dense {
	return tensor.New(tensor.WithShape(t.Shape()...), tensor.WithBacking(t.Data()))
}

// Dtype is gorgonia's dtype. Those of [dataset.F16] and [dataset.BF16] have no arithmetic.
func Dtype(dt dataset.Dtype) tensor.Dtype { return tensor.Dtype{Type: dt.Type()} }

// FromDense is a tensor over the memory of gorgonia's tensor. One that is transposed, sliced or
// column-major is copied, into row-major order. One that is masked, not in main memory, or of
// another dtype than those of package dataset is an error.
func FromDense(d *tensor.Dense) (dataset.Tensor, error) {
	t, err := fromDense(d)
	if err != nil {
		return t, fmt.Errorf("tensors: FromDense: %w", err)
	}
	return t, nil
}

func fromDense(d *tensor.Dense) (none dataset.Tensor, _ error) {
	if d == nil {
		return none, errors.New("the tensor is nil")
	}
	dtype, err := dtypeOf(d.Dtype())
	if err != nil {
		return none, err
	}
	if d.IsMasked() || !d.IsNativelyAccessible() {
		return none, errors.New("a masked tensor, or one that is not in main memory")
	}
	shape, strides := dataset.Shape(d.Shape().Clone()), d.Strides()
	if shape.Elements() == 0 {
		return dataset.NewTensor(dtype, shape, nil), nil // its Data panics
	}
	if d.IsScalar() {
		value := reflect.New(dtype.Type())
		value.Elem().Set(reflect.ValueOf(d.Data()).Convert(dtype.Type()))
		return dataset.NewTensor(dtype, shape, unsafe.Slice((*byte)(value.UnsafePointer()), dtype.Size())), nil
	}
	if len(strides) != len(shape) || !within(shape, strides, d.DataSize()) {
		return none, fmt.Errorf("a tensor of shape %v with strides %v over %d values", shape, strides, d.DataSize())
	}
	base := reflect.ValueOf(d.Data()).UnsafePointer()
	if !contiguous(shape, strides) {
		return dataset.NewTensor(dtype, shape, gather(base, shape, strides, dtype.Size())), nil
	}
	return dataset.NewTensor(dtype, shape, unsafe.Slice((*byte)(base), shape.Elements()*dtype.Size())), nil
}

func dtypeOf(dt tensor.Dtype) (dataset.Dtype, error) {
	for known := dataset.Bool; known <= dataset.Complex128; known++ {
		if known.Type() == dt.Type {
			return known, nil
		}
	}
	return 0, fmt.Errorf("values of type %v", dt.Type)
}

// within reports whether every element is in the tensor's memory.
func within(shape, strides []int, values int) bool {
	last := 0
	for i, d := range shape {
		if strides[i] < 0 {
			return false
		}
		last += (d - 1) * strides[i]
	}
	return last < values
}

// contiguous reports whether elements are in row-major order without gaps.
func contiguous(shape, strides []int) bool {
	step := 1
	for i, d := range slices.Backward(shape) {
		if d > 1 && strides[i] != step {
			return false
		}
		step *= d
	}
	return true
}

// gather copies elements of size bytes into row-major order.
func gather(base unsafe.Pointer, shape dataset.Shape, strides []int, size int) []byte {
	to := make([]byte, shape.Elements()*size)
	index := make([]int, len(shape))
	from := 0
	for at := 0; at < len(to); at += size {
		copy(to[at:at+size], unsafe.Slice((*byte)(unsafe.Add(base, from*size)), size))
		for d := len(index) - 1; d >= 0; d-- {
			index[d]++
			from += strides[d]
			if index[d] < shape[d] {
				break
			}
			from -= shape[d] * strides[d]
			index[d] = 0
		}
	}
	return to
}
