package loader

import (
	"errors"
	"fmt"
	"math"
	"sync/atomic"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/internal/figures"
	"github.com/penstock-go/penstock/internal/slots"
)

// A slab is the memory of one batch. Every fixed-size field is a column of block. The
// memory of ragged fields is allocated for each batch.
type slab struct {
	spec    dataset.Spec
	memory  Allocator
	rows    int // capacity
	block   []byte
	fields  []*slots.Field // shared by the cells of a field
	columns []slots.Column // of fixed-size fields
	offsets []int          // where each column begins in block
	ragged  []raggedColumn // of ragged fields
	arena   arena          // memory of ragged rows, until the batch is complete
	joined  bool           // whether ragged fields were filled as a whole
	from    *stocks        // other memory of ragged fields
	size    atomic.Int64   // bytes of block, for Stats
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

func newSlab(spec dataset.Spec, rows int, from *stocks) (*slab, error) {
	s := &slab{spec: spec, memory: from.values.memory, from: from}
	s.arena.stock = &from.pieces
	s.ragged = make([]raggedColumn, len(spec))
	for _, f := range spec {
		s.fields = append(s.fields, slots.NewField(f.Name, f.Dtype.Type(), f.Bytes()))
	}
	return s, s.reserve(rows)
}

// reserve makes room for that many rows. The content of the slab is lost.
func (s *slab) reserve(rows int) error {
	if rows <= s.rows {
		return nil
	}
	if err := checkRows(s.spec, rows); err != nil {
		return err
	}
	if err := s.exchange(slabBytes(s.spec, rows)); err != nil {
		return fmt.Errorf("slab of %d bytes: %w", slabBytes(s.spec, rows), err)
	}
	s.lay(rows)
	s.columns = make([]slots.Column, len(s.spec))
	for i, f := range s.spec {
		if f.Ragged {
			s.ragged[i].reserve(rows, &s.arena)
		} else {
			s.columns[i] = slots.NewColumn(s.fields[i], s.column(i, rows))
		}
	}
	return nil
}

// lay computes where the columns of that many rows begin.
func (s *slab) lay(rows int) {
	s.rows = rows
	s.offsets = make([]int, len(s.spec))
	at := 0
	for i, f := range s.spec {
		if !f.Ragged {
			s.offsets[i] = at
			at += align(rows * f.Bytes())
		}
	}
}

// cells fills in the cells of a row, one per field.
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

// column is the memory of fixed-size field i in the first rows.
func (s *slab) column(i, rows int) []byte {
	from := s.offsets[i]
	to := from + rows*s.spec[i].Bytes()
	return s.block[from:to:to]
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

// exchange allocates a block of n bytes and frees the old one.
func (s *slab) exchange(n int) error {
	var block []byte
	if n > 0 {
		var err error
		if block, err = alloc(s.memory, n); err != nil {
			return err
		}
	}
	old := s.block
	s.block, s.rows = block, 0 // until the columns are laid, which does not happen if Free fails
	s.size.Store(int64(len(block)))
	s.from.slabs.Add(int64(len(block)))
	if len(old) == 0 {
		return nil
	}
	defer s.from.slabs.Add(-int64(len(old))) // another slab may take its place in the budget, even if Free panics
	if err := s.memory.Free(old); err != nil {
		return fmt.Errorf("free: %w", err)
	}
	return nil
}

// vacate gives back the memory of the batch's ragged fields.
func (s *slab) vacate() (err error) {
	s.arena.reset()
	for i := range s.ragged {
		c := &s.ragged[i]
		for r := range c.rows {
			c.rows[r].Drop()
		}
		s.from.padded.put(c.padded) // into Go's memory, where Free returns no error
		s.from.padded.put(c.mask)
		err = errors.Join(err, s.from.values.put(c.block))
		c.block, c.values, c.padded, c.mask = nil, nil, nil, nil
	}
	return err
}

// free gives all memory back.
func (s *slab) free() error {
	return errors.Join(s.vacate(), s.exchange(0))
}
