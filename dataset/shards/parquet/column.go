package parquet

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math"

	pq "github.com/parquet-go/parquet-go"

	"github.com/penstock-go/penstock/dataset"
)

// A Column says how a field is written. [Image], [Binary], [Text], [ClassLabel] and
// [Numbers] make one.
type Column struct {
	field, name string
	kind        columnKind
	classes     []string
}

type columnKind int

const (
	imageColumn columnKind = iota + 1
	binaryColumn
	textColumn
	classColumn
	numberColumn
)

// Image writes a ragged uint8 field, an encoded image, as Hugging Face's datasets stores
// its Image: a structure of bytes and path. [Paths] gives the paths.
func Image(field, name string) Column { return Column{field: field, name: name, kind: imageColumn} }

// Binary writes a ragged uint8 field as it is.
func Binary(field, name string) Column { return Column{field: field, name: name, kind: binaryColumn} }

// Text writes a ragged uint8 field as a text: it should be UTF-8.
func Text(field, name string) Column { return Column{field: field, name: name, kind: textColumn} }

// ClassLabel writes an integer field with the names of its classes, which [Classes] and
// Hugging Face's datasets read.
func ClassLabel(field, name string, classes []string) Column {
	return Column{field: field, name: name, kind: classColumn, classes: classes}
}

// Numbers writes a field of numbers or bools: a scalar as it is, and an array or a ragged
// field as lists. float16 and bfloat16 cannot be written.
func Numbers(field, name string) Column { return Column{field: field, name: name, kind: numberColumn} }

// A number is how numbers of a dtype are written.
type number struct {
	node    func() pq.Node
	value   func(cell []byte) pq.Value
	feature string // dtype of Hugging Face's datasets
}

func numberOf(dt dataset.Dtype) (n number, ok bool) {
	size := dt.Size()
	switch {
	case dt == dataset.Bool:
		return number{func() pq.Node { return pq.Leaf(pq.BooleanType) }, func(c []byte) pq.Value { return pq.BooleanValue(c[0] != 0) }, "bool"}, true
	case dt == dataset.Float32:
		return number{func() pq.Node { return pq.Leaf(pq.FloatType) }, func(c []byte) pq.Value {
			return pq.FloatValue(math.Float32frombits(binary.NativeEndian.Uint32(c)))
		}, "float32"}, true
	case dt == dataset.Float64:
		return number{func() pq.Node { return pq.Leaf(pq.DoubleType) }, func(c []byte) pq.Value {
			return pq.DoubleValue(math.Float64frombits(binary.NativeEndian.Uint64(c)))
		}, "float64"}, true
	case !dt.IsInteger():
		return n, false
	}
	signed := dt.String()[0] == 'i'
	n.feature = fmt.Sprintf("uint%d", 8*size)
	n.node = func() pq.Node { return pq.Uint(8 * size) }
	if signed {
		n.feature = n.feature[1:]
		n.node = func() pq.Node { return pq.Int(8 * size) }
	}
	n.value = func(c []byte) pq.Value {
		v := integer(c, signed)
		if size == 8 {
			return pq.Int64Value(v)
		}
		return pq.Int32Value(int32(v))
	}
	return n, true
}

// integer is the integer in a cell of 1, 2, 4 or 8 bytes.
func integer(c []byte, signed bool) int64 {
	var v uint64
	switch len(c) {
	case 1:
		v = uint64(c[0])
	case 2:
		v = uint64(binary.NativeEndian.Uint16(c))
	case 4:
		v = uint64(binary.NativeEndian.Uint32(c))
	default:
		v = binary.NativeEndian.Uint64(c)
	}
	if shift := 64 - 8*len(c); signed {
		return int64(v<<shift) >> shift
	}
	return int64(v)
}

// A written is a Column of a spec.
type written struct {
	Column
	of     dataset.Field
	number number
	dims   []int // of the lists around a number, the outermost first; -1 if it varies
	leaf   int   // its number in the file
	path   int   // that of an image's path
}

