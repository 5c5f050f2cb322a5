package dataset_test

import (
	"reflect"
	"testing"
	"unsafe"

	"github.com/penstock-go/penstock/dataset"
)

func TestEveryDtypeHasANameASizeAndAGoType(t *testing.T) {
	for _, name := range []string{
		"bool", "int", "int8", "int16", "int32", "int64", "uint", "uint8", "uint16", "uint32", "uint64",
		"float32", "float64", "complex64", "complex128", "float16", "bfloat16",
	} {
		dt, err := dataset.ParseDtype(name)
		if err != nil || dt.String() != name || dt.Size() != int(dt.Type().Size()) {
			t.Errorf("%s: got %v of %d bytes, %v", name, dt, dt.Size(), err)
			continue
		}
		b := unsafe.Slice((*byte)(unsafe.Pointer(new([2]uint64))), dt.Size())
		x := dataset.NewTensor(dt, dataset.Shape{1}, b)
		b[0] = 1
		if v := reflect.ValueOf(x.Data()); v.Type().Elem() != dt.Type() || v.Len() != 1 || v.Index(0).IsZero() {
			t.Errorf("%s: Data is %v, a %T, after the first byte became 1", name, x.Data(), x.Data())
		}
	}
	for _, name := range []string{"", "string", "of no dtype", "float8"} {
		if dt, err := dataset.ParseDtype(name); err == nil || dt != 0 {
			t.Errorf("%q is the dtype %v", name, dt)
		}
	}
}

func TestIntegersAndFloatsAreToldApart(t *testing.T) {
	for dt := dataset.Bool; dt <= dataset.Complex128; dt++ {
		switch dt {
		case dataset.Bool, dataset.Complex64, dataset.Complex128:
			if dt.IsInteger() || dt.IsFloat() {
				t.Errorf("%v is a number of one part", dt)
			}
		case dataset.Float16, dataset.BFloat16, dataset.Float32, dataset.Float64:
			if dt.IsInteger() || !dt.IsFloat() {
				t.Errorf("%v is no float", dt)
			}
		default:
			if !dt.IsInteger() || dt.IsFloat() {
				t.Errorf("%v is no integer", dt)
			}
		}
	}
}

func TestTensorsOfAnotherSizeOrDtypePanic(t *testing.T) {
	x := dataset.TensorOf([]float32{1, 2, 3, 4, 5, 6}, 2, 3)
	for name, f := range map[string]func(){
		"TensorOf":      func() { dataset.TensorOf([]float32{1, 2}, 3) },
		"NewTensor":     func() { dataset.NewTensor(dataset.Int64, dataset.Shape{2}, make([]byte, 8)) },
		"no dtype":      func() { dataset.NewTensor(0, nil, nil) },
		"another dtype": func() { dataset.ValuesOf[int32](x) },
		"F16 as uint16": func() { dataset.ValuesOf[uint16](dataset.TensorOf([]dataset.F16{1})) },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: no panic", name)
				}
			}()
			f()
		}()
	}
	if got := dataset.ValuesOf[float32](x); len(got) != 6 || &got[0] != unsafe.SliceData(dataset.ValuesOf[float32](x)) {
		t.Errorf("got %v", got)
	}
	if empty := dataset.TensorOf([]int64{}, 0, 4); len(empty.Data().([]int64)) != 0 || empty.String() != "[]" {
		t.Errorf("an empty tensor is %v with %v", empty, empty.Data())
	}
}
