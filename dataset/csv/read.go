package csv

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/penstock-go/penstock/internal/budget"
	"github.com/penstock-go/penstock/internal/files"
)

// reader fills a table, row by row.
type reader struct {
	*config
	in      *files.Input
	guard   *guard
	rows    *csv.Reader
	fields  []Column
	places  [][]int // indices of every field's columns in a row
	indices []map[string]int64
	table   *Table
	missing map[string]bool
	used    int64 // bytes of memory
	line    int   // of the row read last
}

func newReader(in *files.Input, c *config, fields []Column, t *Table) *reader {
	buffered := bufio.NewReaderSize(in, 64<<10)
	if mark, err := buffered.Peek(3); err == nil && string(mark) == "\xef\xbb\xbf" {
		buffered.Discard(3) // a byte order mark, as Excel writes it
	}
	r := &reader{config: c, in: in, fields: fields, table: t, indices: make([]map[string]int64, len(fields))}
	r.guard = &guard{r: buffered, limit: min(int64(c.limit), maxRow), comma: []byte(string(c.comma)), budget: budget.For(in.Length)}
	r.rows = csv.NewReader(r.guard)
	r.rows.Comma, r.rows.Comment, r.rows.ReuseRecord = c.comma, c.comment, true
	r.missing = map[string]bool{}
	for _, text := range c.missing {
		r.missing[strings.TrimSpace(text)] = true
	}
	for k, f := range fields {
		if f.kind == textField {
			t.fields[k].ends = []int{}
		}
		if f.kind != categoryField {
			continue
		}
		r.indices[k] = map[string]int64{}
		for i, class := range f.classes {
			r.indices[k][class] = int64(i)
		}
		t.fields[k].classes = slices.Clone(f.classes)
	}
	return r
}

const (
	maxRow      = 16 << 20 // bytes of a row
	commaMemory = 96       // bytes of memory that encoding/csv takes for each, until a row has more
)

// A guard limits the size of a row: without it a missing closing quote would make
// a row of the whole file.
type guard struct {
	r      io.Reader
	limit  int64
	comma  []byte // what separates the columns
	budget budget.Budget

	row, commas int64 // bytes and commas of the current row so far
	most        int64 // commas of a row, which are charged
}

func (g *guard) begin() { g.row, g.commas = 0, 0 }

func (g *guard) Read(p []byte) (int, error) {
	if g.row > g.limit {
		return 0, fmt.Errorf("a row of more than %d bytes", g.limit)
	}
	n, err := g.r.Read(p)
	g.row += int64(n)
	g.commas += int64(bytes.Count(p[:n], g.comma))
	if more := g.commas - g.most; more > 0 {
		if err := g.budget.Memory(commaMemory * more); err != nil {
			return 0, fmt.Errorf("a row of %d delimiters %q: %w", g.commas, g.comma, err)
		}
		g.most = g.commas
	}
	return n, err
}

// readAll reads the header and every row.
func (r *reader) readAll() error {
	row, err := r.next()
	if err == io.EOF {
		return errors.New("the file is empty")
	}
	if err != nil {
		return err
	}
	if err := r.findColumns(row); err != nil {
		return err
	}
	if !r.noHeader {
		row, err = r.next()
	}
	for ; err == nil; row, err = r.next() {
		if err := r.add(row); err != nil {
			return err
		}
	}
	if err != io.EOF {
		return err
	}
	r.sortClasses()
	return nil
}

// next returns the next row, and io.EOF after the last.
func (r *reader) next() ([]string, error) {
	r.guard.begin()
	row, err := r.rows.Read()
	if err == nil {
		r.line, _ = r.rows.FieldPos(0)
		return row, nil
	}
	if err == io.EOF {
		return nil, err
	}
	var parse *csv.ParseError
	if errors.As(err, &parse) {
		return nil, err
	}
	return nil, fmt.Errorf("after line %d: %w", r.line, files.Ended(err))
}

