package loader

import (
	"fmt"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/internal/slots"
)

// A raggedColumn is one ragged field of a batch.
type raggedColumn struct {
	rows   []slots.Buffer // in the slab's arena, until they are joined
	block  []byte         // memory for values
	values []byte         // all rows joined, at the beginning of block
	ends   []int          // offsets in elements: row r is [ends[r], ends[r+1])
	padded []byte         // made by Padded
	mask   []byte         // made by Mask
}

// reserve makes room for that many rows. Their memory comes from a source.
func (c *raggedColumn) reserve(rows int, from slots.Source) {
	for len(c.rows) < rows {
		c.rows = append(c.rows, slots.NewBuffer(from))
	}
	c.ends = make([]int, 1, rows+1)
}

// pack joins the first rows of every ragged field and gives back the memory of the
// single rows.
func (s *slab) pack(rows int) error {
	total := 0
	for i, f := range s.spec {
		if !f.Ragged {
			continue
		}
		if s.joined {
			total += len(s.ragged[i].values)
			continue
		}
		n, err := s.ragged[i].pack(f, rows, &s.from.values)
		if err != nil {
			return err
		}
		total += n
	}
	s.from.values.note(total)
	s.from.pieces.note(total)
	if s.from.bounded {
		peak := s.arena.total
		for i := range s.ragged {
			peak += len(s.ragged[i].block)
		}
		s.from.saw(peak)
	}
	s.arena.reset()
	return nil
}

// pack joins the first rows of the field and returns their number of bytes.
func (c *raggedColumn) pack(f dataset.Field, rows int, values *stock) (total int, err error) {
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

// checkRow reports an error if a ragged row ends inside an element.
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

// pad returns n bytes of memory for a padded field or its mask. block is what an earlier
// call got.
func (s *slab) pad(block *[]byte, n int) []byte {
	s.from.padded.note(n)
	if n > len(*block) {
		b, err := s.from.padded.get(n)
		if err != nil {
			panic(fmt.Errorf("loader: Padded: %w", err))
		}
		s.from.padded.put(*block)
		*block = b
	}
	return (*block)[:n:n]
}
