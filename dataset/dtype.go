package dataset

import (
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"unsafe"

	"github.com/penstock-go/penstock/internal/dense"
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

// F16 is a number of IEEE 754's binary16, float16, as bits: 5 bits of exponent and 10
// of fraction. The greatest finite one is 65504. It is torch.float16. Arithmetic
// is done in float32: convert, compute, convert back.
type F16 uint16

// BF16 is the upper half of a float32, bfloat16, as bits: 8 bits of exponent and 7 of
// fraction. It is torch.bfloat16.
type BF16 uint16

// ToF16 is x rounded to the nearest F16, ties to even, as torch does.
// Numbers from 65520 on become infinite. A NaN stays a NaN, and becomes quiet.
func ToF16(x float32) F16 {
	b := math.Float32bits(x)
	sign, b := F16(b>>16&0x8000), b&0x7fffffff
	switch {
	case b > 0x7f800000: // not a number
		return sign | 0x7e00 | F16(b>>13&0x1ff)
	case b >= 0x477ff000: // 65520 and more
		return sign | 0x7c00
	case b < 0x38800000: // below 2⁻¹⁴ the spacing is that of 0.5: adding rounds
		return sign | F16(math.Float32bits(math.Float32frombits(b)+0.5)-math.Float32bits(0.5))
	}
	b += 0xfff + b>>13&1
	return sign | F16(b>>13-(127-15)<<10)
}

// Float32 is the same number.
func (h F16) Float32() float32 {
	sign, rest := uint32(h&0x8000)<<16, uint32(h&0x7fff)
	if rest >= 0x7c00 { // infinite or not a number
		return math.Float32frombits(sign | 0x7f800000 | rest<<13)
	}
	// The exponent's bias differs by 112. Multiplying also normalises what is below 2⁻¹⁴.
	const twoTo112 = 1 << 112
	return math.Float32frombits(sign | math.Float32bits(math.Float32frombits(rest<<13)*twoTo112))
}

// String prints the number.
func (h F16) String() string { return text(h.Float32()) }

// ToBF16 is x rounded to the nearest BF16, ties to even, as torch does.
// A NaN stays a NaN, and becomes quiet.
func ToBF16(x float32) BF16 {
	b := math.Float32bits(x)
	if b&0x7fffffff > 0x7f800000 {
		return BF16(b>>16 | 0x40)
	}
	return BF16((b + 0x7fff + b>>16&1) >> 16)
}

// Float32 is the same number.
func (h BF16) Float32() float32 { return math.Float32frombits(uint32(h) << 16) }

// String prints the number.
func (h BF16) String() string { return text(h.Float32()) }

func text(x float32) string { return strconv.FormatFloat(float64(x), 'g', -1, 32) }

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
