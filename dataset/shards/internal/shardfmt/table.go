package shardfmt

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"path"
	"slices"
	"strings"

	"github.com/penstock-go/penstock/dataset"
)

// Files are the files of a format that stores columns, as the format's options say that they are read.
type Files struct {
	Format  string   // its name, as errors have it
	Columns []string // those that are read, each with all columns below it, or nil for all
	Limit   int64    // bytes of memory that a block may take
}

// ErrTooLarge is the error of a block that takes more memory than the limit.
var ErrTooLarge = errors.New("it takes more memory than the option MaxBlockBytes allows")

func (f *Files) String() string {
	name := strings.ToLower(f.Format)
	if f.Columns == nil {
		return name
	}
	return fmt.Sprintf("%s with the columns %q", name, f.Columns)
}

// Check is for the options.
func (f *Files) Check() error {
	if f.Limit < 1 || f.Limit > math.MaxInt32 {
		return fmt.Errorf("%s: MaxBlockBytes(%d): want 1 to %d", strings.ToLower(f.Format), f.Limit, math.MaxInt32)
	}
	return nil
}

// A Column is a column of a [Table].
type Column struct {
	Name  string
	Dtype dataset.Dtype // of the elements
	Text  bool          // it has files or texts, of uint8
	Lists int           // how many lists are around an element
	Error string        // why it cannot be read, or ""
}

// A Table is what the Layouts of formats that store columns have in common. Their Unpack makes a block of rows, one after the
// other. A row is the number of its bytes, in 4 bytes, little-endian, and then a value per wanted column: 0 if there is none, or
// one more than the number of its bytes, as an unsigned varint, for lists of lists their lengths, in the order of the
// dimensions, and the bytes.
type Table struct {
	format string
	all    []Column
	wanted []Column
	named  int // the wanted column with the names of samples, or -1
}

// Table makes the Table of files with these columns. wanted says which of them a row has: those that are read and can be. It is
// an error if there are none.
func (f *Files) Table(all []Column) (t *Table, wanted []int, err error) {
	t = &Table{format: f.Format, all: all}
	names := f.Columns
	for k, c := range all {
		is := func(name string) bool { return c.Name == name || strings.HasPrefix(c.Name, name+".") }
		if c.Error == "" && (names == nil || slices.ContainsFunc(names, is)) {
			t.wanted, wanted = append(t.wanted, c), append(wanted, k)
		}
	}
	if len(wanted) == 0 && len(all) > 0 {
		which := "that can be read"
		if names != nil {
			which = strings.Join(names, " or ") + " " + which
		}
		return nil, nil, fmt.Errorf("no column %s, only %s", which, namesOf(all))
	}
	// The paths next to the bytes of a file, as Hugging Face's datasets stores images.
	t.named = slices.IndexFunc(t.wanted, func(c Column) bool {
		folder, ok := strings.CutSuffix(c.Name, ".path")
		return ok && c.Text && slices.ContainsFunc(t.wanted, func(w Column) bool { return w.Name == folder+".bytes" })
	})
	return t, wanted, nil
}

// namesOf are the names of columns, for errors.
func namesOf(columns []Column) string {
	var names []string
	for _, c := range columns {
		names = append(names, c.Name)
	}
	return fmt.Sprintf("%.500s", strings.Join(names, ", "))
}

// RowSize is how many bytes a row takes without its values.
const RowSize = 4

// BeginRow appends the beginning of a row to a block.
func BeginRow(block []byte) []byte { return append(block, 0, 0, 0, 0) }

// EndRow ends the last row of a block, which begins at byte begin.
func EndRow(block []byte, begin int) {
	binary.LittleEndian.PutUint32(block[begin:], uint32(len(block)-begin-RowSize))
}

// Rows are the rows of a block.
func (t *Table) Rows(block []byte, _ int64, dst []Row) ([]Row, error) {
	for at := 0; at < len(block); {
		if len(block)-at < RowSize {
			return dst, io.ErrUnexpectedEOF
		}
		n := binary.LittleEndian.Uint32(block[at:])
		if at += RowSize; uint64(n) > uint64(len(block)-at) {
			return dst, io.ErrUnexpectedEOF
		}
		dst = append(dst, Row{Off: at, Len: int(n)})
		at += int(n)
	}
	return dst, nil
}

// Key is the base name of the image's path, if the sample has one.
func (t *Table) Key(sample []byte) string {
	if t.named < 0 {
		return ""
	}
	var v Value
	for k := range t.wanted[:t.named+1] {
		var err error
		if v, err = t.wanted[k].cut(&sample, nil); err != nil {
			return ""
		}
	}
	if len(v.Data) == 0 {
		return ""
	}
	return path.Base(string(v.Data))
}

// cut cuts the value of a column off what is left of a row. dims is memory.
func (c *Column) cut(row *[]byte, dims []int) (v Value, err error) {
	number := func() uint64 {
		n, size := binary.Uvarint(*row)
		*row = (*row)[max(size, 0):]
		return n
	}
	size := number()
	if size == 0 {
		return v, nil
	}
	v.Dtype = c.Dtype
	switch {
	case c.Lists > 1:
		for range c.Lists {
			dims = append(dims, int(number()))
		}
		v.Shape = dims
	case c.Lists == 1 || c.Text:
		v.Shape = list
	}
	if size--; size > uint64(len(*row)) {
		return v, errors.New("a row is damaged")
	}
	v.Data, *row = (*row)[:size:size], (*row)[size:]
	return v, nil
}

// list is the shape of values whose length says how many elements there are.
var list = []int{-1}

// Decoder finds columns by their names. A name also stands for the column "bytes" below it.
func (t *Table) Decoder(columns []string) (Decoder, error) {
	d := &tableDecoder{Table: t, of: make([][]int, len(t.wanted)), dims: make([][]int, len(t.wanted))}
	known := len(columns) == 0 || len(t.all) == 0
	for k, name := range columns {
		c := slices.IndexFunc(t.wanted, func(w Column) bool { return w.Name == name || w.Name == name+".bytes" })
		if c >= 0 {
			d.of[c] = append(d.of[c], k)
			known = true
			continue
		}
		for _, w := range t.all {
			if w.Name == name && w.Error != "" {
				return nil, fmt.Errorf("column %q of %s: %s", name, t.format, w.Error)
			}
		}
	}
	if !known {
		return nil, fmt.Errorf("no column %s of %s, only %s", strings.Join(columns, " or "), t.format, namesOf(t.wanted))
	}
	return d, nil
}

type tableDecoder struct {
	*Table
	of   [][]int // by wanted column: which of the decoder's columns it is
	dims [][]int // by wanted column: memory
}

func (d *tableDecoder) Decode(sample []byte, dst []Value) error {
	clear(dst)
	for c := range d.wanted {
		w := &d.wanted[c]
		v, err := w.cut(&sample, d.dims[c][:0])
		if err != nil {
			return err
		}
		if w.Lists > 1 && v.Dtype != 0 {
			d.dims[c] = v.Shape
		}
		for _, k := range d.of[c] {
			dst[k] = v
		}
	}
	return nil
}