// columnsFor checks the columns.
func columnsFor(spec dataset.Spec, columns []Column) ([]written, error) {
	errs := []error{spec.Validate()}
	if len(columns) == 0 {
		errs = append(errs, errors.New("no columns"))
	}
	var list []written
	seen := map[string]bool{"": true}
	for _, c := range columns {
		k := spec.Index(c.field)
		if k < 0 {
			errs = append(errs, fmt.Errorf("column %q: no field %q, only %v", c.name, c.field, spec))
			continue
		}
		if seen[c.name] {
			errs = append(errs, fmt.Errorf("column %q: want a name that no other column has", c.name))
		}
		seen[c.name] = true
		w := written{Column: c, of: spec[k]}
		if err := w.check(); err != nil {
			errs = append(errs, fmt.Errorf("column %q: field %v: %w", c.name, spec[k], err))
		}
		list = append(list, w)
	}
	return list, errors.Join(errs...)
}

func (w *written) check() error {
	f := w.of
	switch w.kind {
	case imageColumn, binaryColumn, textColumn:
		if !f.Ragged || f.Dtype != dataset.Uint8 || f.Shape != nil {
			return errors.New("want a ragged field of uint8 without a shape")
		}
		return nil
	case classColumn:
		if f.Ragged || f.Shape != nil || !f.Dtype.IsInteger() {
			return errors.New("want one integer")
		}
	case numberColumn:
	default:
		return errors.New("the zero Column says nothing")
	}
	var ok bool
	if w.number, ok = numberOf(f.Dtype); !ok {
		return fmt.Errorf("numbers of %s cannot be written", f.Dtype)
	}
	if w.kind == classColumn { // as datasets stores them
		signed := f.Dtype.String()[0] == 'i'
		w.number = number{func() pq.Node { return pq.Leaf(pq.Int64Type) }, func(c []byte) pq.Value { return pq.Int64Value(integer(c, signed)) }, "int64"}
	}
	if f.Ragged {
		w.dims = append(w.dims, -1)
	}
	for _, d := range f.Shape {
		if d < 1 {
			return errors.New("want no dimension of 0")
		}
		w.dims = append(w.dims, d)
	}
	return nil
}

// node is the column in the schema. Images are not compressed, because they are already.
// Everything may be null: Hugging Face's datasets ignores the features of columns that may
// not.
func (w *written) node() pq.Node {
	switch w.kind {
	case imageColumn:
		return pq.Optional(pq.Group{"bytes": leafNode(pq.Leaf(pq.ByteArrayType), false), "path": leafNode(pq.String(), true)})
	case binaryColumn:
		return leafNode(pq.Leaf(pq.ByteArrayType), false)
	case textColumn:
		return leafNode(pq.String(), true)
	}
	n := leafNode(w.number.node(), true)
	for range w.dims {
		n = pq.Optional(pq.List(n))
	}
	return n
}

// leafNode stores values in the encoding that every reader knows.
func leafNode(n pq.Node, compressed bool) pq.Node {
	n = pq.Encoded(n, &pq.Plain)
	if compressed {
		n = pq.Compressed(n, &pq.Snappy)
	}
	return pq.Optional(n)
}

// definition is the level of a value: it counts what may be null, and the lists.
func (w *written) definition() int {
	if w.kind == imageColumn {
		return 2
	}
	return 2*len(w.dims) + 1
}

// leafPath is the path of the leaf in the schema.
func (w *written) leafPath() []string {
	path := []string{w.name}
	if w.kind == imageColumn {
		return append(path, "bytes")
	}
	for range w.dims {
		path = append(path, "list", "element")
	}
	return path
}

// A feature describes a column to Hugging Face's datasets.
type feature struct {
	Dtype   string   `json:"dtype,omitempty"`
	Names   []string `json:"names,omitempty"`
	Feature *feature `json:"feature,omitempty"`
	Length  int      `json:"length,omitempty"`
	Type    string   `json:"_type"`
}

func (w *written) feature() feature {
	switch w.kind {
	case imageColumn:
		return feature{Type: "Image"}
	case binaryColumn:
		return feature{Dtype: "binary", Type: "Value"}
	case textColumn:
		return feature{Dtype: "string", Type: "Value"}
	case classColumn:
		return feature{Names: w.classes, Type: "ClassLabel"}
	}
	f := feature{Dtype: w.number.feature, Type: "Value"}
	for k := len(w.dims) - 1; k >= 0; k-- {
		inner := f
		f = feature{Feature: &inner, Length: max(w.dims[k], 0), Type: "List"}
	}
	return f
}

// features is the metadata of Hugging Face's datasets.
func features(columns []written) ([]byte, error) {
	all := map[string]feature{}
	for k := range columns {
		all[columns[k].name] = columns[k].feature()
	}
	return json.Marshal(map[string]any{"info": map[string]any{"features": all}})
}
