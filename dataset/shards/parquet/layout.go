package parquet

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"

	"github.com/parquet-go/parquet-go/format"

	"github.com/penstock-go/penstock/dataset/shards/internal/shardfmt"
	"github.com/penstock-go/penstock/internal/budget"
)

// A layout unpacks blocks and decodes their rows.
type layout struct {
	schema *schema
	wanted []*leaf
	limit  int64
	named  int // the wanted column with the names of samples, or -1
}

// findName finds the paths next to the bytes of a file, as Hugging Face's datasets stores
// images.
func (l *layout) findName() {
	for k, name := range l.wanted {
		folder, ok := strings.CutSuffix(name.Name, ".path")
		if ok && name.Type == "bytes" && slices.ContainsFunc(l.wanted, func(w *leaf) bool { return w.Name == folder+".bytes" }) {
			l.named = k
			return
		}
	}
}

// likely is the ratio of a block's bytes in memory to those of the file for which memory is
// allocated before anything is decoded.
const likely = 4

// Unpack decodes the pages of a block into rows.
func (l *layout) Unpack(dst, stored []byte, b *shardfmt.Block) ([]byte, error) {
	m := &metaReader{r: bytes.NewReader(b.Meta)}
	if m.number() != 0 {
		return nil, errors.New("the index is of an earlier version: scan the files again")
	}
	c := &codecs{budget: budget.For(int64(len(stored)))}
	c.budget.Grant(l.limit, 0)
	defer c.close()
	dst = slices.Grow(dst, int(min(b.Size, likely*int64(len(stored)))))
	rows := 0
	for n := m.number(); n > 0 && m.err == nil; n-- {
		count := m.number()
		readers, err := l.readers(m, c, stored, b)
		if err == nil {
			dst, err = l.unpackRows(dst, readers, count)
		}
		if err != nil {
			return nil, err
		}
		rows += int(count)
	}
	if m.err == nil && (rows != b.Rows || m.r.Len() > 0) {
		m.err = fmt.Errorf("the index describes %d rows, want %d", rows, b.Rows)
	}
	return dst, m.err
}

// readers reads the description of a segment's columns.
func (l *layout) readers(m *metaReader, c *codecs, stored []byte, b *shardfmt.Block) ([]*columnReader, error) {
	var readers []*columnReader
	for _, leaf := range l.wanted {
		codec, rows, skip := m.number(), m.number(), m.number()
		var pieces [][]byte
		for n := m.number(); n > 0 && m.err == nil; n-- {
			piece, err := storedRange(stored, b, shardfmt.Range{Off: m.number(), Len: m.number()})
			if err != nil {
				return nil, err
			}
			pieces = append(pieces, piece)
		}
		if m.err != nil {
			return nil, m.err
		}
		r := newColumnReader(leaf, format.CompressionCodec(codec), c, l.limit, rows, pieces)
		if err := r.skip(skip); err != nil {
			return nil, fmt.Errorf("column %.100q: %w", leaf.Name, err)
		}
		readers = append(readers, r)
	}
	return readers, nil
}

// storedRange is a range of the object in the bytes that were read for a block.
func storedRange(stored []byte, b *shardfmt.Block, want shardfmt.Range) ([]byte, error) {
	at := int64(0)
	for k := -1; k < len(b.More); k++ {
		r := shardfmt.Range{Off: b.Off, Len: b.Len}
		if k >= 0 {
			r = b.More[k]
		}
		if want.Off >= r.Off && want.Len <= r.Len && want.Off-r.Off <= r.Len-want.Len {
			at += want.Off - r.Off
			if at+want.Len > int64(len(stored)) {
				break
			}
			return stored[at:][:want.Len:want.Len], nil
		}
		at += r.Len
	}
	return nil, fmt.Errorf("the index's description of the block: %d bytes from byte %d are not in it", want.Len, want.Off)
}

func (l *layout) unpackRows(dst []byte, readers []*columnReader, count int64) ([]byte, error) {
	for range count {
		begin := len(dst)
		dst = append(dst, 0, 0, 0, 0)
		for _, r := range readers {
			var err error
			if dst, err = r.row(dst); err != nil {
				return nil, fmt.Errorf("column %.100q: %w", r.Name, err)
			}
			if int64(len(dst)) > l.limit {
				return nil, errTooLarge
			}
		}
		binary.LittleEndian.PutUint32(dst[begin:], uint32(len(dst)-begin-4))
	}
	return dst, nil
}

