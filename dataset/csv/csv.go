// Package csv reads files of comma-separated values as datasets, one sample per
// row.
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

// A Table is a dataset of the rows of a CSV file, held in memory. [Open] makes
// one. All workers share the memory.
type Table struct {
	file   string
	spec   dataset.Spec
	fields []tableField
	lines  []int // of every sample
}

// tableField is one field of all samples: values of one size, or texts.
type tableField struct {
	data    []byte
	size    int   // bytes of a row
	ends    []int // of every text in data
	classes []string
}

// Open reads a CSV file into memory and makes a sample of each row:
//
//	csv.Open(os.DirFS("data"), "iris.csv", []csv.Column{
//		csv.Vector[float32]("features", "sepal length", "sepal width"),
//		csv.Category("label", "species"),
//	})
//
// The format is RFC 4180, as [encoding/csv] reads it: a line break \r\n within quotes becomes \n.
// The file may be compressed by gzip. The first row names the columns, unless [NoHeader] is
// given. Columns that no field uses are skipped. Errors name the file, the line
// and the column. [MaxBytes] limits the values, not the file. A row has at
// most 16 MiB, and no more delimiters (those within quotes count) than about 10,000 and one for
// every 6 bytes of the file, as it is compressed.
func Open(fsys fs.FS, file string, fields []Column, options ...Option) (*Table, error) {
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

func (t *Table) read(fsys fs.FS, c *config, fields []Column) error {
	in, err := files.OpenInput(fsys, t.file)
	if err != nil {
		return err
	}
	defer in.Close()
	return newReader(in, c, fields, t).readAll()
}

// Len is the number of rows, without those that [DropMissing] left out.
func (t *Table) Len() int { return len(t.lines) }

// Spec lists the fields in the order in which they were given to the function
// Open.
func (t *Table) Spec() dataset.Spec { return t.spec }

// Name is the file and line of row i, "iris.csv, line 5", or "" if i is out of
// range.
func (t *Table) Name(i int) string {
	if dataset.CheckIndex(i, t.Len()) != nil {
		return ""
	}
	return fmt.Sprintf("%s, line %d", t.file, t.lines[i])
}

// Classes are the class names of a field made by [Category]; its values are
// indices into them. They are nil for any other field.
func (t *Table) Classes(field string) []string {
	k := t.spec.Index(field)
	if k < 0 {
		return nil
	}
	return slices.Clone(t.fields[k].classes)
}

// Open makes a Reader. It holds no resources.
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
