package parquet

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/bits"
	"slices"
	"strings"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/internal/budget"
)

// A schema describes the columns. It is the Schema of shards, as JSON.
type schema struct {
	Leaves  []leaf              `json:"columns"`
	Classes map[string][]string `json:"classes,omitempty"` // by column
}

// A leaf is a column with values.
type leaf struct {
	Name       string `json:"name"`
	Physical   int    `json:"physical"`
	Length     int    `json:"length,omitempty"` // bytes of a value of fixed size
	Type       string `json:"type,omitempty"`   // in types
	Definition int    `json:"definition"`       // level of values that are not null
	// Repeated has the definition level of the elements of each list around a value, the
	// outermost first.
	Repeated []int  `json:"repeated,omitempty"`
	Error    string `json:"error,omitempty"` // why it cannot be read

	dtype dataset.Dtype // of Type, once it was checked
}

// types are the dtypes of columns, by their names in a schema.
var types = map[string]dataset.Dtype{
	"bytes": dataset.Uint8, "bool": dataset.Bool,
	"int8": dataset.Int8, "int16": dataset.Int16, "int32": dataset.Int32, "int64": dataset.Int64,
	"uint8": dataset.Uint8, "uint16": dataset.Uint16, "uint32": dataset.Uint32, "uint64": dataset.Uint64,
	"float16": dataset.Float16, "float32": dataset.Float32, "float64": dataset.Float64,
}

// The converted and logical types that matter.
const (
	convertedList    = 3
	convertedDecimal = 5
	convertedUint8   = 11 // and on: the unsigned ones, then the signed ones
	convertedInt64   = 18
	logicalList      = 3
	logicalDecimal   = 5
	logicalInteger   = 10
	logicalFloat16   = 15
)

const maxDepth = 64 // of the schema

// parseSchema finds the leaves of a footer, whose budget b is.
func parseSchema(f *footer, b *budget.Budget) (*schema, error) {
	if len(f.elements) == 0 || f.elements[0].physical >= 0 {
		return nil, errors.New("no schema")
	}
	s := &schema{}
	p := &schemaParser{elements: f.elements[1:], schema: s, budget: b}
	for range f.elements[0].children {
		if err := p.node(nil, 0, nil, 0); err != nil {
			return nil, err
		}
	}
	if len(p.elements) > 0 || len(s.Leaves) == 0 {
		return nil, errors.New("the schema is no tree of columns")
	}
	var err error
	s.Classes, err = classes(f.features, b)
	return s, err
}

type schemaParser struct {
	elements []element // that follow
	schema   *schema
	budget   *budget.Budget
}

// node reads an element and those below it. path has the names above, without those
// that only serve lists.
func (p *schemaParser) node(path []string, definition int, lists []int, depth int) error {
	if len(p.elements) == 0 || depth > maxDepth {
		return errors.New("the schema is no tree of columns")
	}
	e := p.elements[0]
	p.elements = p.elements[1:]
	switch e.repetition {
	case required:
	case optional:
		definition++
	case repeated:
		definition++
		lists = append(slices.Clip(lists), definition)
	default:
		return fmt.Errorf("column %.100q: the repetition %d is not known", e.name, e.repetition)
	}
	if e.name != "" {
		path = append(slices.Clip(path), e.name)
	}
	// Columns of one group repeat its path, here and in the schema that is saved.
	taken := 16 * len(path)
	for _, name := range path {
		taken += 8 * len(name)
	}
	if err := p.budget.Memory(int64(taken)); err != nil {
		return fmt.Errorf("column %.100q: %w", e.name, err)
	}
	if e.physical >= 0 {
		p.schema.Leaves = append(p.schema.Leaves, newLeaf(&e, path, definition, lists))
		return nil
	}
	if (e.converted == convertedList || e.logical == logicalList) && e.children == 1 {
		p.unname()
	}
	for range e.children {
		if err := p.node(path, definition, lists, depth+1); err != nil {
			return err
		}
	}
	return nil
}

// unname takes away the names of the next element, the list within a list's column, and of
// its only child, the element of the list.
func (p *schemaParser) unname() {
	if len(p.elements) == 0 || p.elements[0].repetition != repeated {
		return
	}
	list := &p.elements[0]
	list.name = ""
	if list.physical < 0 && list.children == 1 && len(p.elements) > 1 {
		p.elements[1].name = ""
	}
}

