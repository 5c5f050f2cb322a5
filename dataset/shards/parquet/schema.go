package parquet

import (
	"errors"
	"fmt"
	"math/bits"
	"slices"
	"strings"

	"github.com/parquet-go/parquet-go/deprecated"
	"github.com/parquet-go/parquet-go/format"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/dataset/shards/internal/shardfmt"
	"github.com/penstock-go/penstock/internal/budget"
)

// A schema describes the columns. It is the Schema of shards, as JSON.
type schema struct {
	Leaves  []leaf              `json:"columns"`
	Classes map[string][]string `json:"classes,omitempty"` // by column
}

// A leaf is a column with values.
type leaf struct {
	Name       string      `json:"name"`
	Physical   format.Type `json:"physical"`
	Length     int         `json:"length,omitempty"` // bytes of a value of fixed size
	Type       string      `json:"type,omitempty"`   // in types
	Definition int         `json:"definition"`       // level of values that are not null
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

const maxDepth = 64 // of the schema

// parseSchema finds the leaves of a file's metadata, whose budget b is.
func parseSchema(meta *format.FileMetaData, b *budget.Budget) (*schema, error) {
	if len(meta.Schema) == 0 || meta.Schema[0].Type.Valid {
		return nil, errors.New("no schema")
	}
	s := &schema{}
	p := &schemaParser{elements: meta.Schema[1:], schema: s, budget: b}
	for range meta.Schema[0].NumChildren.V {
		if err := p.node(nil, 0, nil, 0); err != nil {
			return nil, err
		}
	}
	if len(p.elements) > 0 || len(s.Leaves) == 0 {
		return nil, errors.New("the schema is no tree of columns")
	}
	var err error
	s.Classes, err = shardfmt.Classes(described(meta), b)
	return s, err
}

type schemaParser struct {
	elements []format.SchemaElement // that follow
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
	switch e.RepetitionType.V {
	case format.Required:
	case format.Optional:
		definition++
	case format.Repeated:
		definition++
		lists = append(slices.Clip(lists), definition)
	default:
		return fmt.Errorf("column %.100q: the repetition %d is not known", e.Name, e.RepetitionType.V)
	}
	if e.Name != "" {
		path = append(slices.Clip(path), e.Name)
	}
	// Columns of one group repeat its path, here and in the schema that is saved.
	taken := 16 * len(path)
	for _, name := range path {
		taken += 8 * len(name)
	}
	if err := p.budget.Memory(int64(taken)); err != nil {
		return fmt.Errorf("column %.100q: %w", e.Name, err)
	}
	if e.Type.Valid {
		if len(path) == 0 {
			return errors.New("a column without a name")
		}
		p.schema.Leaves = append(p.schema.Leaves, newLeaf(&e, path, definition, lists))
		return nil
	}
	if isList(&e) && e.NumChildren.V == 1 {
		p.unname()
	}
	for range e.NumChildren.V {
		if err := p.node(path, definition, lists, depth+1); err != nil {
			return err
		}
	}
	return nil
}

func isList(e *format.SchemaElement) bool {
	_, ok := e.LogicalType.Value.(*format.ListType)
	return ok || e.ConvertedType.Valid && e.ConvertedType.V == deprecated.List
}

// unname takes away the names of the next element, the list within a list's column, and of
// its only child, the element of the list.
func (p *schemaParser) unname() {
	if len(p.elements) == 0 || p.elements[0].RepetitionType.V != format.Repeated {
		return
	}
	list := &p.elements[0]
	list.Name = ""
	if !list.Type.Valid && list.NumChildren.V == 1 && len(p.elements) > 1 {
		p.elements[1].Name = ""
	}
}

func newLeaf(e *format.SchemaElement, path []string, definition int, lists []int) leaf {
	l := leaf{Name: strings.Join(path, "."), Physical: e.Type.V, Length: int(e.TypeLength.V), Definition: definition, Repeated: lists}
	_, decimal := e.LogicalType.Value.(*format.DecimalType)
	_, half := e.LogicalType.Value.(*format.Float16Type)
	switch {
	case decimal || e.ConvertedType.Valid && e.ConvertedType.V == deprecated.Decimal:
		l.Error = "decimal numbers are not supported"
	case l.Physical == format.Boolean:
		l.Type = "bool"
	case l.Physical == format.Int32 || l.Physical == format.Int64:
		l.Type = integerType(e)
	case l.Physical == format.Int96:
		l.Error = "INT96, an old type of timestamps, is not supported"
	case l.Physical == format.Float:
		l.Type = "float32"
	case l.Physical == format.Double:
		l.Type = "float64"
	case l.Physical == format.FixedLenByteArray && half && l.Length == 2:
		l.Type = "float16"
	case l.Physical == format.ByteArray || l.Physical == format.FixedLenByteArray && l.Length > 0:
		l.Type = "bytes"
	default:
		l.Error = fmt.Sprintf("the type %d is not known", l.Physical)
	}
	if l.Type == "bytes" && len(lists) > 0 {
		l.Error = "lists of texts or files are not supported"
	}
	return l
}

func integerType(e *format.SchemaElement) string {
	size, signed := 32, true
	if e.Type.V == format.Int64 {
		size = 64
	}
	logical, ok := e.LogicalType.Value.(*format.IntType)
	switch {
	case ok:
		if n := int(logical.BitWidth); n >= 8 && n <= size && bits.OnesCount(uint(n)) == 1 {
			size, signed = n, logical.IsSigned
		}
	case e.LogicalType.Value == nil && e.ConvertedType.Valid && e.ConvertedType.V >= deprecated.Uint8 && e.ConvertedType.V <= deprecated.Int64:
		k := e.ConvertedType.V - deprecated.Uint8 // the unsigned ones, then the signed ones
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
	case format.Int32, format.Float:
		return 4
	case format.Int64, format.Double:
		return 8
	case format.FixedLenByteArray:
		return l.Length
	case format.Boolean:
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
		if !ok || last > l.Definition || l.Definition > 255 || l.Physical < 0 || l.Physical > format.FixedLenByteArray || l.Type == "bytes" && len(l.Repeated) > 0 ||
			l.Type != "bytes" && wide < dtype.Size() || wide == 0 || wide > maxFixed {
			return fmt.Errorf("column %.100q: the description is wrong", l.Name)
		}
	}
	return nil
}

const maxFixed = 1 << 30 // bytes of a value of fixed size
