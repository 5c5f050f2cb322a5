package remote

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/internal/wire"
	"github.com/penstock-go/penstock/loader/internal/assemble"
	"github.com/penstock-go/penstock/loader/internal/plan"
)

// Fill requests a batch and reads it into its memory.
func (s service) Fill(ctx context.Context, b assemble.Filled) error {
	c := s.c
	select {
	case c.turns <- struct{}{}:
		defer func() { <-c.turns }()
	case <-ctx.Done():
		return ctx.Err()
	}
	path := fmt.Sprintf("/v1/%s/%d/%d-%d/%d", c.plan.Plan, b.Epoch(), c.cfg.rank, c.cfg.world, b.Number())
	if b.Draw() > 0 {
		path += fmt.Sprintf("?draw=%d", b.Draw())
	}
	return c.fetch(ctx, path, forever, func(r *response) error {
		if err := c.fill(b, r); err != nil {
			return fmt.Errorf("batch: %w", err)
		}
		return nil
	})
}

// fill reads a batch. Everything that the header says is compared with the plan before
// memory is allocated.
func (c *client) fill(b assemble.Filled, r io.Reader) error {
	h, err := wire.ReadHeader(r)
	if err != nil {
		return err
	}
	if err := c.check(h, b); err != nil {
		return err
	}
	dropped, err := strconv.ParseInt(h.Texts["dropped"], 10, 32)
	if err != nil || dropped < 0 {
		return fmt.Errorf("header: dropped is %q, want a number of samples", h.Texts["dropped"])
	}
	indices, err := b.Reserve(rowsOf(h))
	if err != nil {
		return final{err}
	}
	f := filling{c: c, b: b, indices: indices, offsets: make([][]int, len(c.spec)), values: make([][]byte, len(c.spec))}
	for _, t := range h.Tensors {
		if i, ok := c.fields[t.Name]; ok && c.spec[i].Ragged {
			if f.values[i], f.offsets[i], err = b.Ragged(i, t.Bytes); err != nil {
				return final{err}
			}
		}
	}
	for _, t := range h.Tensors {
		if err := f.read(t, r); err != nil {
			return err
		}
	}
	var end [1]byte
	if n, err := r.Read(end[:]); n > 0 || err != io.EOF { // also lets the connection be used again
		return fmt.Errorf("the body goes on after the last tensor: %v", err)
	}
	if err := f.checkOffsets(); err != nil {
		return err
	}
	b.Dropped(int(dropped))
	return nil
}

// A filling is a batch that is being read.
type filling struct {
	c       *client
	b       assemble.Filled
	indices []int
	offsets [][]int  // of ragged fields
	values  [][]byte // of ragged fields
}

// read reads a tensor.
func (f *filling) read(t wire.Tensor, r io.Reader) error {
	if t.Name == wire.Indices {
		if err := readNumbers(f.indices, r); err != nil {
			return err
		}
		for _, i := range f.indices {
			if i < 0 || i >= f.c.plan.Samples {
				return fmt.Errorf("index %d of a sample: want 0 to %d", i, f.c.plan.Samples-1)
			}
		}
		return nil
	}
	i, ok := f.c.fields[t.Name]
	if !ok { // offsets, because check knows all names
		i = f.c.fields[t.Name[:len(t.Name)-len(wire.Offsets)]]
		return readNumbers(f.offsets[i], r)
	}
	data := f.values[i]
	if !f.c.spec[i].Ragged {
		data = f.b.Fixed(i)
	}
	if _, err := io.ReadFull(r, data); err != nil {
		return unexpected(err)
	}
	if f.c.spec[i].Dtype == dataset.Bool {
		for _, v := range data {
			if v > 1 {
				return fmt.Errorf("field %q has the bool %d", t.Name, v)
			}
		}
	}
	return nil
}

func (f *filling) checkOffsets() error {
	for i, ends := range f.offsets {
		if ends == nil {
			continue
		}
		name, n := f.c.spec[i].Name, len(f.values[i])/f.c.spec[i].Bytes()
		if ends[0] != 0 || ends[len(ends)-1] != n || !slices.IsSorted(ends) {
			return fmt.Errorf("the offsets of field %q do not divide its %d elements", name, n)
		}
	}
	return nil
}

// readNumbers reads numbers of int64.
func readNumbers(to []int, r io.Reader) error {
	var block [4096]byte
	for len(to) > 0 {
		n := min(len(to), len(block)/8)
		if _, err := io.ReadFull(r, block[:8*n]); err != nil {
			return unexpected(err)
		}
		for k := range n {
			v := int64(binary.LittleEndian.Uint64(block[8*k:]))
			if int64(int(v)) != v {
				return errors.New("a number does not fit in an int")
			}
			to[k] = int(v)
		}
		to = to[n:]
	}
	return nil
}

func unexpected(err error) error {
	if err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return err
}

// Identity is that of the service's order, so that positions are those of a local loader.
func (s service) Identity() string { return s.c.plan.Order }

// Rows is the number of samples in the largest batch.
func (s service) Rows() int { return s.c.plan.Rows }

// Seed is that of the service, so that positions are those of a local loader.
func (s service) Seed() uint64 { return s.c.plan.Seed }

// Rest asks the service what remains of an epoch.
func (s service) Rest(ctx context.Context, epoch, draw int) (plan.Rest, error) {
	path := fmt.Sprintf("/v1/%s/%d/%d-%d", s.c.plan.Plan, epoch, s.c.cfg.rank, s.c.cfg.world)
	if draw > 0 {
		path += fmt.Sprintf("?draw=%d", draw)
	}
	rest, err := fetchJSON(ctx, s.c, path, forever, func(r *wire.Rest) error {
		if r.Epoch != epoch || r.Draw != draw || r.Batches < 0 || r.Step < 1 || r.End < draw {
			return unfit{fmt.Errorf("it describes the rest of epoch %d after draw %d wrongly: %+v", epoch, draw, *r)}
		}
		return nil
	})
	if err != nil {
		return plan.Rest{}, err
	}
	return plan.Rest{Batches: rest.Batches, Step: rest.Step, End: rest.End}, nil
}
