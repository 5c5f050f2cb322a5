package feed

import (
	"errors"
	"fmt"

	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// An Option changes what [New] makes. The zero Option changes nothing.
type Option struct{ set func(*Feed) }

// Bind binds a field of every batch to an input node of the graph. The node's shape is
// (batch size, the field's shape…), and its dtype is the field's. A field can be bound
// to only one node, and a node to only one field.
func Bind(field string, node *gorgonia.Node) Option {
	return Option{func(f *Feed) { f.inputs = append(f.inputs, input{field: field, node: node}) }}
}

// Pad adds zero rows to a short batch. The mask is an input node of shape (batch size)
// and dtype float32 or float64. Its value is 1 for every sample and 0 for every added
// row. Multiply the losses of the rows by it, and divide their sum by the mask's sum.
func Pad(mask *gorgonia.Node) Option {
	return Option{func(f *Feed) { f.short, f.mask = pad, mask }}
}

// Drop leaves short batches out: the VM does not run over them, and [Feed.Run] does not
// yield them.
func Drop() Option { return Option{func(f *Feed) { f.short, f.mask = drop, nil }} }

// validate reports all wrong options at once.
func (f *Feed) validate() error {
	var errs []error
	wrong := func(format string, args ...any) { errs = append(errs, fmt.Errorf("feed: "+format, args...)) }
	if f.vm == nil {
		wrong("New: the VM is nil")
	}
	if len(f.inputs) == 0 {
		wrong("New: want at least one Bind")
	}
	for i, in := range f.inputs {
		if err := in.check(); err != nil {
			errs = append(errs, err)
			continue
		}
		if i == 0 {
			f.rows = in.node.Shape()[0]
		}
		for _, earlier := range f.inputs[:i] {
			switch {
			case earlier.field == in.field:
				wrong("Bind(%q): the field is bound twice", in.field)
			case earlier.node == in.node:
				wrong("Bind(%q): the node is bound to %q already", in.field, earlier.field)
			case earlier.node != nil && earlier.node.Graph() != in.node.Graph():
				wrong("Bind(%q): the node belongs to another graph than the node of %q", in.field, earlier.field)
			}
		}
		if f.rows != 0 && in.node.Shape()[0] != f.rows {
			wrong("Bind(%q): the node has shape %v: want %d rows, as the first one has", in.field, in.node.Shape(), f.rows)
		}
	}
	if f.short == pad {
		if err := f.checkMask(); err != nil {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
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

func (f *Feed) checkMask() error {
	m := f.mask
	if m == nil {
		return errors.New("feed: Pad: the mask is nil")
	}
	if dt := m.Dtype(); m.Op() != nil || !m.Shape().Eq(tensor.Shape{f.rows}) || dt != tensor.Float32 && dt != tensor.Float64 {
		return fmt.Errorf("feed: Pad: the mask is %v of shape %v, want an input of shape (%d), float32 or float64", dt, m.Shape(), f.rows)
	}
	for _, in := range f.inputs {
		if in.node == m {
			return fmt.Errorf("feed: Pad: the mask is bound to %q", in.field)
		}
		if in.node != nil && in.node.Graph() != m.Graph() {
			return fmt.Errorf("feed: Pad: the mask belongs to another graph than the node of %q", in.field)
		}
	}
	return nil
}
