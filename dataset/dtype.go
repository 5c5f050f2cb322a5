package dataset

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
)

// A Dtype is the type of the values of a field or [Tensor]. The zero Dtype is none.
type Dtype uint8

// The dtypes. [Float16] and [BFloat16] are those of the Go types [F16] and [BF16], [Int] and
// [Uint] have the size of Go's int, and the others have the names of their Go types.
const (
	Bool Dtype = iota + 1
	Int
	Int8
	Int16
	Int32
	Int64
	Uint
	Uint8
	Uint16
	Uint32
	Uint64
	Float16
	BFloat16
	Float32
	Float64
	Complex64
	Complex128
)

// Element is any type that a field may hold.
type Element interface {
	bool | int | int8 | int16 | int32 | int64 |
		uint | uint8 | uint16 | uint32 | uint64 |
		float32 | float64 | complex64 | complex128 | F16 | BF16
}

// dtypes are the Go types and the names of all dtypes.
var dtypes = [...]struct {
	name string
	of   reflect.Type
}{
	Bool:       {"bool", reflect.TypeFor[bool]()},
	Int:        {"int", reflect.TypeFor[int]()},
	Int8:       {"int8", reflect.TypeFor[int8]()},
	Int16:      {"int16", reflect.TypeFor[int16]()},
	Int32:      {"int32", reflect.TypeFor[int32]()},
	Int64:      {"int64", reflect.TypeFor[int64]()},
	Uint:       {"uint", reflect.TypeFor[uint]()},
	Uint8:      {"uint8", reflect.TypeFor[uint8]()},
	Uint16:     {"uint16", reflect.TypeFor[uint16]()},
	Uint32:     {"uint32", reflect.TypeFor[uint32]()},
	Uint64:     {"uint64", reflect.TypeFor[uint64]()},
	Float16:    {"float16", reflect.TypeFor[F16]()},
	BFloat16:   {"bfloat16", reflect.TypeFor[BF16]()},
	Float32:    {"float32", reflect.TypeFor[float32]()},
	Float64:    {"float64", reflect.TypeFor[float64]()},
	Complex64:  {"complex64", reflect.TypeFor[complex64]()},
	Complex128: {"complex128", reflect.TypeFor[complex128]()},
}

// DtypeOf is the dtype of T.
func DtypeOf[T Element]() Dtype {
	dt, _ := dtypeOfType(reflect.TypeFor[T]())
	return dt
}

// dtypeOfType is the dtype of a Go type, or of the underlying type of a defined type.
func dtypeOfType(t reflect.Type) (Dtype, error) {
	for dt := range dtypes {
		if dtypes[dt].of == t {
			return Dtype(dt), nil
		}
	}
	for dt := range dtypes {
		if of := dtypes[dt].of; of != nil && of.Kind() == t.Kind() {
			return Dtype(dt), nil
		}
	}
	return 0, fmt.Errorf("values of type %v, which has no fixed size", t)
}

// ParseDtype is the dtype with that name, such as "float32" or "bfloat16".
func ParseDtype(name string) (Dtype, error) {
	for dt := range dtypes {
		if dt > 0 && dtypes[dt].name == name {
			return Dtype(dt), nil
		}
	}
	return 0, fmt.Errorf("dataset: unknown dtype %q", name)
}

// valid reports whether dt is one of the dtypes.
func (dt Dtype) valid() bool { return dt > 0 && int(dt) < len(dtypes) }

// String is the dtype's name, such as "float32" or "bfloat16".
func (dt Dtype) String() string {
	if !dt.valid() {
		return "of no dtype"
	}
	return dtypes[dt].name
}

// Size is the size of a value in bytes.
func (dt Dtype) Size() int { return int(dt.Type().Size()) }

// Type is the Go type of a value. It panics if dt is no dtype.
func (dt Dtype) Type() reflect.Type {
	if !dt.valid() {
		panic(fmt.Sprintf("dataset: Dtype(%d) is no dtype", uint8(dt)))
	}
	return dtypes[dt].of
}

// IsInteger reports whether values are integers, and not bool.
func (dt Dtype) IsInteger() bool { return dt >= Int && dt <= Uint64 }

// IsFloat reports whether values are real numbers of 16, 32 or 64 bits.
func (dt Dtype) IsFloat() bool { return dt >= Float16 && dt <= Float64 }

// A Shape is the number of elements along each dimension. The last one is contiguous in
// memory. A scalar has no dimensions.
type Shape []int

// Elements is the product of the dimensions: 1 for a scalar.
func (s Shape) Elements() int {
	n := 1
	for _, d := range s {
		n *= d
	}
	return n
}

// String prints the shape as "(3, 224, 224)".
func (s Shape) String() string {
	dims := make([]string, len(s))
	for i, d := range s {
		dims[i] = fmt.Sprint(d)
	}
	return "(" + strings.Join(dims, ", ") + ")"
}

// with is the shape with a first dimension of n.
func (s Shape) with(n int) Shape { return slices.Concat(Shape{n}, s) }
