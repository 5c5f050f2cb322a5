package slab

import (
	"errors"
	"fmt"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/internal/slots"
)

// A ragged column is one ragged field of a batch.
type ragged struct {
	rows   []slots.Buffer // in the slab's arena, until they are joined
	filled bool           // whether values and ends were written as a whole, and not row by row
	block  []byte         // memory for values
	values []byte         // all rows joined, at the beginning of block
	ends   []int          // offsets in elements: row r is [ends[r], ends[r+1])
	padded []byte         // made by Pad
	mask   []byte         // made by Pad
}

// reserve makes room for that many rows. Their memory comes from a source.
func (c *ragged) reserve(rows int, from slots.Source) {
	for len(c.rows) < rows {
		c.rows = append(c.rows, slots.NewBuffer(from))
	}
	c.ends = make([]int, 1, rows+1)
}

// vacate gives back the memory of the batch.
func (c *ragged) vacate(to *stocks) error {
	for r := range c.rows {
		c.rows[r].Drop()
	}
	err := errors.Join(to.values.put(c.block), to.padded.put(c.padded), to.padded.put(c.mask))
	c.block, c.values, c.padded, c.mask, c.filled = nil, nil, nil, nil, false
	return err
}

// Empty makes the row's ragged fields empty.
func (s *Slab) Empty(row int) {
	for i, f := range s.pool.Spec {
		if f.Ragged {
			s.ragged[i].rows[row].Grow(0)
		}
	}
}

// CheckRow reports an error if a ragged row ends inside an element.
func (s *Slab) CheckRow(row int) error {
	for i := range s.ragged {
		f := &s.pool.Spec[i]
		if !f.Ragged {
			continue
		}
		if n := len(s.ragged[i].rows[row].Bytes()); n%f.Bytes() != 0 {
			return fmt.Errorf("field %v has %d bytes, want a multiple of %d", f, n, f.Bytes())
		}
	}
	return nil
}

// Fill makes room for a ragged field as a whole: n bytes of values, and the rows+1 offsets in elements, both of which
// the caller writes.
func (s *Slab) Fill(column, rows, n int) (values []byte, ends []int, err error) {
	c, stock := &s.ragged[column], &s.pool.stocks.values
	err = stock.put(c.block) // of an earlier attempt
	c.block, c.values, c.filled = nil, nil, true
	if err != nil {
		return nil, nil, err
	}
	if n > 0 {
		if c.block, err = stock.get(n); err != nil {
			return nil, nil, fmt.Errorf("%d bytes of field %q: %w", n, s.pool.Spec[column].Name, err)
		}
	}
	if cap(c.ends) < rows+1 {
		c.ends = make([]int, rows+1)
	}
	c.values, c.ends = c.block[:n], c.ends[:rows+1]
	return c.values, c.ends, nil
}

// Ragged is the data of a ragged field: all rows joined, and offsets in elements.
func (s *Slab) Ragged(column int) (values []byte, ends []int) {
	return s.ragged[column].values, s.ragged[column].ends
}

// Pack joins the first rows of every ragged field and gives back the memory of the single rows.
func (s *Slab) Pack(rows int) error {
	stocks, total := &s.pool.stocks, 0
	for i, f := range s.pool.Spec {
		if f.Ragged {
			n, err := s.ragged[i].pack(f, rows, &stocks.values)
			if err != nil {
				return err
			}
			total += n
		}
	}
	peak := s.arena.total
	for i := range s.ragged {
		peak += len(s.ragged[i].block)
	}
	stocks.note(total, peak)
	s.arena.reset()
	return nil
}

// pack joins the first rows of the field and returns their number of bytes.
func (c *ragged) pack(f dataset.Field, rows int, values *stock) (total int, err error) {
	if c.filled {
		return len(c.values), nil
	}
	for r := range rows {
		total += len(c.rows[r].Bytes())
	}
	if total > 0 {
		if c.block, err = values.get(total); err != nil {
			return 0, fmt.Errorf("%d bytes of field %q: %w", total, f.Name, err)
		}
	}
	c.values = c.block[:0]
	c.ends = append(c.ends[:0], 0)
	for r := range rows {
		c.values = append(c.values, c.rows[r].Bytes()...)
		c.ends = append(c.ends, len(c.values)/f.Bytes())
	}
	for r := range c.rows {
		c.rows[r].Drop()
	}
	return total, nil
}

// Pad returns n bytes of memory for a padded ragged field, or for its mask. Another call reuses it. The error is that
// of memory.
func (s *Slab) Pad(column int, mask bool, n int) ([]byte, error) {
	block, stock := &s.ragged[column].padded, &s.pool.stocks.padded
	if mask {
		block = &s.ragged[column].mask
	}
	stock.note(n)
	if n > len(*block) {
		b, err := stock.get(n)
		if err == nil {
			err = stock.put(*block)
			*block = b
		}
		if err != nil {
			return nil, err
		}
	}
	return (*block)[:n:n], nil
}
