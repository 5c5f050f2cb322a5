package dense_test

import (
	"reflect"
	"testing"

	"gorgonia.org/tensor"

	"github.com/penstock-go/penstock/internal/dense"
)

func TestTensorAndValuesShareTheirBytes(t *testing.T) {
	for _, name := range []string{
		"bool", "int", "int8", "int16", "int32", "int64", "uint", "uint8", "uint16", "uint32", "uint64",
		"float32", "float64", "complex64", "complex128", "float16", "bfloat16",
	} {
		dt, err := dense.DtypeNamed(name)
		if err != nil || !dense.Fixed(dt) {
			t.Fatal(name, err)
		}
		if again, err := dense.DtypeOf(dt.Type); err != nil || again != dt {
			t.Errorf("%s: got %v, %v", name, again, err)
		}
		b := dense.Bytes(make([]complex128, 1))[:dt.Size()]
		x := dense.Tensor(dt, tensor.Shape{1}, b)
		if x.Dtype() != dt {
			t.Errorf("%s: got a tensor of %v", name, x.Dtype())
		}
		b[0] = 1
		if reflect.ValueOf(x.Data()).Index(0).IsZero() {
			t.Errorf("%s: the tensor does not share the memory", name)
		}
	}
	if _, err := dense.DtypeNamed("string"); err == nil || dense.Fixed(tensor.String) {
		t.Error("strings have a fixed size")
	}
	if v := dense.Values[int16](nil); v != nil {
		t.Error("values of no bytes")
	}
}
