package remote

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/loader/internal/assemble"
	"github.com/penstock-go/penstock/loader/internal/wire"
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

// rowsOf is the number of samples of a batch, or -1.
func rowsOf(h *wire.Header) int {
	for _, t := range h.Tensors {
		if t.Name == wire.Indices {
			return t.Bytes / 8
		}
	}
	return -1
}

// check compares a header with the plan and the request.
func (c *client) check(h *wire.Header, b assemble.Filled) error {
	rows := rowsOf(h)
	if rows < 0 || rows > max(c.plan.Rows, c.cfg.limit) {
		return fmt.Errorf("header: %d samples", rows)
	}
	if err := c.checkTexts(h.Texts, b, rows); err != nil {
		return err
	}
	want, err := c.tensors(rows)
	if err != nil {
		return err
	}
	if len(h.Tensors) != len(want) {
		return fmt.Errorf("header: %d tensors, want %d", len(h.Tensors), len(want))
	}
	untold := 0 // bytes that the plan does not tell
	for _, t := range h.Tensors {
		w, ok := want[t.Name]
		delete(want, t.Name) // each comes once
		if !ok || !w.fits(t) {
			return fmt.Errorf("header: tensor %q is %s %v of %d bytes, which does not fit the plan", t.Name, t.Dtype, t.Shape, t.Bytes)
		}
		if w.element > 0 || rows > c.plan.Rows {
			untold += min(t.Bytes, c.cfg.limit+1)
		}
		if untold > c.cfg.limit {
			return final{fmt.Errorf("the ragged fields of the batch, or its samples beyond %d, have more than the %d bytes that Limit allows", c.plan.Rows, c.cfg.limit)}
		}
	}
	return nil
}

// checkTexts compares what a header says of the batch with the request.
func (c *client) checkTexts(texts map[string]string, b assemble.Filled, rows int) error {
	for k, v := range map[string]int{"epoch": b.Epoch(), "draw": b.Draw(), "number": b.Number(), "rank": c.cfg.rank, "world": c.cfg.world, "samples": rows} {
		if texts[k] != strconv.Itoa(v) {
			return fmt.Errorf("header: %s is %q, want %d", k, texts[k], v)
		}
	}
	if texts["plan"] != c.plan.Plan {
		return otherPlan(texts["plan"], c.plan.Plan)
	}
	return nil
}

// A wanted is a tensor that a batch must have.
type wanted struct {
	wire.Tensor
	element int // bytes of an element of a ragged field's values, of which there may be any number; otherwise 0
}

// fits reports whether t is what is wanted.
func (w wanted) fits(t wire.Tensor) bool {
	bytes, shape := w.Bytes, w.Shape
	if w.element > 0 {
		if t.Bytes%w.element != 0 {
			return false
		}
		bytes, shape = t.Bytes, append([]int{t.Bytes / w.element}, w.Shape[1:]...)
	}
	return t.Dtype == w.Dtype && t.Bytes == bytes && slices.Equal(t.Shape, shape)
}

// tensors are those of a batch with so many samples, by their names.
func (c *client) tensors(rows int) (map[string]wanted, error) {
	numbers := func(n int) wanted {
		return wanted{Tensor: wire.Tensor{Dtype: "I64", Shape: []int{n}, Bytes: 8 * n}}
	}
	want := map[string]wanted{wire.Indices: numbers(rows)}
	for _, f := range c.spec {
		dtype, err := wire.SafetensorsDtype(f.Dtype)
		if err != nil {
			return nil, err
		}
		if rows > math.MaxInt/2/f.Bytes() {
			return nil, fmt.Errorf("header: %d samples of %v", rows, f)
		}
		w := wanted{Tensor: wire.Tensor{Dtype: dtype, Shape: append([]int{rows}, f.Shape...), Bytes: rows * f.Bytes()}}
		if f.Ragged {
			want[f.Name+wire.Offsets] = numbers(rows + 1)
			w.element = f.Bytes()
		}
		want[f.Name] = w
	}
	return want, nil
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
		return wire.Unexpected(err)
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
			return wire.Unexpected(err)
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
