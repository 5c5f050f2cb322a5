package arrow

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/penstock-go/penstock/dataset/shards/internal/shardfmt"
)

// A layout makes rows of the record batches of a block.
type layout struct {
	*shardfmt.Table
	schema []byte // metadata of a message
	wanted []*column
	limit  int64
}

var _ shardfmt.Unpacker = (*layout)(nil)

// Unpack makes rows of the record batches.
func (l *layout) Unpack(dst, stored []byte, b *shardfmt.Block) ([]byte, error) {
	dst = slices.Grow(dst, int(min(b.Size, 2*int64(len(stored)), l.limit)))
	var rows int64
	for len(stored) > 0 {
		m, body, err := take(&stored)
		if err == nil && m.kind != batchMessage {
			err = errors.New("the index says that a record batch is here, and it is a schema")
		}
		if err == nil {
			dst, err = l.unpack(dst, m, body)
		}
		if err != nil {
			return nil, err
		}
		rows += m.rows
	}
	if rows != int64(b.Rows) {
		return nil, fmt.Errorf("%d rows, and the index says %d", rows, b.Rows)
	}
	return dst, nil
}

// unpack appends the rows of a record batch.
func (l *layout) unpack(dst []byte, m *message, body []byte) (_ []byte, err error) {
	defer recovered(&err)
	r, err := newReader(l.schema, m.meta, body)
	if err != nil {
		return nil, err
	}
	batch, err := r.Read()
	if err != nil {
		return nil, err
	}
	columns := make([][]level, len(l.wanted))
	for k, c := range l.wanted {
		if columns[k], err = c.open(batch.Column(c.field).Data(), m.rows); err != nil {
			return nil, fmt.Errorf("column %.100q: %w", c.Name, err)
		}
	}
	for row := range m.rows {
		begin := len(dst)
		dst = shardfmt.BeginRow(dst)
		for k, c := range l.wanted {
			if dst = c.append(dst, columns[k], row); int64(len(dst)) > l.limit {
				return nil, shardfmt.ErrTooLarge
			}
		}
		shardfmt.EndRow(dst, begin)
	}
	return dst, nil
}

// A level is an array of a record batch: lists, structures or, at the end of a column's path, its values.
type level struct {
	step
	nulls   []byte // a bit per element, which is 0 for a null; nil if there are none
	offsets offsets
	data    []byte // values
}

// offsets are where elements begin, and where the last one ends.
type offsets struct {
	raw  []byte
	wide bool // 8 bytes each, and not 4
}

func (o *offsets) at(i int64) int64 {
	if o.wide {
		return int64(binary.LittleEndian.Uint64(o.raw[8*i:]))
	}
	return int64(int32(binary.LittleEndian.Uint32(o.raw[4*i:])))
}

// open finds the arrays of a column, and compares all that their first elements refer to with what there is.
func (c *column) open(d arrow.ArrayData, need int64) (levels []level, err error) {
	for k := 0; ; k++ {
		if d.Offset() != 0 || int64(d.Len()) < need {
			return nil, fmt.Errorf("%d values, want %d", d.Len(), need)
		}
		v := level{}
		if d.NullN() != 0 {
			if v.nulls = buffer(d, 0); int64(len(v.nulls)) < bits(need) {
				return nil, fmt.Errorf("%d bytes say which of %d values are null", len(v.nulls), need)
			}
		}
		if k == len(c.path) {
			err = c.values(&v, d, need)
			return append(levels, v), err
		}
		v.step = c.path[k]
		switch v.kind {
		case lists, largeLists:
			if v.offsets, need, err = offsetsOf(d, need, v.kind == largeLists); err != nil {
				return nil, err
			}
		case fixedLists:
			if v.size > 0 && need > math.MaxInt64/v.size {
				return nil, fmt.Errorf("%d lists of %d values", need, v.size)
			}
			need *= v.size
		}
		levels = append(levels, v)
		d = d.Children()[v.child]
	}
}

// values finds the values of a column.
func (c *column) values(v *level, d arrow.ArrayData, need int64) (err error) {
	if c.offsets > 0 {
		var end int64
		if v.offsets, end, err = offsetsOf(d, need, c.offsets == 8); err != nil {
			return err
		}
		if v.data = buffer(d, 2); end > int64(len(v.data)) {
			return fmt.Errorf("texts that end at byte %d of %d", end, len(v.data))
		}
		return nil
	}
	v.data = buffer(d, 1)
	if have := int64(len(v.data)); c.width == 0 && have < bits(need) || c.width > 0 && have/int64(c.width) < need {
		return fmt.Errorf("%d values in %d bytes", need, have)
	}
	return nil
}

// buffer is a buffer of an array, or nil if it has none.
func buffer(d arrow.ArrayData, k int) []byte {
	if all := d.Buffers(); k < len(all) && all[k] != nil {
		return all[k].Bytes()
	}
	return nil
}

// bits is how many bytes so many bits take.
func bits(n int64) int64 { return n/8 + min(n%8, 1) }

// offsetsOf reads the offsets of n lists or texts, which must not decrease. end is the last one.
func offsetsOf(d arrow.ArrayData, n int64, wide bool) (o offsets, end int64, err error) {
	o = offsets{buffer(d, 1), wide}
	if n == 0 {
		return o, 0, nil
	}
	size := int64(4)
	if wide {
		size = 8
	}
	if int64(len(o.raw))/size <= n {
		return o, 0, fmt.Errorf("%d bytes of offsets of %d elements", len(o.raw), n)
	}
	for i := range n + 1 {
		at := o.at(i)
		if at < end {
			return o, 0, fmt.Errorf("offset %d is %d, after %d", i, at, end)
		}
		end = at
	}
	return o, end, nil
}

// append appends the value of a row, or 0 if it has none.
func (c *column) append(dst []byte, levels []level, row int64) []byte {
	var memory [64]uint64
	dims := memory[:0]
	from, to := row, row+1
	for k := range levels {
		v := &levels[k]
		for i := from; i < to && v.nulls != nil; i++ {
			if v.nulls[i/8]>>(i%8)&1 == 0 {
				return append(dst, 0)
			}
		}
		if k == len(c.path) {
			break
		}
		switch v.kind {
		case fixedLists:
			dims = append(dims, uint64(v.size))
			from, to = from*v.size, to*v.size
		case lists, largeLists:
			if from == to {
				dims = append(dims, 0)
				continue
			}
			n := v.offsets.at(from+1) - v.offsets.at(from)
			for i := from + 1; i < to; i++ {
				if v.offsets.at(i+1)-v.offsets.at(i) != n {
					return append(dst, 0)
				}
			}
			dims = append(dims, uint64(n))
			from, to = v.offsets.at(from), v.offsets.at(to)
		}
	}
	v := &levels[len(levels)-1]
	size := int64(c.width) * (to - from)
	switch {
	case c.offsets > 0:
		from, to = v.offsets.at(from), v.offsets.at(to)
		size = to - from
	case c.width == 0:
		size = to - from
	default:
		from, to = from*int64(c.width), to*int64(c.width)
	}
	dst = binary.AppendUvarint(dst, 1+uint64(size))
	if c.Lists > 1 {
		for _, n := range dims {
			dst = binary.AppendUvarint(dst, n)
		}
	}
	if c.width > 0 || c.offsets > 0 {
		return append(dst, v.data[from:to]...)
	}
	for i := from; i < to; i++ {
		dst = append(dst, v.data[i/8]>>(i%8)&1)
	}
	return dst
}
