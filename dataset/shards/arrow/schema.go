package arrow

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/ipc"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/dataset/shards/internal/shardfmt"
	"github.com/penstock-go/penstock/internal/budget"
)

// saved is the Schema of shards, as JSON.
type saved struct {
	Message []byte              `json:"message"`           // the metadata of the schema, without what differs between files
	Classes map[string][]string `json:"classes,omitempty"` // by column
}

// A column says where the values of a column are in a record batch.
type column struct {
	shardfmt.Column
	field   int // of the schema
	path    []step
	offsets int // bytes of an offset, if the values are texts of varying length
	width   int // bytes of a value, or 0 for bools
}

// A step leads from an array to one below it.
type step struct {
	kind  kind
	child int
	size  int64 // of fixed lists
}

type kind byte

const (
	structures kind = iota
	lists           // with offsets of 4 bytes
	largeLists      // with offsets of 8 bytes
	fixedLists
)

// types are the dtypes of columns.
var types = map[arrow.Type]dataset.Dtype{
	arrow.BOOL: dataset.Bool,
	arrow.INT8: dataset.Int8, arrow.INT16: dataset.Int16, arrow.INT32: dataset.Int32, arrow.INT64: dataset.Int64,
	arrow.UINT8: dataset.Uint8, arrow.UINT16: dataset.Uint16, arrow.UINT32: dataset.Uint32, arrow.UINT64: dataset.Uint64,
	arrow.FLOAT16: dataset.Float16, arrow.FLOAT32: dataset.Float32, arrow.FLOAT64: dataset.Float64,
	arrow.DATE32: dataset.Int32, arrow.TIME32: dataset.Int32,
	arrow.DATE64: dataset.Int64, arrow.TIME64: dataset.Int64, arrow.TIMESTAMP: dataset.Int64, arrow.DURATION: dataset.Int64,
}

// texts are the types of texts and files, with the bytes of their offsets.
var texts = map[arrow.Type]int{arrow.STRING: 4, arrow.BINARY: 4, arrow.LARGE_STRING: 8, arrow.LARGE_BINARY: 8}

// describe is the Schema of a shard whose first message is m.
func (f *files) describe(m *message) (text []byte, err error) {
	defer recovered(&err)
	r, err := newReader(m.meta, nil, nil)
	if err != nil {
		return nil, err
	}
	var s saved
	features, _ := r.Schema().Metadata().GetValue("huggingface")
	b := budget.For(int64(len(m.meta)))
	if s.Classes, err = shardfmt.Classes(features, &b); err != nil {
		return nil, err
	}
	var stream bytes.Buffer
	w := ipc.NewWriter(&stream, ipc.WithSchema(arrow.NewSchema(r.Schema().Fields(), nil)))
	if err := w.Close(); err != nil {
		return nil, err
	}
	n, err := begins(stream.Bytes(), int64(stream.Len()))
	if err != nil {
		return nil, err
	}
	s.Message = stream.Bytes()[prefix : prefix+n]
	if text, err = json.Marshal(s); err == nil {
		_, err = f.layout(text) // is there a column?
	}
	return text, err
}

// layout finds the columns that a Schema describes. It is nil if there are no shards.
func (f *files) layout(text []byte) (l *layout, err error) {
	defer recovered(&err)
	l = &layout{limit: f.Limit}
	var all []column
	if text != nil {
		var s saved
		if err := json.Unmarshal(text, &s); err != nil {
			return nil, fmt.Errorf("columns: %w", err)
		}
		m, err := parse(s.Message, 0)
		if err == nil && m.kind != schemaMessage {
			err = errors.New("columns: no schema")
		}
		if err != nil {
			return nil, err
		}
		r, err := newReader(s.Message, nil, nil)
		if err != nil {
			return nil, err
		}
		l.schema = s.Message
		for k, field := range r.Schema().Fields() {
			all = below(all, column{Column: shardfmt.Column{Name: field.Name}, field: k}, field.Type)
		}
		if len(all) == 0 {
			return nil, errors.New("the schema has no columns")
		}
	}
	described := make([]shardfmt.Column, len(all))
	for k := range all {
		described[k] = all[k].Column
	}
	table, wanted, err := f.Table(described)
	if err != nil {
		return nil, err
	}
	l.Table = table
	for _, k := range wanted {
		l.wanted = append(l.wanted, &all[k])
	}
	return l, nil
}

// below appends the columns of a type.
func below(all []column, c column, t arrow.DataType) []column {
	if e, ok := t.(arrow.ExtensionType); ok {
		t = e.StorageType()
	}
	at := func(s step) column {
		c.path = append(c.path[:len(c.path):len(c.path)], s)
		return c
	}
	switch t := t.(type) {
	case *arrow.StructType:
		parent := c
		for k, field := range t.Fields() {
			c = parent
			c.Name += "." + field.Name
			all = below(all, at(step{kind: structures, child: k}), field.Type)
		}
		return all
	case *arrow.ListType:
		c.Lists++
		return below(all, at(step{kind: lists}), t.Elem())
	case *arrow.LargeListType:
		c.Lists++
		return below(all, at(step{kind: largeLists}), t.Elem())
	case *arrow.FixedSizeListType:
		c.Lists++
		return below(all, at(step{kind: fixedLists, size: max(int64(t.Len()), 0)}), t.Elem())
	}
	c.Dtype = types[t.ID()]
	switch fixed, ok := t.(*arrow.FixedSizeBinaryType); {
	case ok && fixed.ByteWidth > 0:
		c.width, c.Text = fixed.ByteWidth, true
	case texts[t.ID()] > 0:
		c.offsets, c.Text = texts[t.ID()], true
	case c.Dtype == 0:
		c.Error = fmt.Sprintf("the type %.100s is not supported", t)
	case c.Dtype != dataset.Bool:
		c.width = c.Dtype.Size()
	}
	if c.Text {
		c.Dtype = dataset.Uint8
		if c.Lists > 0 {
			c.Error = "lists of texts or files are not supported"
		}
	}
	return append(all, c)
}
