// Package feed runs a gorgonia VM over a loader's batches.
//
// It binds fields to input nodes without a copy, runs the VM, resets it, and
// never lets a short batch or an error pass for a result. It is a module of its
// own, because gorgonia brings many dependencies.
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
// What gorgonia v0.9.18 does to its users, and where this package guards them:
//
//   - RunAll without Reset does nothing and leaves the old result. A Feed resets the
//     VM before the first batch and after every one.
//   - Let refuses a value of another shape, such as the short last batch, and its
//     error is easily missed: the old value stays. A Feed ends the loop with the
//     error, pads the batch, or drops it, as told.
//   - Let keeps the memory it is given. Within a Feed's loop body that is the batch's;
//     the loader gets it back when the VM has run and the body has ended, and after
//     the loop no input refers to it.
//
// What it cannot guard against:
//
//   - Values live in the graph: goroutines, and VMs, that share one overwrite each
//     other's inputs and results without an error. Give each goroutine its graph.
//   - Make one VM for all steps. Another one compiles the graph again, and wipes the
//     running statistics of BatchNorm, as SetTraining(true) does; a VM with EvalMode
//     keeps them.
//   - With Grad in the graph, a node's Value may hold something else when the VM has
//     run, because its memory was used again. [gorgonia.Read], called before the VM is
//     made, copies it in time.
//   - BatchNorm given nil makes scale and bias of the shape of a whole batch: pass
//     nodes of shape (1, C, 1, 1).
//   - Grad of GlobalAveragePool2D panics; Mean after Reshape computes the same.
//   - HeN and HeU panic for float32; Gaussian with the deviation √(2/inputs) does not.
//   - An operation that panics when it runs does so in a goroutine of the VM, where
//     nobody can recover it: it ends the program.
//
// The package's tests hold each of these, so that a version of gorgonia that does
// better is noticed.
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

// ErrShort says that a batch has fewer samples than the graph's inputs and that
// neither [Pad] nor [Drop] was chosen.
var ErrShort = errors.New("feed: the batch is short: choose Pad or Drop")

// A Feed is a VM, its inputs, and what happens to short batches.
type Feed struct {
	vm      gorgonia.VM
	inputs  []input
	rows    int // of every input
	short   policy
	mask    *gorgonia.Node
	weights *tensor.Dense // the mask's value
	busy    atomic.Bool
}

type policy int

const (
	fail policy = iota
	pad
	drop
)

// An input is a node that a field is bound to.
type input struct {
	field string
	node  *gorgonia.Node
	own   *tensor.Dense // the node's shape; padded rows, and what is bound outside loops
}

// New makes a feed. The VM remains the caller's, who closes it after the last
// loop. Everything that is wrong with the options is reported at once: no input,
// a field or a node bound twice, nodes of different graphs or different first
// dimensions, a mask that is not a float vector of that dimension.
func New(vm gorgonia.VM, options ...Option) (*Feed, error) {
	f := &Feed{vm: vm}
	for _, o := range options {
		if o.set != nil {
			o.set(f)
		}
	}
	if err := f.validate(); err != nil {
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

// Run loops over the batches that the VM has run over. In the loop body the
// graph's values are those of the batch; when it ends the VM is reset and the
// batch goes back to the loader. A batch that [Drop] drops does not come.
//
// Errors come in the place of their batch, without a result. One of a binding or of
// the VM ends the loop; one of the batches does as the loader says. After the loop
// all inputs are zero and refer to no batch. One loop at a time may run.
func (f *Feed) Run(batches iter.Seq2[*loader.Batch, error]) iter.Seq2[*loader.Batch, error] {
	return func(yield func(*loader.Batch, error) bool) {
		if !f.busy.CompareAndSwap(false, true) {
			yield(nil, errors.New("feed: a loop runs over the VM already"))
			return
		}
		defer f.busy.Store(false)
		defer f.unbind()
		f.vm.Reset() // a run by hand may have left it at its end
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

// step runs the VM over a batch.
func (f *Feed) step(b *loader.Batch) error {
	if err := f.bind(b); err != nil {
		return fmt.Errorf("feed: batch %d of epoch %d: %w", b.Number(), b.Epoch(), err)
	}
	if err := f.vm.RunAll(); err != nil {
		return fmt.Errorf("feed: run batch %d of epoch %d: %w", b.Number(), b.Epoch(), err)
	}
	return nil
}

// body resets the VM after the loop body, however that ends: without it the next
// run would do nothing and leave the old result.
func (f *Feed) body(b *loader.Batch, yield func(*loader.Batch, error) bool) bool {
	defer f.vm.Reset()
	return yield(b, nil)
}