func (l *layout) Rows(block []byte, _ int64, dst []shardfmt.Row) ([]shardfmt.Row, error) {
	for at := 0; at < len(block); {
		rest := block[at:]
		if len(rest) < 4 || uint64(binary.LittleEndian.Uint32(rest)) > uint64(len(rest)-4) {
			return dst, io.ErrUnexpectedEOF
		}
		n := int(binary.LittleEndian.Uint32(rest))
		dst = append(dst, shardfmt.Row{Off: at + 4, Len: n})
		at += 4 + n
	}
	return dst, nil
}

// Key is the base name of the image's path, if the sample has one.
func (l *layout) Key(sample []byte) string {
	if l.named < 0 {
		return ""
	}
	var v rowValue
	for _, w := range l.wanted[:l.named+1] {
		if v.read(w, &sample) != nil {
			return ""
		}
	}
	if len(v.data) == 0 {
		return ""
	}
	return path.Base(string(v.data))
}

var errRow = errors.New("a row is damaged")

// A rowValue is a column of a row.
type rowValue struct {
	tag  uint64
	dims []int // of lists of lists
	data []byte
}

// read cuts the value of a column off what is left of a row.
func (v *rowValue) read(l *leaf, row *[]byte) error {
	v.dims, v.data = v.dims[:0], nil
	if v.tag = cutUvarint(row); v.tag < valueTag {
		return nil
	}
	for range l.dims() {
		v.dims = append(v.dims, int(cutUvarint(row)))
	}
	size := v.tag - valueTag
	if size > uint64(len(*row)) {
		return errRow
	}
	v.data, *row = (*row)[:size:size], (*row)[size:]
	return nil
}

// cutUvarint cuts a number off data, or 0 if there is none.
func cutUvarint(data *[]byte) uint64 {
	v, n := binary.Uvarint(*data)
	*data = (*data)[max(n, 0):]
	return v
}

// dims is how many dimensions stand in a row before the value.
func (l *leaf) dims() int {
	if len(l.Repeated) < 2 {
		return 0
	}
	return len(l.Repeated)
}

// Decoder finds columns by their names.
func (l *layout) Decoder(columns []string) (shardfmt.Decoder, error) {
	d := &decoder{layout: l, of: make([][]int, len(l.wanted)), values: make([]rowValue, len(l.wanted))}
	known := len(columns) == 0 || len(l.schema.Leaves) == 0
	for k, name := range columns {
		c := slices.IndexFunc(l.wanted, func(w *leaf) bool { return w.Name == name || w.Name == name+".bytes" })
		if c >= 0 {
			d.of[c] = append(d.of[c], k)
			known = true
			continue
		}
		for i := range l.schema.Leaves {
			if w := &l.schema.Leaves[i]; w.Name == name && w.Error != "" {
				return nil, fmt.Errorf("column %q of Parquet: %s", name, w.Error)
			}
		}
	}
	if !known {
		return nil, fmt.Errorf("no column %s of Parquet, only %s", strings.Join(columns, " or "), l.names())
	}
	return d, nil
}

// names are the columns that are read, for errors.
func (l *layout) names() string {
	var names []string
	for _, w := range l.wanted {
		names = append(names, w.Name)
	}
	return fmt.Sprintf("%.500s", strings.Join(names, ", "))
}

type decoder struct {
	*layout
	of     [][]int    // by wanted column: which of the decoder's columns it is
	values []rowValue // by wanted column
}

func (d *decoder) Decode(sample []byte, dst []shardfmt.Value) error {
	clear(dst)
	for c, w := range d.wanted {
		r := &d.values[c]
		if err := r.read(w, &sample); err != nil {
			return err
		}
		if len(d.of[c]) == 0 || r.tag == noValue {
			continue
		}
		switch r.tag {
		case nullTag:
			return fmt.Errorf("column %q: a list with a null", w.Name)
		case raggedTag:
			return fmt.Errorf("column %q: a list of lists of different lengths", w.Name)
		}
		v := shardfmt.Value{Dtype: w.dtype, Data: r.data}
		switch {
		case len(w.Repeated) > 1:
			v.Shape = r.dims
		case len(w.Repeated) == 1 || w.Type == "bytes":
			v.Shape = list
		}
		for _, k := range d.of[c] {
			dst[k] = v
		}
	}
	return nil
}

// list is the shape of values whose length says how many elements there are.
var list = []int{-1}

var _ shardfmt.Unpacker = (*layout)(nil)
