package slab

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/internal/figures"
	"github.com/penstock-go/penstock/internal/slots"
)

// A Slab is the memory of one batch. Every field of fixed size is a column of block. The memory of ragged fields grows
// with the largest batch that the slab has had.
type Slab struct {
	Indices []int   // of the samples of the batch
	Draws   []int64 // their places in the global order

	pool      *Pool
	delivered bool // guarded by the Pool's mutex
	rows      int  // capacity
	block     []byte
	fields    []*slots.Field // shared by the cells of a field
	columns   []slots.Column // of fields of fixed size
	offsets   []int          // where each column begins in block
	ragged    []ragged       // of ragged fields
	arena     arena          // memory of ragged rows, until the batch is complete
}

// maxBytes is the largest size of a slab. No product of rows and bytes overflows.
const maxBytes = min(1<<47, math.MaxInt/2+1)

// checkRows reports an error if no memory can hold that many rows.
func checkRows(spec dataset.Spec, rows int) error {
	sample := int64(0)
	for _, f := range spec {
		sample += int64(f.Bytes())
	}
	if int64(rows) > maxBytes/sample {
		return fmt.Errorf("a batch of %d samples of %d bytes is larger than %s", rows, sample, figures.Bytes(maxBytes))
	}
	return nil
}

// Bytes is the size of a slab for that many rows, without ragged fields.
func Bytes(spec dataset.Spec, rows int) int {
	total := 0
	for _, f := range spec {
		if !f.Ragged {
			total += align(rows * f.Bytes())
		}
	}
	return total
}

func newSlab(p *Pool, rows int) (*Slab, error) {
	s := &Slab{pool: p, ragged: make([]ragged, len(p.Spec))}
	s.arena.pool = p
	for _, f := range p.Spec {
		s.fields = append(s.fields, slots.NewField(f.Name, f.Dtype.Type(), f.Bytes()))
	}
	return s, s.Reserve(rows)
}

// touch writes to every page of the block, whose content does not matter yet.
func (s *Slab) touch() {
	const page = 4096
	for i := 0; i < len(s.block); i += page {
		s.block[i] = 0
	}
}

// Reserve makes room for that many rows. The content of the slab is lost.
func (s *Slab) Reserve(rows int) error {
	if rows <= s.rows {
		return nil
	}
	spec := s.pool.Spec
	if err := checkRows(spec, rows); err != nil {
		return err
	}
	if n := Bytes(spec, rows); n > 0 || len(s.block) > 0 {
		if err := s.exchange(n); err != nil {
			return fmt.Errorf("slab of %d bytes: %w", n, err)
		}
	}
	s.lay(rows)
	s.columns = make([]slots.Column, len(spec))
	for i, f := range spec {
		if f.Ragged {
			s.ragged[i].reserve(rows, &s.arena)
		} else {
			s.columns[i] = slots.NewColumn(s.fields[i], s.Column(i, rows))
		}
	}
	s.pool.grew(rows)
	return nil
}

// lay computes where the columns of that many rows begin.
func (s *Slab) lay(rows int) {
	s.rows = rows
	s.offsets = make([]int, len(s.pool.Spec))
	at := 0
	for i, f := range s.pool.Spec {
		if !f.Ragged {
			s.offsets[i] = at
			at += align(rows * f.Bytes())
		}
	}
}

// exchange allocates a block of n bytes and frees the old one.
func (s *Slab) exchange(n int) (err error) {
	var block []byte
	if n > 0 {
		if block, err = s.pool.alloc(s.pool.Memory, n); err != nil {
			return err
		}
	}
	old := s.block
	s.block, s.rows, s.columns = block, 0, nil // until the columns are laid, which does not happen if Free fails
	if err := s.pool.dispose(s.pool.Memory, old); err != nil {
		return fmt.Errorf("free: %w", err)
	}
	return nil
}

// Field is the field of a column.
func (s *Slab) Field(column int) dataset.Field { return s.pool.Spec[column] }

