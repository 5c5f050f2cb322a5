package dense

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"unsafe"

	"gorgonia.org/tensor"

	"github.com/penstock-go/penstock/internal/bulk"
)

// Rows are the samples of one field in memory, either contiguous or each in memory of
// its own.
type Rows struct {
	Dtype tensor.Dtype
	Shape tensor.Shape // of one row
	N     int

	base      unsafe.Pointer   // contiguous rows
	scattered []unsafe.Pointer // rows in memory of their own
	size      int              // bytes of one row
}

// At is the memory of row i, which must be below N.
func (r *Rows) At(i int) []byte {
	if r.scattered != nil {
		return unsafe.Slice((*byte)(r.scattered[i]), r.size)
	}
	return unsafe.Slice((*byte)(unsafe.Add(r.base, i*r.size)), r.size)
}

// RowsOf makes rows from a tensor or slice. Its first dimension is the number of rows.
// They are copied only if a tensor is not contiguous.
func RowsOf(values any) (r Rows, err error) {
	if d, ok := values.(*tensor.Dense); ok && d != nil {
		r, err = denseRows(d)
	} else {
		r, err = sliceRows(values)
	}
	if err != nil {
		return Rows{}, err
	}
	r.size = int(r.Dtype.Size())
	for _, d := range r.Shape {
		r.size *= d
	}
	return r, nil
}

func sliceRows(values any) (r Rows, err error) {
	v := reflect.ValueOf(values)
	if v.Kind() != reflect.Slice {
		return r, fmt.Errorf("values of type %T: want a slice or *tensor.Dense", values)
	}
	elem := v.Type().Elem()
	r = Rows{N: v.Len(), base: v.UnsafePointer()}
	if elem.Kind() == reflect.Slice {
		if err := r.scatter(v); err != nil {
			return r, err
		}
		elem = elem.Elem()
	}
	for elem.Kind() == reflect.Array {
		r.Shape = append(r.Shape, elem.Len())
		elem = elem.Elem()
	}
	r.Dtype, err = DtypeOf(elem)
	return r, err
}

// scatter finds rows in a slice of slices.
func (r *Rows) scatter(v reflect.Value) error {
	if v.Len() == 0 {
		return errors.New("no rows, so their length is unknown")
	}
	r.scattered = make([]unsafe.Pointer, v.Len())
	want := v.Index(0).Len()
	for i := range r.scattered {
		row := v.Index(i)
		if row.Len() != want {
			return fmt.Errorf("row %d has %d values, row 0 has %d", i, row.Len(), want)
		}
		r.scattered[i] = row.UnsafePointer()
	}
	r.Shape = tensor.Shape{want}
	return nil
}

func denseRows(d *tensor.Dense) (r Rows, err error) {
	if r.Dtype, err = DtypeOf(d.Dtype().Type); err != nil {
		return r, err
	}
	if d.Dims() == 0 {
		return r, errors.New("a scalar tensor: want a first dimension, the number of samples")
	}
	if d.IsMasked() || !d.IsNativelyAccessible() {
		return r, errors.New("a masked tensor, or one that is not in main memory")
	}
	all := d.Shape().Clone()
	r.N, r.Shape = all[0], all[1:]
	strides := slices.Clone(d.Strides())
	if len(strides) != len(all) || !within(all, strides, d.DataSize()) {
		return r, fmt.Errorf("a tensor of shape %v with strides %v over %d values", []int(all), strides, d.DataSize())
	}
	r.base = reflect.ValueOf(d.Data()).UnsafePointer() // Data panics for an empty tensor
	if !contiguous(all, strides) {
		r.base = gather(r.base, all, strides, int(r.Dtype.Size()))
	}
	return r, nil
}

// within reports whether every element is in the tensor's memory.
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

// contiguous reports whether elements are in row-major order without gaps.
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

// gather copies elements of size bytes into row-major order.
func gather(base unsafe.Pointer, shape, strides []int, size int) unsafe.Pointer {
	to := bulk.Make(tensor.Shape(shape).TotalSize() * size)
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