func (r *reader) findColumns(header []string) error {
	const unseen, twice = -1, -2
	at := map[string]int{}
	for _, f := range r.fields {
		for _, column := range f.columns {
			at[strings.TrimSpace(column)] = unseen
		}
	}
	for i, name := range header {
		if strings.Contains(name, "\r") {
			return fmt.Errorf("line 1: a carriage return in %.40q: want lines to end in \\n or \\r\\n", name)
		}
		name = strings.TrimSpace(name)
		if r.noHeader {
			name = strconv.Itoa(i)
		}
		switch place, wanted := at[name]; {
		case wanted && place == unseen:
			at[name] = i
		case wanted:
			at[name] = twice
		}
	}
	var errs []error
	for _, f := range r.fields {
		places := make([]int, len(f.columns))
		for k, column := range f.columns {
			place := at[strings.TrimSpace(column)]
			switch place {
			case unseen:
				errs = append(errs, fmt.Errorf("field %q: no column %q among %d: %s", f.name, column, len(header), some(header, 20)))
			case twice:
				errs = append(errs, fmt.Errorf("field %q: several columns are named %q", f.name, column))
			}
			places[k] = place
		}
		r.places = append(r.places, places)
	}
	return errors.Join(errs...)
}

// some quotes the first names, at most limit.
func some(names []string, limit int) string {
	more := ""
	if len(names) > limit {
		names, more = names[:limit], ", …"
	}
	quoted := make([]string, len(names))
	for i, name := range names {
		quoted[i] = strconv.Quote(name)
	}
	return strings.Join(quoted, ", ") + more
}

// isMissing reports whether text means a missing value of field k.
func (r *reader) isMissing(k int, text string) bool {
	text = strings.TrimSpace(text)
	return text == "" && r.fields[k].kind != textField || r.missing[text]
}

// add makes a sample of a row.
func (r *reader) add(row []string) error {
	if r.drop {
		for k, places := range r.places {
			for _, place := range places {
				if r.isMissing(k, row[place]) {
					return nil
				}
			}
		}
	}
	r.table.lines = append(r.table.lines, r.line)
	r.used += 8
	for k, places := range r.places {
		f := &r.table.fields[k]
		before := len(f.data)
		for c, place := range places {
			if err := r.addValue(k, row[place]); err != nil {
				line, _ := r.rows.FieldPos(place)
				return fmt.Errorf("line %d, column %q (field %q): %w", line, r.fields[k].columns[c], r.fields[k].name, err)
			}
		}
		if f.ends != nil {
			f.ends = append(f.ends, len(f.data))
			r.used += 8
		}
		r.used += int64(len(f.data) - before)
	}
	if r.used > int64(r.limit) {
		return fmt.Errorf("line %d: %d bytes of values so far, more than MaxBytes(%d)", r.line, r.used, int64(r.limit))
	}
	return nil
}

func (r *reader) addValue(k int, text string) (err error) {
	f, data := &r.fields[k], &r.table.fields[k].data
	switch {
	case r.isMissing(k, text) && r.fill != nil && f.dtype.IsFloat():
		*data = appendFloat(*data, f.dtype.Size(), *r.fill)
	case r.isMissing(k, text):
		return errors.New("missing value")
	case f.kind == textField:
		*data = append(*data, text...)
	case f.kind == categoryField:
		index, err := r.class(k, strings.TrimSpace(text))
		if err != nil {
			return err
		}
		*data = appendWord(*data, 8, uint64(index))
	default:
		*data, err = appendValue(*data, f.dtype, text)
	}
	return err
}

// class is the index of the class text. It adds a class if none were given.
func (r *reader) class(k int, text string) (int64, error) {
	if index, ok := r.indices[k][text]; ok {
		return index, nil
	}
	if r.fields[k].classes != nil {
		return 0, fmt.Errorf("class %q, want one of %s", text, some(r.fields[k].classes, 20))
	}
	f := &r.table.fields[k]
	index := int64(len(f.classes))
	text = strings.Clone(text) // of the row's memory
	r.indices[k][text] = index
	f.classes = append(f.classes, text)
	r.used += int64(len(text)) + 64 // and about what the map takes
	return index, nil
}

// sortClasses sorts the classes that were found and renumbers the samples.
func (r *reader) sortClasses() {
	for k, f := range r.fields {
		if f.kind != categoryField || f.classes != nil {
			continue
		}
		t := &r.table.fields[k]
		sorted := slices.Sorted(slices.Values(t.classes))
		rank := make([]uint64, len(sorted))
		for i, class := range sorted {
			rank[r.indices[k][class]] = uint64(i)
		}
		for at := 0; at < len(t.data); at += 8 {
			binary.NativeEndian.PutUint64(t.data[at:], rank[binary.NativeEndian.Uint64(t.data[at:])])
		}
		t.classes = sorted
	}
}
