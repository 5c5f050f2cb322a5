package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"

	"github.com/penstock-go/penstock/examples/train/net"
	"github.com/penstock-go/penstock/loader"
)

// A trainer is one run: the data, two graphs that share a model's weights, and the
// state that checkpoints hold.
type trainer struct {
	options
	data *data
	on   *net.Backend

	trainLoader, validLoader *loader.Loader
	trainGraph, validGraph   *net.Graph
	state
}

// A state is all that a step depends on, and the history. It is a checkpoint.
type state struct {
	Settings settings
	Model    *net.Model
	Adam     adam // counts the steps
	Position loader.Position
	Sum      float64 // of the losses of the steps in the epoch so far
	Epochs   []epoch // that are complete
}

// settings must not change within a run.
type settings struct {
	Files, Classes string // as in data
	Size, Batch    int
	Rate           float64
	Seed           uint64
}

// An epoch is how it went: losses are in nats, and the accuracy is from 0 to 1.
type epoch struct{ Loss, ValidLoss, Accuracy float64 }

// newTrainer opens everything, and takes the state from the checkpoint if there is
// one.
func newTrainer(o options, dir string) (_ *trainer, err error) {
	t := &trainer{options: o}
	defer func() {
		if err != nil {
			t.Close()
		}
	}()
	if t.data, err = openData(dir, o.size, o.seed); err != nil {
		return nil, err
	}
	if n := t.data.train.Len(); o.batch > n {
		return nil, fmt.Errorf("-batch %d: there are only %d training images", o.batch, n)
	}
	if t.on, err = net.Open(o.device, o.kernels); err != nil {
		return nil, err
	}
	t.trainLoader, err = loader.New(t.data.train, loader.BatchSize(o.batch), loader.Workers(o.workers),
		loader.Shuffle(true), loader.Seed(o.seed), loader.Memory(t.on.Memory), loader.Poison(o.poison))
	if err != nil {
		return nil, err
	}
	t.validLoader, err = loader.New(t.data.valid, loader.BatchSize(o.batch), loader.Workers(o.workers), loader.Memory(t.on.Memory), loader.Poison(o.poison))
	if err != nil {
		return nil, err
	}
	if err := t.restore(); err != nil {
		return nil, err
	}
	if t.trainGraph, err = t.Model.Train(t.on, o.batch); err != nil {
		return nil, err
	}
	t.validGraph, err = t.Model.Eval(t.on, o.batch)
	return t, err
}

// restore takes the state from the checkpoint. If there is none, or with -fresh, it
// makes the state of a new run. A checkpoint with other settings is an error, and
// stays as it is.
func (t *trainer) restore() error {
	want := settings{t.data.files, fmt.Sprint(t.data.classes), t.size, t.batch, t.rate, t.seed}
	err := net.Load(t.checkpoint, &t.state)
	if t.fresh || errors.Is(err, fs.ErrNotExist) {
		t.state = state{Settings: want, Position: t.trainLoader.Position(0)}
		if t.Model, err = net.New(t.size, t.data.classes, t.seed); err == nil {
			t.Adam = newAdam(t.Model)
		}
		return err
	}
	if err == nil && t.Settings != want {
		err = fmt.Errorf("%s is of a run with %+v, this one has %+v", t.checkpoint, t.Settings, want)
	}
	if err != nil {
		return fmt.Errorf("%w; -fresh starts a new run", err)
	}
	return nil
}

// train runs the steps that remain. It calls step after every one, with whether it was
// the last of its epoch. If ctx ends, train returns its error, or the error of saving
// the steps. The checkpoint is also written before the first step, so that a path that
// cannot be written is noticed at once.
func (t *trainer) train(ctx context.Context, step func(last bool)) error {
	perEpoch, err := t.trainLoader.Len(t.trainLoader.Position(0))
	if err != nil {
		return err
	}
	if err := net.Save(t.checkpoint, t.state); err != nil {
		return err
	}
	for batch, err := range t.trainGraph.Feed.Run(t.trainLoader.From(ctx, t.Position, t.epochs)) {
		if ctx.Err() != nil && err != nil {
			return cmp.Or(net.Save(t.checkpoint, t.state), ctx.Err())
		}
		if err != nil {
			return err
		}
		if err := t.step(batch); err != nil {
			return err
		}
		last := batch.Number()+1 == perEpoch
		if last {
			valid, accuracy, err := t.evaluate(context.WithoutCancel(ctx))
			if err != nil {
				return err
			}
			t.Epochs = append(t.Epochs, epoch{t.Sum / float64(perEpoch), valid, accuracy})
			t.Sum = 0
		}
		t.Position = batch.Position()
		if t.Adam.Steps%t.every == 0 {
			if err := net.Save(t.checkpoint, t.state); err != nil {
				return err
			}
		}
		step(last)
	}
	return net.Save(t.checkpoint, t.state)
}

// step updates the weights with the gradients of a batch.
func (t *trainer) step(batch *loader.Batch) error {
	loss := float64(t.trainGraph.Loss())
	if math.IsNaN(loss) || math.IsInf(loss, 0) {
		return fmt.Errorf("the loss is %v in batch %d of epoch %d: a smaller -lr may help; %s holds earlier steps",
			loss, batch.Number(), batch.Epoch(), t.checkpoint)
	}
	gradients, err := t.trainGraph.Gradients()
	if err != nil {
		return err
	}
	t.Adam.update(t.Model, gradients, t.rate/math.Sqrt(float64(1+batch.Epoch())))
	t.Sum += loss
	return nil
}

// evaluate computes loss and accuracy of the validation images.
func (t *trainer) evaluate(ctx context.Context) (loss, accuracy float64, err error) {
	right, all, classes := 0, 0, len(t.data.classes)
	for batch, err := range t.validGraph.Feed.Run(t.validLoader.Epoch(ctx, 0)) {
		if err != nil {
			return 0, 0, err
		}
		logs := t.validGraph.LogProbabilities()
		for i, label := range loader.Values[int64](batch, "label") {
			row := logs[i*classes:][:classes]
			if net.Best(row) == int(label) {
				right++
			}
			loss -= float64(row[label])
			all++
		}
	}
	return loss / float64(all), float64(right) / float64(all), nil
}

// Close frees what the trainer holds. Loaders are closed before their memory is freed.
func (t *trainer) Close() error {
	var errs []error
	for _, g := range []*net.Graph{t.trainGraph, t.validGraph} {
		if g != nil {
			errs = append(errs, g.Close())
		}
	}
	for _, l := range []*loader.Loader{t.trainLoader, t.validLoader} {
		if l != nil {
			errs = append(errs, l.Close())
		}
	}
	if t.on != nil {
		errs = append(errs, t.on.Close())
	}
	return errors.Join(errs...)
}
