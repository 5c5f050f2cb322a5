package loader

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/internal/slots"
	"github.com/penstock-go/penstock/internal/splitmix"
	"github.com/penstock-go/penstock/internal/usercode"
)

// Collate sets steps that change every batch once its samples are placed, such as
// transform.MixUp and [dataset.BatchFunc]. The worker that completes the batch runs
// them, in the given order. Results do not depend on the number of workers. The
// batch has the fields that the last step leaves: see [Loader.Spec].
//
// If a step fails or panics, the loop ends with that error in the place of the
// batch, under any policy of [OnError]. Samples that [Skip] leaves out are gone
// before the first step. [Stats] counts the time of the steps as stage "collate".
func Collate(steps ...dataset.BatchStep) Option {
	return Option{func(c *config) { c.collate = slices.Clone(steps) }}
}

// stageCollate lasts while steps of Collate run.
const stageCollate = "collate"

// A collation is the steps that change batches, with the columns that they need.
type collation struct {
	steps   []dataset.BatchApply
	columns dataset.Spec // of a slab: the fields of samples first, then what steps make
	views   []view       // what a batch has before the first step, and after each
}

// A view is the fields that a batch has at some time.
type view struct {
	spec    dataset.Spec
	columns []int // of every field, its column
	made    []int // the columns that the step before it makes
}

// newCollation computes the columns that the steps need if samples have the given fields.
func newCollation(given dataset.Spec, steps []dataset.BatchStep) (collation, error) {
	c := collation{columns: slices.Clone(given)}
	first := view{spec: given}
	for k := range given {
		first.columns = append(first.columns, k)
	}
	c.views = append(c.views, first)
	for k, step := range steps {
		if step == nil {
			return c, fmt.Errorf("loader: Collate: step %d is nil", k)
		}
		if err := c.add(step); err != nil {
			return c, fmt.Errorf("loader: Collate: step %d: %w", k, err)
		}
	}
	return c, nil
}

// add adds the view after a step.
func (c *collation) add(step dataset.BatchStep) (err error) {
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
	c.views, c.steps = append(c.views, after), append(c.steps, apply)
	return nil
}

func same(a, b dataset.Field) bool {
	return a.Dtype == b.Dtype && a.Ragged == b.Ragged && slices.Equal(a.Shape, b.Shape)
}

// last is what delivered batches have.
func (c *collation) last() *view { return &c.views[len(c.views)-1] }

// collate runs the steps on a batch that is complete, and tells the hook.
func (w *worker) collate(j *job) error {
	if len(w.l.collation.steps) == 0 || j.rows == 0 {
		return nil
	}
	begun := time.Now()
	if err := w.steps(j); err != nil {
		return err
	}
	w.l.cfg.trace.batchCollated(j, time.Since(begun))
	return nil
}

// steps calls the steps of Collate one after the other.
func (w *worker) steps(j *job) error {
	c := &w.l.collation
	w.clock.Stage(stageCollate)
	defer w.clock.Stop()
	// The numbers must differ from those of the batch's first sample.
	w.draw.Reset(splitmix.Mix(w.l.cfg.seed^batchSeed), j.Plan.Epoch, j.slab.Draws[0])
	for k, apply := range c.steps {
		for _, column := range c.views[k+1].made {
			clear(j.slab.Column(column, j.rows))
		}
		w.src = j.slab.Show(c.views[k].columns, j.rows, w.src[:0])
		w.dst = j.slab.Show(c.views[k+1].columns, j.rows, w.dst[:0])
		dst, src := slots.NewColumns(w.dst, j.rows, w.draw), slots.NewColumns(w.src, j.rows, w.draw)
		if err := w.apply(k, apply, dataset.Columns(dst), dataset.Columns(src)); err != nil {
			return err
		}
	}
	return nil
}

// apply calls step k. Its error names the step.
func (w *worker) apply(k int, apply dataset.BatchApply, dst, src dataset.Columns) error {
	err := func() (err error) {
		defer usercode.Recover(&err)
		return apply(dst, src)
	}()
	if err == nil {
		return nil
	}
	name := ""
	if s, ok := w.l.cfg.collate[k].(fmt.Stringer); ok {
		name = fmt.Sprintf(" (%v)", s)
	}
	return fmt.Errorf("Collate: step %d%s: %w", k, name, err)
}

// batchSeed is "collate\0" in ASCII.
const batchSeed = 0x636f6c6c61746500
