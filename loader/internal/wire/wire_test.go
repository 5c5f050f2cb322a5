package wire_test

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/internal/hostile"
	"github.com/penstock-go/penstock/loader/internal/wire"
)

func TestAHeaderIsReadAsItWasWritten(t *testing.T) {
	want := &wire.Header{
		Tensors: []wire.Tensor{{"label", "I64", []int{3}, 24}, {"a \"name\"", "U8", []int{0, 2}, 0}, {"text", "U8", []int{5}, 5}},
		Texts:   map[string]string{"epoch": "7"},
	}
	b, err := want.Marshal()
	if err != nil || len(b)%8 != 0 {
		t.Fatalf("%d bytes, %v", len(b), err)
	}
	got, err := wire.ReadHeader(bytes.NewReader(b))
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, %v, want %+v", got, err, want)
	}
	for n := range b {
		if _, err := wire.ReadHeader(bytes.NewReader(b[:n])); err == nil {
			t.Errorf("no error for %d of %d bytes", n, len(b))
		}
	}
}

func TestAPlanOfAnyDtypeIsReadAsItWasWritten(t *testing.T) {
	spec := dataset.Spec{{Name: "bool", Dtype: dataset.Bool}, {Name: "half", Dtype: dataset.Float16, Shape: dataset.Shape{2, 3}},
		{Name: "brain", Dtype: dataset.BFloat16}, {Name: "int", Dtype: dataset.Int}, {Name: "text", Dtype: dataset.Uint8, Ragged: true},
		{Name: "boxes", Dtype: dataset.Float32, Shape: dataset.Shape{4}, Ragged: true, Kind: dataset.BoxesXYWH},
		{Name: "label", Dtype: dataset.Int64, Ragged: true, Of: "boxes"}}
	fields, err := wire.Fields(spec)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := wire.Spec(fields); err != nil || !slices.EqualFunc(got, spec, func(a, b dataset.Field) bool {
		return a.String() == b.String() && a.Kind == b.Kind && a.Of == b.Of
	}) {
		t.Errorf("got %v, %v, want %v, with their kinds", got, err, spec)
	}
}

func TestFieldsThatSafetensorsCannotHoldAreErrors(t *testing.T) {
	for _, spec := range []dataset.Spec{
		{{Name: "indices", Dtype: dataset.Int64}},
		{{Name: "__metadata__", Dtype: dataset.Int64}},
		{{Name: "x", Dtype: dataset.Uint8, Ragged: true}, {Name: "x.offsets", Dtype: dataset.Int64}},
		{{Name: "x", Dtype: dataset.Complex128}},
	} {
		if _, err := wire.Fields(spec); err == nil {
			t.Errorf("no error for %v", spec)
		}
	}
}

// manyTensors is the header of n tensors in as few bytes as there may be.
func manyTensors(n int) []byte {
	text := `{"":{}` + strings.Repeat(`,"":{}`, n-1) + "}"
	return append(binary.LittleEndian.AppendUint64(nil, uint64(len(text))), text...)
}

// plans are answers about plans that are short for what is in them.
func plans(n int) map[string]string {
	list := func(entry string) string {
		return `{"version":1,"fields":[` + entry + strings.Repeat(","+entry, n-1) + "]}"
	}
	named := make([]string, n)
	for i := range named {
		named[i] = fmt.Sprintf(`{"name":"%d","dtype":"int8"}`, i)
	}
	return map[string]string{
		"empty fields":    list("{}"),
		"fields by null":  list("null"),
		"equal names":     list(`{"name":"x","dtype":"int8"}`),
		"no names":        list(`{"dtype":"int8"}`),
		"different names": `{"version":1,"fields":[` + strings.Join(named, ",") + "]}",
		"a long shape":    `{"fields":[{"name":"x","dtype":"int8","shape":[1` + strings.Repeat(",1", n) + `]}]}`,
		"many plans":      `{"fields":[` + strings.Repeat(`],"fields":[`, n) + "]}",
	}
}

func readPlan(text []byte) (p wire.Plan, spec dataset.Spec, err error) {
	if err = json.Unmarshal(text, &p); err == nil {
		p.Hash()
		spec, err = wire.Spec(p.Fields)
	}
	return p, spec, err
}

func TestManyFieldsTakeLittle(t *testing.T) {
	for name, text := range plans(30_000) {
		hostile.Bounded(t, len(text), 0, func() {
			if _, spec, err := readPlan([]byte(text)); (err == nil) != (len(spec) == 30_000 || name == "a long shape") {
				t.Errorf("%s: %d fields, %v", name, len(spec), err)
			}
		})
	}
	many := manyTensors(170_000)
	hostile.Bounded(t, len(many), 0, func() {
		if h, err := wire.ReadHeader(bytes.NewReader(many)); err == nil && len(h.Tensors) != 170_000 {
			t.Errorf("%d tensors", len(h.Tensors))
		}
	})
}

func FuzzPlan(f *testing.F) {
	for _, text := range plans(3) {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		var p wire.Plan
		var spec dataset.Spec
		var err error
		hostile.Bounded(t, len(text), 0, func() { p, spec, err = readPlan(text) })
		if err != nil {
			return
		}
		again, err := wire.Fields(spec)
		if err != nil {
			t.Fatalf("%v: %v", spec, err)
		}
		if got, err := wire.Spec(again); err != nil || got.String() != spec.String() || len(spec) != len(p.Fields) {
			t.Errorf("%s was read as %v, then as %v, %v", text, spec, got, err)
		}
	})
}

func FuzzHeader(f *testing.F) {
	h := wire.Header{Tensors: []wire.Tensor{{"x", "F32", []int{2}, 8}}, Texts: map[string]string{"epoch": "1"}}
	b, _ := h.Marshal()
	f.Add(b)
	f.Add(manyTensors(100))
	f.Fuzz(func(t *testing.T, b []byte) {
		var h *wire.Header
		var err error
		// A length is believed up to 1 MiB.
		hostile.Bounded(t, len(b), 1<<20, func() { h, err = wire.ReadHeader(bytes.NewReader(b)) })
		if err != nil {
			return
		}
		again, err := h.Marshal()
		if err != nil {
			t.Fatal(err)
		}
		if got, err := wire.ReadHeader(bytes.NewReader(again)); err != nil || got.Bytes() != h.Bytes() || len(got.Tensors) != len(h.Tensors) {
			t.Errorf("%q was read as %+v, then as %+v, %v", b, h, got, err)
		}
	})
}

func TestTheHashCoversEverythingInThePlan(t *testing.T) {
	p := wire.Plan{Fields: []wire.Field{{Name: "x", Dtype: "float32", Shape: []int{2}}}}
	base := p.Hash()
	wantOther := func(of reflect.Value, name string) {
		old := reflect.New(of.Type()).Elem()
		old.Set(of)
		switch of.Kind() {
		case reflect.String:
			of.SetString("other")
		case reflect.Int:
			of.SetInt(7)
		case reflect.Uint64, reflect.Uint8:
			of.SetUint(7)
		case reflect.Bool:
			of.SetBool(true)
		default:
			of.SetZero()
		}
		if same := p.Hash() == base; same != (name == "Plan") {
			t.Errorf("%s: the hash stays the same: %t", name, same)
		}
		of.Set(old)
	}
	for v := range 2 { // the plan, and its field
		of := reflect.ValueOf(&p).Elem()
		if v == 1 {
			of = reflect.ValueOf(&p.Fields[0]).Elem()
		}
		for i := range of.NumField() {
			wantOther(of.Field(i), of.Type().Field(i).Name)
		}
	}
}
