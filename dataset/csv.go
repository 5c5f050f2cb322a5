package dataset

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"unicode/utf8"
)

// A CSVOption changes what [CSV] does.
type CSVOption interface{ csv(*csvConfig) }

type csvConfig struct {
	limit    MemoryLimit
	comma    rune
	comment  rune
	noHeader bool
	missing  []string
	drop     bool
	fill     *float64
}

func (m MemoryLimit) csv(c *csvConfig) { c.limit = m }

type csvOption func(*csvConfig)

func (o csvOption) csv(c *csvConfig) { o(c) }

// Delimiter sets what separates the columns. The default is a comma.
func Delimiter(r rune) CSVOption { return csvOption(func(c *csvConfig) { c.comma = r }) }

// Comment makes lines that begin with r count as nothing.
func Comment(r rune) CSVOption { return csvOption(func(c *csvConfig) { c.comment = r }) }

// NoHeader says that the first row is a sample. Columns are then named by their
// numbers: "0", "1" and so on.
func NoHeader() CSVOption { return csvOption(func(c *csvConfig) { c.noHeader = true }) }

// Missing are the texts that say that a value is missing, beside an empty one:
// "NA", "?". Spaces around them do not count. For [Text], an empty one is a value.
func Missing(texts ...string) CSVOption {
	return csvOption(func(c *csvConfig) { c.missing = texts })
}

// DropMissing leaves rows out where a value that a field needs is missing. By
// default that is an error.
func DropMissing() CSVOption { return csvOption(func(c *csvConfig) { c.drop = true }) }

// FillMissing puts v, which may be NaN, in the place of missing floats. A
// missing value of another kind stays an error.
func FillMissing(v float64) CSVOption { return csvOption(func(c *csvConfig) { c.fill = &v }) }

func (c *csvConfig) check() error {
	errs := []error{c.limit.check()}
	valid := func(r rune) bool {
		return r != 0 && r != '"' && r != '\r' && r != '\n' && utf8.ValidRune(r) && r != utf8.RuneError
	}
	if !valid(c.comma) {
		errs = append(errs, fmt.Errorf("dataset: Delimiter(%q): want another character", c.comma))
	}
	if c.comment != 0 && (!valid(c.comment) || c.comment == c.comma) {
		errs = append(errs, fmt.Errorf("dataset: Comment(%q): want another character", c.comment))
	}
	if c.drop && c.fill != nil {
		errs = append(errs, errors.New("dataset: DropMissing and FillMissing: want one of them"))
	}
	return errors.Join(errs...)
}

// A Table is a file of comma-separated values in memory, made by [CSV]. All
// workers share it.
type Table struct {
	file   string
	spec   Spec
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

// CSV reads a file of comma-separated values (RFC 4180, as [encoding/csv] reads
// it, plain or compressed by gzip) into memory and makes samples of its rows:
//
//	dataset.CSV(os.DirFS("data"), "iris.csv", []dataset.CSVField{
//		dataset.Vector[float32]("features", "sepal length", "sepal width"),
//		dataset.Category("label", "species"),
//	})
//
// The first row names the columns. Those that no field asks for are skipped.
// What is wrong is told with its file, line and column. [MemoryLimit] bounds
// the values, not the file; a row has at most 16 MiB and 2²⁰ delimiters.
func CSV(fsys fs.FS, file string, fields []CSVField, options ...CSVOption) (*Table, error) {
	c := &csvConfig{limit: defaultMemoryLimit, comma: ','}
	for _, option := range options {
		option.csv(c)
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
	in, err := openInput(fsys, file)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	r := newCSVReader(in, c, fields, t)
	if err := r.readAll(); err != nil {
		return nil, err
	}
	return t, nil
}

// Len is the number of rows, those that were dropped left out.
func (t *Table) Len() int { return len(t.lines) }

// Spec has the fields in the order in which they were given.
func (t *Table) Spec() Spec { return t.spec }

// Name is the row's file and line, or "" if there is none.
func (t *Table) Name(i int) string {
	if CheckIndex(i, t.Len()) != nil {
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
func (t *Table) Open() (Reader, error) { return tableReader{t}, nil }

type tableReader struct{ *Table }

func (r tableReader) Close() error { return nil }

func (r tableReader) Place(_ context.Context, i int, dst Slot) error {
	if err := CheckIndex(i, r.Len()); err != nil {
		return err
	}
	for k := range r.fields {
		f := &r.fields[k]
		if f.ends == nil {
			copy(dst.cells[k].Bytes(), f.data[i*f.size:][:f.size])
			continue
		}
		begin := 0
		if i > 0 {
			begin = f.ends[i-1]
		}
		text := f.data[begin:f.ends[i]]
		copy(dst.cells[k].Grow(len(text)), text)
	}
	return nil
}
