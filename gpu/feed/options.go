package feed

import (
	"errors"
	"fmt"

	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// An Option changes what [New] makes. The zero Option changes nothing.
type Option struct{ set func(*config) }

// A config is what the options choose.
type config struct {
	inputs []input
	short  policy
	mask   *gorgonia.Node // with the policy pad
}

// A policy is what to do with short batches.
type policy int

const (
	fail policy = iota
	pad
	drop
)

// Bind binds a field of every batch to an input node of the graph. The node's shape is
// (batch size, the field's shape…), and its dtype is the field's. A field can be bound
// to only one node, and a node to only one field.
func Bind(field string, node *gorgonia.Node) Option {
	return Option{func(c *config) { c.inputs = append(c.inputs, input{field: field, node: node}) }}
}

// Pad adds zero rows to a short batch. The mask is an input node of shape (batch size)
// and dtype float32 or float64. Its value is 1 for every sample and 0 for every added
// row. Multiply the losses of the rows by it, and divide their sum by the mask's sum.
func Pad(mask *gorgonia.Node) Option {
	return Option{func(c *config) { c.short, c.mask = pad, mask }}
}

// Drop leaves short batches out: the VM does not run over them, and [Feed.Run] does not
// yield them.
func Drop() Option { return Option{func(c *config) { c.short, c.mask = drop, nil }} }

// validate reports all wrong options at once. rows is the first dimension of all inputs.
func (c *config) validate() (rows int, err error) {
	var errs []error
	wrong := func(format string, args ...any) { errs = append(errs, fmt.Errorf("feed: "+format, args...)) }
	if len(c.inputs) == 0 {
		wrong("New: want at least one Bind")
	}
	for i, in := range c.inputs {
		if err := in.check(); err != nil {
			errs = append(errs, err)
			continue
		}
		if rows == 0 {
			rows = in.node.Shape()[0]
		}
		for _, earlier := range c.inputs[:i] {
			switch {
			case earlier.field == in.field:
				wrong("Bind(%q): the field is bound twice", in.field)
			case earlier.node == in.node:
				wrong("Bind(%q): the node is bound to %q already", in.field, earlier.field)
			case earlier.node != nil && earlier.node.Graph() != in.node.Graph():
				wrong("Bind(%q): the node belongs to another graph than the node of %q", in.field, earlier.field)
			}
		}
		if in.node.Shape()[0] != rows {
			wrong("Bind(%q): the node has shape %v: want %d rows, as the first one has", in.field, in.node.Shape(), rows)
		}
	}
	if c.short == pad {
		if err := c.checkMask(rows); err != nil {
			errs = append(errs, err)
		}
	}
	return rows, errors.Join(errs...)
}

func (in input) check() error {
	switch {
	case in.node == nil:
		return fmt.Errorf("feed: Bind(%q): the node is nil", in.field)
	case in.node.Op() != nil:
		return fmt.Errorf("feed: Bind(%q): node %v is not an input node", in.field, in.node)
	case in.node.Shape().Dims() == 0:
		return fmt.Errorf("feed: Bind(%q): node %v is a scalar: want a first dimension for the batch", in.field, in.node)
	}
	return nil
}

// checkMask checks the mask for inputs of so many rows. 0 is an unknown number: no input is right.
func (c *config) checkMask(rows int) error {
	m := c.mask
	if m == nil {
		return errors.New("feed: Pad: the mask is nil")
	}
	if dt := m.Dtype(); m.Op() != nil || rows != 0 && !m.Shape().Eq(tensor.Shape{rows}) || dt != tensor.Float32 && dt != tensor.Float64 {
		return fmt.Errorf("feed: Pad: the mask is %v of shape %v, want an input of shape (%d), float32 or float64", dt, m.Shape(), rows)
	}
	for _, in := range c.inputs {
		if in.node == m {
			return fmt.Errorf("feed: Pad: the mask is bound to %q", in.field)
		}
		if in.node != nil && in.node.Graph() != m.Graph() {
			return fmt.Errorf("feed: Pad: the mask belongs to another graph than the node of %q", in.field)
		}
	}
	return nil
}
