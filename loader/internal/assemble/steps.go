package assemble

import (
	"errors"
	"fmt"
	"slices"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/internal/prng"
	"github.com/penstock-go/penstock/internal/slots"
	"github.com/penstock-go/penstock/loader/internal/usercode"
)

// StageCollate lasts while steps run.
const StageCollate = "collate"

// option is the option of package loader that sets steps, for errors.
const option = "Collate"

// Steps change batches once their samples are placed.
type Steps struct {
	steps   []dataset.BatchStep
	applies []dataset.BatchApply
	columns dataset.Spec // of a slab: the fields of samples first, then what steps make
	views   []view       // what a batch has before the first step, and after each
	ragged  bool         // whether a field of samples is
}

// A view is the fields that a batch has at some time.
type view struct {
	spec    dataset.Spec
	columns []int // of every field, its column
	made    []int // the columns that the step before it makes
}

// NewSteps computes the columns that the steps need if samples have the given fields.
func NewSteps(given dataset.Spec, steps []dataset.BatchStep) (*Steps, error) {
	c := &Steps{steps: steps, columns: slices.Clone(given)}
	first := view{spec: given}
	for k, f := range given {
		first.columns = append(first.columns, k)
		c.ragged = c.ragged || f.Ragged
	}
	c.views = append(c.views, first)
	for k, step := range steps {
		if step == nil {
			return nil, fmt.Errorf("loader: Collate: step %d is nil", k)
		}
		if err := c.add(step); err != nil {
			return nil, fmt.Errorf("loader: Collate: step %d: %w", k, err)
		}
	}
	return c, nil
}

// Samples is the fields of samples, which come first in a slab.
func (c *Steps) Samples() dataset.Spec { return c.views[0].spec }

// Columns is the fields that a slab has.
func (c *Steps) Columns() dataset.Spec { return c.columns }

// Delivered is the fields that delivered batches have, and the column of each.
func (c *Steps) Delivered() (spec dataset.Spec, columns []int) {
	last := c.last()
	return last.spec, last.columns
}

// add adds the view after a step.
func (c *Steps) add(step dataset.BatchStep) (err error) {
	defer usercode.Recover(&err)
	before := c.last()
	spec, apply, err := step.Bind(before.spec)
	if err != nil {
		return err
	}
	if err := spec.Validate(); err != nil {
		return err
	}
	if apply == nil {
		return errors.New("has no function")
	}
	after := view{spec: slices.Clone(spec)}
	for _, f := range spec {
		column := len(c.columns)
		if k := before.spec.Index(f.Name); k >= 0 && same(before.spec[k], f) {
			column = before.columns[k]
		} else if f.Ragged {
			return fmt.Errorf("makes the ragged field %v, whose size is not known before", f)
		} else {
			c.columns = append(c.columns, f)
			after.made = append(after.made, column)
		}
		after.columns = append(after.columns, column)
	}
	c.views, c.applies = append(c.views, after), append(c.applies, apply)
	return nil
}

func same(a, b dataset.Field) bool {
	return a.Dtype == b.Dtype && a.Ragged == b.Ragged && slices.Equal(a.Shape, b.Shape)
}

func (c *Steps) last() *view { return &c.views[len(c.views)-1] }

// steps calls the steps one after the other on a batch that is complete.
func (w *worker) steps(j *Job) error {
	c := w.t.cfg.Steps
	if len(c.steps) == 0 || j.Rows == 0 {
		return nil
	}
	w.clock.Stage(StageCollate)
	defer w.clock.Stop()
	// The numbers must differ from those of the batch's first sample.
	w.draw.Reset(prng.Mix(w.t.cfg.Seed^batchSeed), j.Epoch(), j.Slab.Draws[0])
	for k, apply := range c.applies {
		for _, column := range c.views[k+1].made {
			clear(j.Slab.Column(column, j.Rows))
		}
		w.src = j.Slab.Show(c.views[k].columns, j.Rows, w.src[:0])
		w.dst = j.Slab.Show(c.views[k+1].columns, j.Rows, w.dst[:0])
		dst, src := slots.NewColumns(w.dst, j.Rows, w.draw), slots.NewColumns(w.src, j.Rows, w.draw)
		if err := c.apply(k, apply, dataset.Columns(dst), dataset.Columns(src)); err != nil {
			return err
		}
	}
	return nil
}

// apply calls step k. Its error names the step.
func (c *Steps) apply(k int, apply dataset.BatchApply, dst, src dataset.Columns) error {
	err := func() (err error) {
		defer usercode.Recover(&err)
		return apply(dst, src)
	}()
	if err == nil {
		return nil
	}
	name := ""
	if s, ok := c.steps[k].(fmt.Stringer); ok {
		name = fmt.Sprintf(" (%v)", s)
	}
	return fmt.Errorf("%s: step %d%s: %w", option, k, name, err)
}

// batchSeed is "collate\0" in ASCII.
const batchSeed = 0x636f6c6c61746500
