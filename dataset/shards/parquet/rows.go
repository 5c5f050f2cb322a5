package parquet

import (
	"encoding/binary"
	"errors"
	"io"

	"github.com/parquet-go/parquet-go/format"
)

// A block in memory is its rows, one after the other. A row is the number of its bytes, in
// 4 bytes, little-endian, and then a value per wanted column: a tag, as an unsigned varint,
// for lists of lists their lengths, in the order of the dimensions, and the bytes of the
// value. The tag is one of these, or valueTag and the number of bytes:
const (
	noValue   = iota
	nullTag   // a list with a null
	raggedTag // lists of different lengths in a list
	valueTag
)

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
}

// A listState is what is known of the lists at one depth.
type listState struct {
	open bool
	n    int // elements of the open list
	all  int // elements of the lists before it, or -1
}

// newColumnReader reads the rows of the pages in pieces.
func newColumnReader(l *leaf, codec format.CompressionCodec, c *codecs, limit, rows int64, pieces [][]byte) *columnReader {
	r := &columnReader{pageReader: pageReader{leaf: l, codec: codec, codecs: c, limit: limit, rows: rows, pieces: pieces}, size: -1}
	if l.Type != "bytes" {
		r.size = l.dtype.Size()
	}
	r.lists = make([]listState, len(l.Repeated))
	return r
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
	if r.left == 0 {
		if err := r.next(); err != nil {
			return err
		}
	}
	var err error
	if r.count++; r.count > r.limit {
		return errTooLarge
	}
	r.rep, r.def, err = r.levels()
	return err
}

// row appends the value of the next row.
func (r *columnReader) row(dst []byte) ([]byte, error) {
	if len(r.lists) > 0 {
		return r.listRow(dst)
	}
	if err := r.step(); err != nil {
		return dst, eof(err)
	}
	if r.def < r.Definition {
		return binary.AppendUvarint(dst, noValue), nil
	}
	v, err := r.value()
	if err != nil {
		return dst, err
	}
	return append(binary.AppendUvarint(dst, valueTag+uint64(len(v))), v...), nil
}

// value is the next value that is not null.
func (r *columnReader) value() ([]byte, error) {
	v, err := r.values.next()
	if err != nil || r.size < 0 {
		return v, eof(err)
	}
	return v[:r.size], nil
}

func eof(err error) error {
	if err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return err
}

var errList = errors.New("the levels of a list are damaged")

// listRow appends the list of the next row.
func (r *columnReader) listRow(dst []byte) ([]byte, error) {
	if !r.ahead {
		if err := r.step(); err != nil {
			return dst, eof(err)
		}
	}
	if r.rep != 0 {
		return dst, errList
	}
	for k := range r.lists {
		r.lists[k] = listState{all: -1}
	}
	r.list = r.list[:0]
	null := r.def < r.Repeated[0]-1
	tag := uint64(valueTag)
	for {
		if err := r.element(&tag); err != nil {
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
	r.close(0, &tag)
	switch {
	case null:
		return binary.AppendUvarint(dst, noValue), nil
	case tag != valueTag:
		return binary.AppendUvarint(dst, tag), nil
	}
	dst = binary.AppendUvarint(dst, valueTag+uint64(len(r.list)))
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
func (r *columnReader) element(tag *uint64) error {
	if r.rep > 0 {
		if !r.lists[r.rep-1].open || r.def < r.Repeated[r.rep-1] {
			return errList
		}
		r.close(r.rep, tag)
		r.lists[r.rep-1].n++
	}
	for k := r.rep; k < len(r.lists); k++ {
		if k > 0 && r.def < r.Repeated[k-1] {
			return nil // the list at the depth before has no elements
		}
		if k > 0 && r.def < r.Repeated[k]-1 {
			*tag = nullTag // in place of a list
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
			return errTooLarge
		}
		r.list = append(r.list, v...)
	case r.def >= r.Repeated[len(r.Repeated)-1]:
		*tag = nullTag
	}
	return nil
}

// close ends the open lists from a depth on.
func (r *columnReader) close(depth int, tag *uint64) {
	for k := depth; k < len(r.lists); k++ {
		l := &r.lists[k]
		if !l.open {
			continue
		}
		if l.all >= 0 && l.all != l.n && *tag == valueTag {
			*tag = raggedTag
		}
		l.open, l.all, l.n = false, l.n, 0
	}
}
