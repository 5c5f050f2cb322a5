package loader

import (
	"errors"
	"fmt"
	"math"
	"sync/atomic"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/internal/slots"
)

// A slab is the memory of one batch. Every fixed-size field is a column of it;
// ragged fields have a buffer per row, which pack joins.
type slab struct {
	spec    dataset.Spec
	memory  Allocator
	rows    int // capacity
	bytes   []byte
	fields  []*slots.Field // what their cells know
	columns []slots.Column // of fixed-size fields
	offsets []int          // where each column begins
	ragged  []raggedColumn // of ragged fields
	size    atomic.Int64   // bytes from memory, for Stats
}

// A raggedColumn is one ragged field of a batch.
type raggedColumn struct {
	rows   []slots.Buffer
	values []byte // all rows joined, from the slab's Allocator
	ends   []int  // offsets in elements: row r is [ends[r], ends[r+1])
	padded slots.Buffer
}

// maxBytes bounds a slab, so that no product of rows and bytes can overflow.
const maxBytes = min(1<<47, math.MaxInt)

// checkRows reports a number of rows that no memory can hold.
func checkRows(spec dataset.Spec, rows int) error {
	sample := 0
	for _, f := range spec {
		sample += f.Bytes()
	}
	if rows > maxBytes/sample {
		return fmt.Errorf("loader: a batch of %d samples of %d bytes is larger than 128 TiB", rows, sample)
	}
	return nil
}

// slabBytes is the size of a slab for that many rows, without ragged fields.
func slabBytes(spec dataset.Spec, rows int) int {
	total := 0
	for _, f := range spec {
		if !f.Ragged {
			total += align(rows * f.Bytes())
		}
	}
	return total
}

func align(n int) int { return (n + alignment - 1) &^ (alignment - 1) }

func newSlab(spec dataset.Spec, rows int, memory Allocator) (*slab, error) {
	s := &slab{spec: spec, memory: memory}
	for _, f := range spec {
		s.fields = append(s.fields, slots.NewField(f.Name, f.Dtype, f.Bytes()))
	}
	return s, s.reserve(rows)
}

// reserve makes room for that many rows. What the slab held is lost.
func (s *slab) reserve(rows int) error {
	if rows <= s.rows {
		return nil
	}
	if err := checkRows(s.spec, rows); err != nil {
		return err
	}
	bytes, err := s.exchange(s.bytes, slabBytes(s.spec, rows))
	if err != nil {
		return fmt.Errorf("loader: slab of %d bytes: %w", slabBytes(s.spec, rows), err)
	}
	s.rows, s.bytes = rows, bytes
	s.columns = make([]slots.Column, len(s.spec))
	s.offsets = make([]int, len(s.spec))
	if s.ragged == nil {
		s.ragged = make([]raggedColumn, len(s.spec))
	}
	at := 0
	for i, f := range s.spec {
		if f.Ragged {
			s.ragged[i].rows = append(s.ragged[i].rows, make([]slots.Buffer, rows-len(s.ragged[i].rows))...)
			s.ragged[i].ends = make([]int, 1, rows+1)
			continue
		}
		s.offsets[i] = at
		size := rows * f.Bytes()
		s.columns[i] = slots.NewColumn(s.fields[i], bytes[at:at+size:at+size])
		at += align(size)
	}
	return nil
}

// cells fills in where row's fields are to be written.
func (s *slab) cells(row int, cells []slots.Cell) {
	for i := range cells {
		if s.spec[i].Ragged {
			cells[i] = slots.Ragged(s.fields[i], &s.ragged[i].rows[row])
		} else {
			cells[i] = s.columns[i].Cell(row)
		}
	}
}

// empty makes the row's ragged fields empty.
func (s *slab) empty(row int) {
	for i, f := range s.spec {
		if f.Ragged {
			s.ragged[i].rows[row].Grow(0)
		}
	}
}

// column is the memory of the first rows of fixed-size field i.
func (s *slab) column(i, rows int) []byte {
	from := s.offsets[i]
	to := from + rows*s.spec[i].Bytes()
	return s.bytes[from:to:to]
}

// move copies row from to row to.
func (s *slab) move(to, from int) {
	for i, f := range s.spec {
		if f.Ragged {
			rows := s.ragged[i].rows
			rows[to], rows[from] = rows[from], rows[to]
			continue
		}
		size, column := f.Bytes(), s.column(i, s.rows)
		copy(column[to*size:(to+1)*size], column[from*size:(from+1)*size])
	}
}

// pack joins the first rows of every ragged field.
func (s *slab) pack(rows int) error {
	for i, f := range s.spec {
		if f.Ragged {
			if err := s.packField(f, &s.ragged[i], rows); err != nil {
				return err
			}
		}
	}
	return nil
}

func (s *slab) packField(f dataset.Field, c *raggedColumn, rows int) error {
	total := 0
	for r := range rows {
		total += len(c.rows[r].Bytes())
	}
	if total > cap(c.values) {
		values, err := s.exchange(c.values[:cap(c.values)], total+total/4)
		if err != nil {
			return fmt.Errorf("loader: %d bytes of field %q: %w", total, f.Name, err)
		}
		c.values = values
	}
	c.values = c.values[:0]
	c.ends = append(c.ends[:0], 0)
	for r := range rows {
		c.values = append(c.values, c.rows[r].Bytes()...)
		c.ends = append(c.ends, len(c.values)/f.Bytes())
	}
	return nil
}

// checkRow reports a ragged row that ends within an element.
func (s *slab) checkRow(row int) error {
	for i := range s.ragged {
		f := &s.spec[i]
		if !f.Ragged {
			continue
		}
		if n := len(s.ragged[i].rows[row].Bytes()); n%f.Bytes() != 0 {
			return fmt.Errorf("field %v has %d bytes, want a multiple of %d", f, n, f.Bytes())
		}
	}
	return nil
}

// exchange gives old back to the Allocator for n bytes of memory.
func (s *slab) exchange(old []byte, n int) (memory []byte, err error) {
	if n > 0 {
		if memory, err = s.memory.Alloc(n); err != nil {
			return nil, err
		}
		memory = memory[:n:n]
	}
	s.size.Add(int64(n - len(old)))
	if len(old) > 0 {
		if err := s.memory.Free(old); err != nil {
			return nil, errors.Join(fmt.Errorf("free: %w", err), s.memory.Free(memory))
		}
	}
	return memory, nil
}

// free gives all memory back to its Allocator.
func (s *slab) free() error {
	_, err := s.exchange(s.bytes, 0)
	for i := range s.ragged {
		values := s.ragged[i].values
		_, valuesErr := s.exchange(values[:cap(values)], 0)
		err = errors.Join(err, valuesErr)
	}
	return err
}
