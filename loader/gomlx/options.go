package gomlx

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/gomlx/compute"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/loader"
)

// An Option configures a [Dataset]. The zero Option sets nothing.
type Option struct{ set func(*config) }

type config struct {
	name        string
	ctx         context.Context // of loops, to which GoMLX gives none
	inputFields []string        // nil for all that are not labels
	labelFields []string
	start       func() loader.Position // nil for the beginning of epoch 0
	infinite    bool
	padded      bool
	rows        int // of padded batches
	device      compute.DeviceNum
}

// Inputs sets the fields that the model gets, in this order. The default is all
// fields that are not labels.
func Inputs(fields ...string) Option {
	return Option{func(c *config) { c.inputFields = fields }}
}

// Labels sets the fields that losses and metrics get, in this order. The default
// is none. A field may be an input and a label.
func Labels(fields ...string) Option {
	return Option{func(c *config) { c.labelFields = fields }}
}

// Name sets the dataset's name, which GoMLX puts in messages and in the names of
// metrics. The default is "penstock".
func Name(name string) Option { return Option{func(c *config) { c.name = name }} }

// Context sets the context of all loops. When it is done, the loop that runs ends
// with its error. The default is context.Background.
func Context(ctx context.Context) Option { return Option{func(c *config) { c.ctx = ctx }} }

// From sets where the first loop begins: after the batch at which
// [Dataset.Position] was taken. With the position and the weights of the same
// step, a training that was interrupted goes on with exactly the samples that are
// left.
func From(p loader.Position) Option {
	return Option{func(c *config) { c.start = func() loader.Position { return p } }}
}

// Infinite sets whether a loop goes on with the next epoch, without a gap, and
// never ends. It is for train.Loop.RunSteps and RunToGlobalStep, which count steps
// and want no end of data. The default is false.
func Infinite(on bool) Option { return Option{func(c *config) { c.infinite = on }} }

// PadTo fills every batch of fewer samples up to the given number of rows, with
// rows of zeros, so that all batches have one shape and the model is compiled
// once. One more label comes after the others: a mask, a tensor [rows] of bool
// that is false in the rows that were added. GoMLX's losses and metrics of a batch
// leave those rows out. But GoMLX's means over batches, such as those of
// Trainer.Eval, count them in the weight of the batch, so do not pad where these
// have to be exact. A batch of more samples is an error.
func PadTo(rows int) Option {
	return Option{func(c *config) { c.padded, c.rows = true, rows }}
}

// Device sets which of the backend's devices the tensors are for. The default
// is 0.
func Device(n compute.DeviceNum) Option { return Option{func(c *config) { c.device = n }} }

func newConfig(options []Option) config {
	c := config{name: "penstock", ctx: context.Background()}
	for _, o := range options {
		if o.set != nil {
			o.set(&c)
		}
	}
	return c
}

// resolve finds the fields in the loader's spec, and reports everything that is
// wrong with the options.
func (d *Dataset) resolve(spec dataset.Spec) error {
	var errs []error
	find := func(option string, names []string) (fields []field) {
		for _, name := range names {
			f, err := newField(spec, name)
			if err != nil {
				errs = append(errs, fmt.Errorf("gomlx: %s(%q): %w", option, name, err))
			}
			fields = append(fields, f)
		}
		return fields
	}
	if d.inputFields == nil {
		for _, f := range spec {
			if !slices.Contains(d.labelFields, f.Name) {
				d.inputFields = append(d.inputFields, f.Name)
			}
		}
	}
	d.inputs = find("Inputs", d.inputFields)
	d.labels = find("Labels", d.labelFields)
	if len(d.inputs) == 0 {
		errs = append(errs, fmt.Errorf("gomlx: Inputs: want one field or more of %v", spec))
	}
	if d.padded && d.rows < 1 {
		errs = append(errs, fmt.Errorf("gomlx: PadTo(%d): want 1 or more", d.rows))
	}
	if d.ctx == nil {
		errs = append(errs, errors.New("gomlx: Context: the context is nil"))
	}
	return errors.Join(errs...)
}
