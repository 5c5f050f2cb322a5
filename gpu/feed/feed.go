// Package feed runs a gorgonia VM over a loader's batches.
//
// For each batch, a [Feed] binds the batch's fields to the graph's input nodes without
// a copy, runs the VM, and resets it after the loop body. A short batch or an error
// never looks like a result.
//
//	x := gorgonia.NewMatrix(g, tensor.Float32, gorgonia.WithShape(128, 784))
//	mask := gorgonia.NewVector(g, tensor.Float32, gorgonia.WithShape(128))
//	…
//	vm := gorgonia.NewTapeMachine(g)
//	f, err := feed.New(vm, feed.Bind("image", x), feed.Pad(mask))
//	…
//	for batch, err := range f.Run(l.Epoch(ctx, 0)) {
//		if err != nil {
//			return err
//		}
//		err = solver.Step(model) // the VM has run over the batch
//		…
//	}
//
// A Feed prevents these mistakes, which gorgonia v0.9.18 makes easy:
//
//   - RunAll without Reset does nothing and keeps the old result. A Feed resets the VM
//     before the first batch and after every loop body.
//   - Let refuses a value of another shape, such as the short last batch. If its error
//     is ignored, the old value stays. A Feed ends the loop with that error, or pads
//     the batch ([Pad]), or leaves it out ([Drop]).
//   - Let keeps a reference to the value's memory, here the batch's. A Feed returns the
//     batch to the loader only after the VM has run and the loop body has ended. After
//     the loop no input refers to a batch.
//
// A Feed cannot prevent these:
//
//   - Values belong to the graph. If goroutines or VMs share a graph, they overwrite
//     each other's inputs and results without an error. Give each goroutine its own
//     graph.
//   - Make one VM for all steps. Every new VM compiles the graph again and resets the
//     running statistics of BatchNorm; SetTraining(true) resets them too. Only a VM
//     with EvalMode keeps them.
//   - With Grad in the graph, the Value of a node may be overwritten before RunAll
//     returns, because the VM reuses its memory. Call [gorgonia.Read] on the node
//     before you make the VM: it copies the value in time.
//   - BatchNorm with a nil scale and bias makes them in the shape of a whole batch. Pass
//     nodes of shape (1, C, 1, 1).
//   - Grad of GlobalAveragePool2D panics. Mean after Reshape computes the same.
//   - HeN and HeU panic for float32. Gaussian with standard deviation √(2/inputs) works.
//   - If an operation panics while the VM runs, it does so in a goroutine of the VM,
//     where the caller cannot recover: the program ends.
//
// A test of this package shows each of these behaviours, and fails if a later version of
// gorgonia changes it.
package feed

import (
	"errors"
	"fmt"
	"iter"
	"sync/atomic"

	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"

	"github.com/penstock-go/penstock/loader"
)

// ErrShort means that a batch has fewer samples than the graph's inputs have rows, and
// that neither [Pad] nor [Drop] was chosen.
var ErrShort = errors.New("short batch: choose Pad or Drop")

// A Feed runs a VM over batches. It knows which field belongs to which input node, and
// what to do with short batches.
type Feed struct {
	config
	vm      gorgonia.VM
	rows    int           // of every input
	weights *tensor.Dense // the mask's value
	busy    atomic.Bool
}

// An input is a node that a field is bound to.
type input struct {
	field string
	node  *gorgonia.Node
	own   *tensor.Dense // of the node's shape; holds padded batches, and is bound between loops
}

// New makes a feed for a VM. The caller owns the VM, and closes it after the last
// loop. New reports all wrong options at once: no [Bind], a field or node that is bound
// twice, nodes of different graphs, nodes whose first dimensions differ, or a mask that
// is not a float vector of that dimension.
func New(vm gorgonia.VM, options ...Option) (*Feed, error) {
	f := &Feed{vm: vm}
	for _, o := range options {
		if o.set != nil {
			o.set(&f.config)
		}
	}
	var err error
	f.rows, err = f.validate()
	if vm == nil {
		err = errors.Join(errors.New("feed: New: the VM is nil"), err)
	}
	if err != nil {
		return nil, err
	}
	for i := range f.inputs {
		in := &f.inputs[i]
		in.own = tensor.New(tensor.Of(in.node.Dtype()), tensor.WithShape(in.node.Shape().Clone()...))
	}
	if f.mask != nil {
		f.weights = tensor.New(tensor.Of(f.mask.Dtype()), tensor.WithShape(f.rows))
	}
	return f, nil
}

// Run runs the VM over each batch and then yields the batch. In the loop body the
// graph's values are those of the batch. After the loop body Run resets the VM, and
// the loader reuses the batch's memory. Run does not yield the batches that [Drop]
// leaves out.
//
// An error comes in the place of its batch. An error of a binding or of the VM ends
// the loop. Run passes on an error of batches, and goes on if they do; a loader's loop
// ends with its first error. After the loop all inputs are zero and refer to no batch.
// Only one loop may run at a time.
func (f *Feed) Run(batches iter.Seq2[*loader.Batch, error]) iter.Seq2[*loader.Batch, error] {
	return func(yield func(*loader.Batch, error) bool) {
		if !f.busy.CompareAndSwap(false, true) {
			yield(nil, errors.New("feed: another loop runs over the VM"))
			return
		}
		defer f.busy.Store(false)
		defer f.unbind()
		f.vm.Reset() // the caller may have run it without a Reset
		for b, err := range batches {
			if err != nil {
				if !yield(nil, err) {
					return
				}
				continue
			}
			if f.short == drop && b.Len() < f.rows {
				continue
			}
			if err := f.step(b); err != nil {
				f.vm.Reset()
				yield(nil, err)
				return
			}
			if !f.body(b, yield) {
				return
			}
		}
	}
}

// step binds a batch and runs the VM.
func (f *Feed) step(b *loader.Batch) error {
	if err := f.bind(b); err != nil {
		return fmt.Errorf("feed: batch %d of epoch %d: %w", b.Number(), b.Epoch(), err)
	}
	if err := f.vm.RunAll(); err != nil {
		return fmt.Errorf("feed: run batch %d of epoch %d: %w", b.Number(), b.Epoch(), err)
	}
	return nil
}

// body runs the loop body and then resets the VM, even if the body panics. Without the
// Reset the next run would do nothing and keep the old result.
func (f *Feed) body(b *loader.Batch, yield func(*loader.Batch, error) bool) bool {
	defer f.vm.Reset()
	return yield(b, nil)
}
