package dataset

import (
	"errors"
	"fmt"
	"reflect"
	"unsafe"
)

// rows are the samples of one field in memory, either contiguous or each in memory of
// its own.
type rows struct {
	dtype Dtype
	shape Shape // of one row
	n     int

	base      unsafe.Pointer   // contiguous rows
	scattered []unsafe.Pointer // rows in memory of their own
	size      int              // bytes of one row
}

// at is the memory of row i, which must be below n.
func (r *rows) at(i int) []byte {
	if r.scattered != nil {
		return unsafe.Slice((*byte)(r.scattered[i]), r.size)
	}
	return unsafe.Slice((*byte)(unsafe.Add(r.base, i*r.size)), r.size)
}

// rowsOf makes rows from a tensor or slice, without a copy. Its first dimension is the number of rows.
func rowsOf(values any) (r rows, err error) {
	if t, ok := values.(Tensor); ok && t.dtype.valid() {
		r, err = tensorRows(t)
	} else {
		r, err = sliceRows(values)
	}
	if err != nil {
		return rows{}, err
	}
	r.size = r.dtype.Size() * r.shape.Elements()
	return r, nil
}

func tensorRows(t Tensor) (rows, error) {
	if len(t.shape) == 0 {
		return rows{}, errors.New("a scalar tensor: want a first dimension, the number of samples")
	}
	return rows{dtype: t.dtype, shape: t.shape[1:], n: t.shape[0], base: unsafe.Pointer(unsafe.SliceData(t.memory))}, nil
}

func sliceRows(values any) (r rows, err error) {
	v := reflect.ValueOf(values)
	if v.Kind() != reflect.Slice {
		return r, fmt.Errorf("values of type %T: want a slice or a dataset.Tensor", values)
	}
	elem := v.Type().Elem()
	r = rows{n: v.Len(), base: v.UnsafePointer()}
	if elem.Kind() == reflect.Slice {
		if err := r.scatter(v); err != nil {
			return r, err
		}
		elem = elem.Elem()
	}
	for elem.Kind() == reflect.Array {
		r.shape = append(r.shape, elem.Len())
		elem = elem.Elem()
	}
	r.dtype, err = dtypeOfType(elem)
	return r, err
}

// scatter finds rows in a slice of slices.
func (r *rows) scatter(v reflect.Value) error {
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
	r.shape = Shape{want}
	return nil
}
