package remote

import (
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/penstock-go/penstock/internal/wire"
	"github.com/penstock-go/penstock/loader/internal/assemble"
)

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
