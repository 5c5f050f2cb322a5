// Package gomlx gives the batches of a loader to GoMLX: a [Dataset] is a
// train.Dataset for its trainer, training loop and evaluation.
//
//	ds, err := gomlx.New(backend, l, gomlx.Inputs("image"), gomlx.Labels("label"))
//	…
//	metrics, err := train.NewLoop(trainer).RunEpochs(ds, 10)
//
// # One copy
//
// GoMLX's trainer owns the tensors that it is given, and frees them after the
// step. So every field is copied once, from the batch's memory into a tensor of
// the backend, by the goroutine of the training loop. With shared buffers (the
// backend "go", and XLA on the processor) the tensor is the memory that the
// model reads. With an accelerator the copy is the upload. Meanwhile the
// loader's workers assemble the next batches.
//
// The time of the copy is proportional to the number of bytes. Images as uint8 are
// a quarter of those as float32, so let the dataset end with
// transform.PILToTensor, and convert and normalise in the model:
//
//	x := graph.ConvertDType(inputs[0], dtypes.Float32)
//	x = graph.Div(graph.Sub(x, mean), std) // mean and std of values from 0 to 255
//
// # Shapes
//
// A field of shape (3, 224, 224) becomes a tensor [samples, 3, 224, 224], and a
// scalar becomes [samples, 1], the shape that GoMLX's losses and metrics want for
// labels. Dtypes stay the same. Ragged fields can be neither inputs nor labels.
//
// GoMLX compiles the model anew for every shape, once. The last batch of an epoch
// may have fewer samples. By default it is delivered as it is: no sample is lost,
// and the means of an evaluation are exact, at the price of a second compilation.
// In training every sample comes again, so leave the last batch out with
// loader.DropLast. [PadTo] keeps its samples without a second shape, which also
// helps where loader.Skip leaves samples out.
package gomlx

import (
	"errors"
	"iter"
	"math"
	"sync"

	"github.com/gomlx/compute"
	"github.com/gomlx/gomlx/ml/train"

	"github.com/penstock-go/penstock/loader"
)

// A Dataset is the batches of a loader as a train.Dataset.
//
// Every call of [Dataset.Iter] is a loop over the next epoch. So RunEpochs(ds, 10)
// goes through ten epochs, and Eval through one. For RunSteps and RunToGlobalStep
// see [Infinite].
type Dataset struct {
	config
	backend        compute.Backend
	loader         *loader.Loader
	inputs, labels []field

	mu   sync.Mutex
	last func() loader.Position // after the last batch
	next func() loader.Position // where the next loop begins
}

// New makes a Dataset whose tensors belong to backend, which must be the
// trainer's. With a nil backend they are in Go's memory, and the trainer copies
// them once more. The loader stays the caller's, who closes it at the end.
//
// It reports everything that is wrong with the options at once.
func New(backend compute.Backend, l *loader.Loader, options ...Option) (*Dataset, error) {
	if l == nil {
		return nil, errors.New("gomlx: New: the loader is nil")
	}
	d := &Dataset{backend: backend, loader: l, config: newConfig(options)}
	start := d.start
	if start == nil {
		start = func() loader.Position { return l.Position(0) }
	}
	d.last, d.next = start, start
	if err := d.resolve(l.Spec()); err != nil {
		return nil, err
	}
	return d, nil
}

// Name is what [Name] set, or "penstock".
func (d *Dataset) Name() string { return d.name }

// Iter loops over the next epoch from its beginning, even if the previous loop was
// left early. The first loop begins at the position of [From], if that is given.
// With [Infinite] a loop does not end by itself, and the next one continues after
// the last batch that was delivered.
//
// Errors are those of [loader.Loader.From]: they name the sample, and errors.As
// finds the *loader.SampleError also in what GoMLX returns. One loop at a time may
// run over a loader, so use another loader to evaluate during training.
func (d *Dataset) Iter() iter.Seq2[train.Batch, error] {
	return func(yield func(train.Batch, error) bool) {
		from, until, err := d.begin()
		if err != nil {
			yield(train.Batch{}, err)
			return
		}
		for b, err := range d.loader.From(d.ctx, from, until) {
			var tensors train.Batch
			if err == nil {
				tensors, err = d.batch(b)
			}
			if err != nil {
				yield(train.Batch{}, err)
				return
			}
			d.delivered(b)
			if !yield(tensors, nil) {
				return
			}
		}
	}
}

// Position is the place after the last batch that was delivered, for [From]. In a
// hook of train.Loop.OnStep it is the place after the step, so save it together
// with the model's weights. It may be called by any goroutine.
//
// Where another train.Dataset reads ahead from this one, Position is ahead of the
// training too.
func (d *Dataset) Position() loader.Position {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.last()
}

// begin is where the next loop begins, and the epoch before which it ends.
func (d *Dataset) begin() (from loader.Position, until int, err error) {
	d.mu.Lock()
	from = d.next()
	d.mu.Unlock()
	left, err := d.loader.Len(from)
	if err != nil {
		return from, 0, err
	}
	if left == 0 { // the position was taken after an epoch's last batch
		from = d.loader.Position(from.Epoch + 1)
	}
	if !d.infinite {
		return from, from.Epoch + 1, nil
	}
	// A loop over empty epochs would never come to a batch.
	n, err := d.loader.Len(d.loader.Position(from.Epoch))
	if err == nil && n == 0 {
		err = errors.New("gomlx: Infinite: the loader has no batches")
	}
	return from, math.MaxInt, err
}

// delivered notes the place after a batch. Positions are made when they are asked
// for.
func (d *Dataset) delivered(b *loader.Batch) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.last, d.next = b.Position, b.Position
	if !d.infinite {
		epoch := b.Epoch() + 1
		d.next = func() loader.Position { return d.loader.Position(epoch) }
	}
}
