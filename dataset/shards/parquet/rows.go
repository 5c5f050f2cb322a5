package parquet

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/penstock-go/penstock/dataset/shards/internal/shardfmt"
	"github.com/penstock-go/penstock/internal/budget"
)

// A layout unpacks blocks and decodes their rows.
type layout struct {
	*shardfmt.Table
	wanted []*leaf
	limit  int64
}

// likely is the ratio of a block's bytes in memory to those of the file for which memory is
// allocated before anything is decoded.
const likely = 4

// Unpack decodes the pages of a block into rows.
func (l *layout) Unpack(dst, stored []byte, b *shardfmt.Block) ([]byte, error) {
	var segments []segment
	if json.Unmarshal(b.Meta, &segments) != nil {
		return nil, errors.New("the index is of an earlier version: scan the files again")
	}
	c := &codecs{budget: budget.For(int64(len(stored)))}
	c.budget.Grant(l.limit, 0)
	defer c.close()
	dst = slices.Grow(dst, int(min(b.Size, likely*int64(len(stored)))))
	var rows int64
	for _, s := range segments {
		readers, err := l.readers(&s, c, stored, b)
		if err == nil {
			dst, err = l.unpackRows(dst, readers, s.Rows)
		}
		if err != nil {
			return nil, err
		}
		rows += s.Rows
	}
	if rows != int64(b.Rows) {
		return nil, fmt.Errorf("the index describes %d rows, want %d", rows, b.Rows)
	}
	return dst, nil
}

// readers read the columns of a segment.
func (l *layout) readers(s *segment, c *codecs, stored []byte, b *shardfmt.Block) ([]*columnReader, error) {
	if len(s.Columns) != len(l.wanted) {
		return nil, fmt.Errorf("the index describes %d columns, want %d", len(s.Columns), len(l.wanted))
	}
	var readers []*columnReader
	for k, leaf := range l.wanted {
		at := s.Columns[k]
		r := &columnReader{pageReader: pageReader{leaf: leaf, codec: at.Codec, codecs: c, limit: l.limit, rows: at.Rows}, size: -1}
		if leaf.Type != "bytes" {
			r.size = leaf.dtype.Size()
		}
		r.lists = make([]listState, len(leaf.Repeated))
		for _, want := range at.Pieces {
			piece, err := storedRange(stored, b, want)
			if err != nil {
				return nil, err
			}
			r.pieces = append(r.pieces, piece)
		}
		if err := r.skip(at.Skip); err != nil {
			return nil, fmt.Errorf("column %.100q: %w", leaf.Name, err)
		}
		readers = append(readers, r)
	}
	return readers, nil
}

