package dense

import (
	"fmt"
	"reflect"
	"strings"

	"gorgonia.org/tensor"

	"github.com/penstock-go/penstock/dataset/half"
)

// dtypes are the dtypes of [Element].
var dtypes = []tensor.Dtype{
	tensor.Bool, tensor.Int, tensor.Int8, tensor.Int16, tensor.Int32, tensor.Int64,
	tensor.Uint, tensor.Uint8, tensor.Uint16, tensor.Uint32, tensor.Uint64,
	tensor.Float32, tensor.Float64, tensor.Complex64, tensor.Complex128,
	half.Float16Dtype, half.BFloat16Dtype,
}

// Fixed reports whether values of the dtype have a fixed size, so that memory
// can hold them one after the other.
func Fixed(dt tensor.Dtype) bool {
	for _, known := range dtypes {
		if dt == known {
			return true
		}
	}
	return false
}

// DtypeOf is the dtype of a Go type, or of the underlying type of a defined type.
func DtypeOf(t reflect.Type) (tensor.Dtype, error) {
	for _, dt := range dtypes {
		if dt.Type == t {
			return dt, nil
		}
	}
	for _, dt := range dtypes {
		if dt.Kind() == t.Kind() {
			return dt, nil
		}
	}
	return tensor.Dtype{}, fmt.Errorf("values of type %v, which has no fixed size", t)
}

// Name is the dtype's name in lower case, such as "float32" or "bfloat16".
func Name(dt tensor.Dtype) string {
	if dt.Type == nil {
		return "of no dtype"
	}
	return strings.ToLower(dt.Name())
}

// DtypeNamed is the dtype of that name, which [Name] gives.
func DtypeNamed(name string) (tensor.Dtype, error) {
	for _, dt := range dtypes {
		if Name(dt) == name {
			return dt, nil
		}
	}
	return tensor.Dtype{}, fmt.Errorf("unknown dtype %q", name)
}

// IsFloat reports whether values of the dtype are float32 or float64.
func IsFloat(dt tensor.Dtype) bool { return dt == tensor.Float32 || dt == tensor.Float64 }

// IsInteger reports whether values of the dtype are integers.
func IsInteger(dt tensor.Dtype) bool {
	return dt.Kind() >= reflect.Int && dt.Kind() <= reflect.Uint64 && dt != half.Float16Dtype && dt != half.BFloat16Dtype
}
