// Package csv reads tables of comma-separated values as datasets.
package csv

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/internal/files"
)

// A Table is a file of comma-separated values in memory, made by [Open]. All
// workers share it.
type Table struct {
	file   string
	spec   dataset.Spec
	fields []tableField
	lines  []int // of every sample
}

// tableField is a field of all samples: rows of one size, or texts.
type tableField struct {
	data    []byte
	size    int   // bytes of a row
	ends    []int // of every text in data
	classes []string
}

// Open reads a file of comma-separated values (RFC 4180, as [encoding/csv] reads
// it, plain or compressed by gzip) into memory and makes samples of its rows:
//
//	csv.Open(os.DirFS("data"), "iris.csv", []csv.Field{
//		csv.Vector[float32]("features", "sepal length", "sepal width"),
//		csv.Category("label", "species"),
//	})
//
// The first row names the columns. Those that no field asks for are skipped.
// What is wrong is told with its file, line and column. [MemoryLimit] bounds
// the values, not the file; a row has at most 16 MiB and 2²⁰ delimiters.
func Open(fsys fs.FS, file string, fields []Field, options ...Option) (*Table, error) {
	c := &config{limit: 1 << 30, comma: ','}
	for _, option := range options {
		if option.set != nil {
			option.set(c)
		}
	}
	errs := []error{c.check()}
	t := &Table{file: file, fields: make([]tableField, len(fields))}
	for k, f := range fields {
		errs = append(errs, f.check())
		s := f.spec()
		t.spec = append(t.spec, s)
		t.fields[k].size = s.Bytes()
	}
	if err := errors.Join(append(errs, t.spec.Validate())...); err != nil {
		return nil, err
	}
	if err := t.read(fsys, c, fields); err != nil {
		return nil, fmt.Errorf("csv: read %s: %w", file, err)
	}
	return t, nil
}

func (t *Table) read(fsys fs.FS, c *config, fields []Field) error {
	in, err := files.OpenInput(fsys, t.file)
	if err != nil {
		return err
	}
	defer in.Close()
	return newReader(in, c, fields, t).readAll()
}

// Len is the number of rows, those that were dropped left out.
func (t *Table) Len() int { return len(t.lines) }

// Spec has the fields in the order in which they were given.
func (t *Table) Spec() dataset.Spec { return t.spec }

// Name is the row's file and line, or "" if there is none.
func (t *Table) Name(i int) string {
	if dataset.CheckIndex(i, t.Len()) != nil {
		return ""
	}
	return fmt.Sprintf("%s, line %d", t.file, t.lines[i])
}

// Classes are the texts of a field made by [Category], by their indices, or nil
// if it is no such field.
func (t *Table) Classes(field string) []string {
	k := t.spec.Index(field)
	if k < 0 {
		return nil
	}
	return slices.Clone(t.fields[k].classes)
}

// Open makes a Reader, which holds nothing.
func (t *Table) Open() (dataset.Reader, error) { return tableReader{t}, nil }

type tableReader struct{ *Table }

func (r tableReader) Close() error { return nil }

func (r tableReader) Place(_ context.Context, i int, dst dataset.Slot) error {
	if err := dataset.CheckIndex(i, r.Len()); err != nil {
		return err
	}
	for k := range r.fields {
		f := &r.fields[k]
		if f.ends == nil {
			copy(dst.Cell(k).Bytes(), f.data[i*f.size:][:f.size])
			continue
		}
		begin := 0
		if i > 0 {
			begin = f.ends[i-1]
		}
		text := f.data[begin:f.ends[i]]
		copy(dst.Cell(k).Grow(len(text)), text)
	}
	return nil
}
