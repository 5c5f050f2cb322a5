package volume

import (
	"fmt"
	"math"
	"reflect"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/internal/dense"
)

// A number is a type that the values of a volume may have.
type number interface {
	int8 | int16 | int32 | int64 | uint8 | uint16 | uint32 | uint64 | float32 | float64
}

// A word is a value that is moved without interpretation.
type word interface {
	uint8 | uint16 | uint32 | uint64
}

// Values returns Data as values of type T, without a copy. It panics if T is not v's
// Dtype.
func Values[T dataset.Element](v *Volume) []T {
	if v.Dtype != dataset.DtypeOf[T]() {
		panic(fmt.Sprintf("volume: %v does not hold values of %v", v, dataset.DtypeOf[T]()))
	}
	return dense.Values[T](v.Data)
}

// Float32 is the values as float32. If Dtype is float32 they share memory with
// Data, otherwise they are converted into new memory. Integers beyond 2²⁴ are
// rounded.
func (v *Volume) Float32() ([]float32, error) {
	if v.Dtype == dataset.Float32 {
		return dense.Values[float32](v.Data), nil
	}
	to := make([]float32, v.Elements())
	if err := copyNumbers(to, v, 0); err != nil {
		return nil, fmt.Errorf("volume: %s: %w", v.Name, err)
	}
	return to, nil
}

// SetFloat32 makes values the Data of the volume, without a copy, and float32
// its Dtype. It panics if there are not as many values as [Volume.Elements]
// says.
func (v *Volume) SetFloat32(values []float32) {
	if len(values) != v.Elements() {
		panic(fmt.Sprintf("volume: SetFloat32 of %d values in a volume of %d", len(values), v.Elements()))
	}
	v.Dtype, v.Data = dataset.Float32, dense.Bytes(values)
}

// copyNumbers converts len(dst) values of v, from index at on.
func copyNumbers[D float32 | float64 | int64](dst []D, v *Volume, at int) error {
	m := row(len(dst), at)
	return convertAny(dst, v.Data, v.Dtype, &m)
}

// castExact converts the values to the integer dtype dt. A value that dt cannot hold is
// an error. It does nothing for floats, which are converted when a sample is copied.
func (v *Volume) castExact(dt dataset.Dtype) error {
	if v.Dtype == dt || dt.IsFloat() {
		return nil
	}
	var err error
	to := make([]byte, v.Elements()*dt.Size())
	switch dt {
	case dataset.Uint8:
		err = castInto(to, v)
	case dataset.Int8:
		err = castInto(dense.Values[int8](to), v)
	case dataset.Int16:
		err = castInto(dense.Values[int16](to), v)
	case dataset.Uint16:
		err = castInto(dense.Values[uint16](to), v)
	case dataset.Int32:
		err = castInto(dense.Values[int32](to), v)
	case dataset.Uint32:
		err = castInto(dense.Values[uint32](to), v)
	case dataset.Int64:
		err = castInto(dense.Values[int64](to), v)
	default:
		err = fmt.Errorf("no conversion of %v to %v", v.Dtype, dt)
	}
	if err == nil {
		v.Dtype, v.Data = dt, to
	}
	return err
}

func castInto[D number](dst []D, v *Volume) error {
	if v.Dtype.IsFloat() {
		return castFloats(dst, v)
	}
	var block [1024]int64
	for at := 0; at < len(dst); at += len(block) {
		n := min(len(block), len(dst)-at)
		if err := copyNumbers(block[:n], v, at); err != nil {
			return err
		}
		to := dst[at : at+n]
		for k, x := range block[:n] {
			to[k] = D(x)
			if int64(to[k]) != x || x < 0 && v.Dtype == dataset.Uint64 {
				return misfit[D](v, at+k, x)
			}
		}
	}
	return nil
}

func castFloats[D number](dst []D, v *Volume) error {
	var block [1024]float64
	for at := 0; at < len(dst); at += len(block) {
		n := min(len(block), len(dst)-at)
		if err := copyNumbers(block[:n], v, at); err != nil {
			return err
		}
		to := dst[at : at+n]
		for k, x := range block[:n] {
			// Beyond ±2⁶² the conversion itself is not defined.
			if !(math.Abs(x) < 1<<62) {
				return misfit[D](v, at+k, x)
			}
			to[k] = D(int64(x))
			if float64(to[k]) != x {
				return misfit[D](v, at+k, x)
			}
		}
	}
	return nil
}

func misfit[D number](v *Volume, at int, x any) error {
	index := make([]int, len(v.Shape))
	for d := len(index) - 1; d >= 0; d-- {
		index[d] = at % v.Shape[d]
		at /= v.Shape[d]
	}
	return fmt.Errorf("voxel %v has the value %v, which %v cannot hold: As sets another dtype", dims(index), x, reflect.TypeFor[D]())
}

// holds reports whether dt can hold the value.
func holds(dt dataset.Dtype, x float64) bool {
	bits := dt.Size() * 8
	switch dt {
	case dataset.Float32, dataset.Float64:
		return true
	case dataset.Int8, dataset.Int16, dataset.Int32, dataset.Int64:
		return x == math.Trunc(x) && x >= -math.Ldexp(1, bits-1) && x < math.Ldexp(1, bits-1)
	}
	return x == math.Trunc(x) && x >= 0 && x < math.Ldexp(1, bits)
}
