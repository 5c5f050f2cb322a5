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
// What to know about gorgonia v0.9.18 beside it:
//
//   - One VM for all steps: a new one per step on the same graph leaks. One graph
//     per goroutine: goroutines that share one get wrong results without an error.
//   - An operation that panics does so in a goroutine of the VM, where nobody can
//     recover it: it ends the program.
//   - Grad of GlobalAveragePool2D panics; Reshape and Mean do the same and work.
//     HeN panics for float32; Gaussian works. BatchNorm wants scale and bias of
//     shape (1, C, 1, 1) rather than nil, and SetTraining(true) wipes its running
//     statistics.
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

// New makes a feed. The VM remains the caller's, who closes it behind the last
// loop. Everything that is wrong with the options is reported at once: no input,
// a field or a node bound twice, nodes of different graphs or different first
// dimensions, a mask that is not a float vector of that dimension.
func New(vm gorgonia.VM, options ...Option) (*Feed, error) {
	f := &Feed{vm: vm}
	for _, o := range options {
		o(f)
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
// The first error, of the batches, of a binding or of the VM, ends the loop in the
// place of its batch; no result follows. After the loop all inputs are zero and
// refer to no batch. One loop at a time may run.
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
			if err == nil && f.short == drop && b.Len() < f.rows {
				continue
			}
			if err == nil {
				err = f.step(b)
			}
			if err != nil {
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

// body resets the VM behind the loop body, however that ends: without it the next
// run would do nothing and leave the old result.
func (f *Feed) body(b *loader.Batch, yield func(*loader.Batch, error) bool) bool {
	defer f.vm.Reset()
	return yield(b, nil)
}