// Column is the memory of a field of fixed size in the first rows.
func (s *Slab) Column(i, rows int) []byte {
	from := s.offsets[i]
	to := from + rows*s.pool.Spec[i].Bytes()
	return s.block[from:to:to]
}

// Cells fills in the cells of a row, one per field, of the first columns.
func (s *Slab) Cells(row int, cells []slots.Cell) {
	for i := range cells {
		if s.pool.Spec[i].Ragged {
			cells[i] = slots.Ragged(s.fields[i], &s.ragged[i].rows[row])
		} else {
			cells[i] = s.columns[i].Cell(row)
		}
	}
}

// Move copies row from to row to.
func (s *Slab) Move(to, from int) {
	s.Indices[to] = s.Indices[from]
	for i, f := range s.pool.Spec {
		if f.Ragged {
			rows := s.ragged[i].rows
			rows[to], rows[from] = rows[from], rows[to]
			continue
		}
		size, column := f.Bytes(), s.Column(i, s.rows)
		copy(column[to*size:(to+1)*size], column[from*size:(from+1)*size])
	}
}

// Show appends the values of some columns in the first rows.
func (s *Slab) Show(columns []int, rows int, to []slots.Values) []slots.Values {
	for _, column := range columns {
		values := slots.Values{Field: s.fields[column]}
		if s.pool.Spec[column].Ragged {
			c := &s.ragged[column]
			values.Bytes, values.Ends = c.values, c.ends[:rows+1:rows+1]
		} else {
			values.Bytes = s.Column(column, rows)
		}
		to = append(to, values)
	}
	return to
}

// Clone copies the first rows into Go's memory.
func (s *Slab) Clone(rows int) (*Slab, error) {
	own := NewPool(Config{Spec: s.pool.Spec, Memory: Heap{}, Budget: math.MaxInt}, rows)
	c := &Slab{Indices: slices.Clone(s.Indices[:rows]), pool: own, ragged: make([]ragged, len(own.Spec))}
	if n := Bytes(own.Spec, rows); n > 0 {
		if err := c.exchange(n); err != nil {
			return nil, err
		}
	}
	c.lay(rows)
	for i, f := range own.Spec {
		if !f.Ragged {
			copy(c.Column(i, rows), s.Column(i, rows))
			continue
		}
		values, ends, err := c.Fill(i, rows, len(s.ragged[i].values))
		if err != nil {
			return nil, err
		}
		copy(values, s.ragged[i].values)
		copy(ends, s.ragged[i].ends)
	}
	return c, nil
}

// spoil fills the memory of a batch that is over, if the pool poisons memory.
func (s *Slab) spoil() {
	if !s.pool.Poison {
		return
	}
	spoil(s.block)
	for _, chunk := range s.arena.chunks {
		spoil(chunk)
	}
	for i := range s.ragged {
		c := &s.ragged[i]
		spoil(c.block)
		for r := range c.ends {
			c.ends[r] = -1
		}
	}
	for row := range s.Indices {
		s.Indices[row] = -1
	}
}

// Vacate forgets the batch. The memory of its ragged fields is kept for the next one, unless it is much more than
// batches need on average, or all is more than the budget allows.
func (s *Slab) Vacate() (err error) {
	s.spoil()
	most := s.pool.enough()
	s.arena.reset(most)
	for i := range s.ragged {
		c := &s.ragged[i]
		for r := range c.rows {
			c.rows[r].Drop()
		}
		if len(c.block) > most {
			err = errors.Join(err, c.free(s.pool))
		}
		c.values, c.filled = nil, false
	}
	return err
}

// free gives all memory back.
func (s *Slab) free() error { return errors.Join(s.freeRagged(), s.exchange(0)) }

// freeRagged gives back the memory that is kept for ragged fields.
func (s *Slab) freeRagged() (err error) {
	s.arena.reset(0)
	for i := range s.ragged {
		err = errors.Join(err, s.ragged[i].free(s.pool))
	}
	return err
}
