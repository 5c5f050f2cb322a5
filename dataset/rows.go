package dataset

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"unsafe"

	"gorgonia.org/tensor"

	"github.com/penstock-go/penstock/internal/dense"
)

// rowsOf finds the samples in a tensor or slice, with the shape and kind of one
// of them and their number. It leaves rows.size to be set.
func rowsOf(values any) (_ rows, shape tensor.Shape, dtype tensor.Dtype, n int, err error) {
	if d, ok := values.(*tensor.Dense); ok && d != nil {
		return denseRows(d)
	}
	v := reflect.ValueOf(values)
	if v.Kind() != reflect.Slice {
		return rows{}, nil, dtype, 0, fmt.Errorf("values of type %T: want a slice or *tensor.Dense", values)
	}
	elem := v.Type().Elem()
	r := rows{base: v.UnsafePointer()}
	if elem.Kind() == reflect.Slice {
		if r, shape, err = sliceRows(v); err != nil {
			return rows{}, nil, dtype, 0, err
		}
		elem = elem.Elem()
	}
	for elem.Kind() == reflect.Array {
		shape = append(shape, elem.Len())
		elem = elem.Elem()
	}
	dtype, err = dense.DtypeOf(elem)
	return r, shape, dtype, v.Len(), err
}

func sliceRows(v reflect.Value) (rows, tensor.Shape, error) {
	if v.Len() == 0 {
		return rows{}, nil, errors.New("no rows, so their length is unknown")
	}
	scattered := make([]unsafe.Pointer, v.Len())
	want := v.Index(0).Len()
	for i := range scattered {
		row := v.Index(i)
		if row.Len() != want {
			return rows{}, nil, fmt.Errorf("row %d has %d values, row 0 has %d", i, row.Len(), want)
		}
		scattered[i] = row.UnsafePointer()
	}
	return rows{scattered: scattered}, tensor.Shape{want}, nil
}

func denseRows(d *tensor.Dense) (_ rows, shape tensor.Shape, dtype tensor.Dtype, n int, err error) {
	dtype, err = dense.DtypeOf(d.Dtype().Type)
	if err != nil {
		return
	}
	if d.Dims() == 0 {
		err = errors.New("a scalar tensor: want a first dimension that counts the samples")
		return
	}
	if d.IsMasked() || !d.IsNativelyAccessible() {
		err = errors.New("a masked tensor, or one that is not in main memory")
		return
	}
	all := d.Shape().Clone()
	shape, n = all[1:], all[0]
	strides := slices.Clone(d.Strides())
	if len(strides) != len(all) || !within(all, strides, d.DataSize()) {
		err = fmt.Errorf("a tensor of shape %v with strides %v over %d values", []int(all), strides, d.DataSize())
		return
	}
	base := reflect.ValueOf(d.Data()).UnsafePointer() // Data panics where there is none
	if !contiguous(all, strides) {
		base = gather(base, all, strides, int(dtype.Size()))
	}
	return rows{base: base}, shape, dtype, n, nil
}

// within reports whether every element lies in the tensor's memory.
func within(shape, strides []int, values int) bool {
	last := 0
	for i, d := range shape {
		if d < 1 || strides[i] < 0 {
			return false
		}
		last += (d - 1) * strides[i]
	}
	return last < values
}

// contiguous reports whether elements follow each other in the order of their indices.
func contiguous(shape, strides []int) bool {
	step := 1
	for i := len(shape) - 1; i >= 0; i-- {
		if shape[i] > 1 && strides[i] != step {
			return false
		}
		step *= shape[i]
	}
	return true
}

// gather copies elements of that many bytes into the order of their indices.
func gather(base unsafe.Pointer, shape, strides []int, size int) unsafe.Pointer {
	to := new(Buffer).Grow(tensor.Shape(shape).TotalSize() * size)
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
	return unsafe.Pointer(unsafe.SliceData(to))
}