// storedRange is a range of the object in the bytes that were read for a block.
func storedRange(stored []byte, b *shardfmt.Block, want shardfmt.Range) ([]byte, error) {
	at := int64(0)
	for _, r := range b.Ranges(nil) {
		if want.Len >= 0 && want.Off >= r.Off && want.Len <= r.Len && want.Off-r.Off <= r.Len-want.Len {
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
		dst = shardfmt.BeginRow(dst)
		for _, r := range readers {
			var err error
			if dst, err = r.row(dst); err != nil {
				return nil, fmt.Errorf("column %.100q: %w", r.Name, err)
			}
			if int64(len(dst)) > l.limit {
				return nil, shardfmt.ErrTooLarge
			}
		}
		shardfmt.EndRow(dst, begin)
	}
	return dst, nil
}

var _ shardfmt.Unpacker = (*layout)(nil)

// A columnReader reads a column, row by row.
type columnReader struct {
	pageReader
	size  int   // bytes of a value in memory, or -1 if they vary
	count int64 // levels that were read
	ahead bool  // whether repetition and definition are those of the next value
	rep   int
	def   int
	lists []listState // by depth
	list  []byte      // memory for the elements of a list
	odd   bool        // whether the list has a null, or lists of different lengths
}

// A listState is what is known of the lists at one depth.
type listState struct {
	open bool
	n    int // elements of the open list
	all  int // elements of the lists before it, or -1
}

// skip passes over rows. A step of work is a row, or a byte of one: nothing of them stays.
func (r *columnReader) skip(rows int64) error {
	var scratch []byte
	for range rows {
		var err error
		if scratch, err = r.row(scratch[:0]); err != nil {
			return err
		}
		if err := r.codecs.budget.Work(int64(len(scratch))); err != nil {
			return err
		}
	}
	return nil
}

// step reads the levels of the next value. It returns io.EOF after the last one.
func (r *columnReader) step() error {
	if err := r.next(); err != nil {
		return err
	}
	if r.count++; r.count > r.limit {
		return shardfmt.ErrTooLarge
	}
	var err error
	r.rep, r.def, err = r.levels()
	return err
}

// row appends the value of the next row.
func (r *columnReader) row(dst []byte) ([]byte, error) {
	if !r.ahead {
		if err := r.step(); err == io.EOF {
			return dst, io.ErrUnexpectedEOF
		} else if err != nil {
			return dst, err
		}
	}
	if len(r.lists) > 0 {
		return r.listRow(dst)
	}
	if r.def < r.Definition {
		return append(dst, 0), nil
	}
	v, err := r.value()
	if err != nil {
		return dst, err
	}
	return append(binary.AppendUvarint(dst, 1+uint64(len(v))), v...), nil
}

// value is the next value that is not null, as it is in memory.
func (r *columnReader) value() ([]byte, error) {
	v, err := r.pageReader.value()
	if err != nil || r.size < 0 {
		return v, err
	}
	return v[:r.size], nil
}

var errList = errors.New("the levels of a list are damaged")

// listRow appends the list whose first levels were read.
func (r *columnReader) listRow(dst []byte) ([]byte, error) {
	if r.rep != 0 {
		return dst, errList
	}
	for k := range r.lists {
		r.lists[k] = listState{all: -1}
	}
	r.list, r.odd = r.list[:0], false
	null := r.def < r.Repeated[0]-1
	for {
		if err := r.element(); err != nil {
			return dst, err
		}
		r.pass()
		err := r.step()
		r.ahead = err == nil
		if err == io.EOF || err == nil && r.rep == 0 {
			break
		}
		if err != nil {
			return dst, err
		}
	}
	r.close(0)
	if null || r.odd {
		return append(dst, 0), nil
	}
	dst = binary.AppendUvarint(dst, 1+uint64(len(r.list)))
	if len(r.lists) > 1 {
		for k := range r.lists {
			dst = binary.AppendUvarint(dst, uint64(max(r.lists[k].all, 0)))
		}
	}
	return append(dst, r.list...), nil
}

// pass passes over elements that repeat the last one and have no value, but for the last of
// them: a run of nulls is many in few bytes.
func (r *columnReader) pass() {
	n := min(r.repetition.same, r.definition.same, uint64(r.left))
	if r.rep == 0 || r.def == r.Definition || n < 2 {
		return
	}
	n--
	r.repetition.same -= n
	r.definition.same -= n
	r.left -= int(n)
	r.count += int64(n)
	r.lists[r.rep-1].n += int(n)
}

// element adds a value, or an empty list, to the lists of the row. rep says which of them
// go on, and def which have an element.
func (r *columnReader) element() error {
	if r.rep > 0 {
		if !r.lists[r.rep-1].open || r.def < r.Repeated[r.rep-1] {
			return errList
		}
		r.close(r.rep)
		r.lists[r.rep-1].n++
	}
	for k := r.rep; k < len(r.lists); k++ {
		if k > 0 && r.def < r.Repeated[k-1] {
			return nil // the list at the depth before has no elements
		}
		if k > 0 && r.def < r.Repeated[k]-1 {
			r.odd = true // a null in place of a list
			return nil
		}
		r.lists[k].open = true
		if r.def >= r.Repeated[k] {
			r.lists[k].n++
		}
	}
	switch {
	case r.def == r.Definition:
		v, err := r.value()
		if err != nil {
			return err
		}
		if int64(len(r.list)+len(v)) > r.limit {
			return shardfmt.ErrTooLarge
		}
		r.list = append(r.list, v...)
	case r.def >= r.Repeated[len(r.Repeated)-1]:
		r.odd = true
	}
	return nil
}

// close ends the open lists from a depth on.
func (r *columnReader) close(depth int) {
	for k := depth; k < len(r.lists); k++ {
		if l := &r.lists[k]; l.open {
			r.odd = r.odd || l.all >= 0 && l.all != l.n
			l.open, l.all, l.n = false, l.n, 0
		}
	}
}