func newLeaf(e *element, path []string, definition int, lists []int) leaf {
	l := leaf{Name: strings.Join(path, "."), Physical: e.physical, Length: e.length, Definition: definition, Repeated: lists}
	switch {
	case e.converted == convertedDecimal || e.logical == logicalDecimal:
		l.Error = "decimal numbers are not supported"
	case e.physical == boolean:
		l.Type = "bool"
	case e.physical == int32Type || e.physical == int64Type:
		l.Type = integerType(e)
	case e.physical == int96Type:
		l.Error = "INT96, an old type of timestamps, is not supported"
	case e.physical == floatType:
		l.Type = "float32"
	case e.physical == doubleType:
		l.Type = "float64"
	case e.physical == fixedLen && e.logical == logicalFloat16 && e.length == 2:
		l.Type = "float16"
	case e.physical == byteArray || e.physical == fixedLen && e.length > 0:
		l.Type = "bytes"
	default:
		l.Error = fmt.Sprintf("the type %d is not known", e.physical)
	}
	if l.Type == "bytes" && len(lists) > 0 {
		l.Error = "lists of texts or files are not supported"
	}
	if definition > 255 || len(lists) > 255 {
		l.Error = "it is nested too deeply"
	}
	return l
}

func integerType(e *element) string {
	size, signed := 32, true
	if e.physical == int64Type {
		size = 64
	}
	switch {
	case e.logical == logicalInteger && e.bits >= 8 && e.bits <= size && bits.OnesCount(uint(e.bits)) == 1:
		size, signed = e.bits, e.signed
	case e.logical == 0 && e.converted >= convertedUint8 && e.converted <= convertedInt64:
		k := e.converted - convertedUint8
		size, signed = min(size, 8<<(k%4)), k >= 4
	}
	if signed {
		return fmt.Sprintf("int%d", size)
	}
	return fmt.Sprintf("uint%d", size)
}

// width is the number of bytes of a stored value, or -1 if they vary.
func (l *leaf) width() int {
	switch l.Physical {
	case int32Type, floatType:
		return 4
	case int64Type, doubleType:
		return 8
	case fixedLen:
		return l.Length
	case boolean:
		return 1
	}
	return -1
}

// check is for a schema that was saved.
func (s *schema) check() error {
	for k := range s.Leaves {
		l := &s.Leaves[k]
		dtype, ok := types[l.Type]
		if l.Error != "" {
			continue
		}
		l.dtype = dtype
		last := 0
		for _, d := range l.Repeated {
			ok = ok && d > last
			last = d
		}
		wide := l.width()
		if !ok || last > l.Definition || l.Definition > 255 || l.Physical < 0 || l.Physical > fixedLen || l.Type == "bytes" && len(l.Repeated) > 0 ||
			l.Type != "bytes" && wide < dtype.Size() || wide == 0 || wide > maxFixed {
			return fmt.Errorf("column %.100q: the description is wrong", l.Name)
		}
	}
	return nil
}

const maxFixed = 1 << 30 // bytes of a value of fixed size

// classes finds the names of classes in the features of Hugging Face's datasets.
func classes(features []byte, b *budget.Budget) (map[string][]string, error) {
	var metadata struct {
		Info struct {
			Features map[string]any `json:"features"`
		} `json:"info"`
	}
	if len(features) == 0 || json.Unmarshal(features, &metadata) != nil {
		return nil, nil // another program's key
	}
	found := map[string][]string{}
	for name, feature := range metadata.Info.Features {
		if err := findClasses(found, name, feature, b); err != nil {
			return nil, fmt.Errorf("features: %w", err)
		}
	}
	return found, nil
}

// findClasses reads one feature: a ClassLabel, a list, or a structure of features.
func findClasses(found map[string][]string, path string, feature any, b *budget.Budget) error {
	fields, ok := feature.(map[string]any)
	if !ok {
		return nil
	}
	if err := b.Enter(); err != nil {
		return err
	}
	defer b.Leave()
	switch kind, _ := fields["_type"].(string); kind {
	case "ClassLabel":
		list, _ := fields["names"].([]any)
		names := make([]string, 0, len(list))
		for _, name := range list {
			text, ok := name.(string)
			if !ok {
				return nil
			}
			names = append(names, text)
		}
		found[path] = names
	case "":
		for name, feature := range fields {
			if err := b.Memory(int64(len(path) + len(name) + 1)); err != nil {
				return err
			}
			if err := findClasses(found, path+"."+name, feature, b); err != nil {
				return err
			}
		}
	default:
		return findClasses(found, path, fields["feature"], b)
	}
	return nil
}
