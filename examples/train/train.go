package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

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
	perEpoch                 int // batches of trainLoader
	state
}

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
	memory := loader.Allocator(t.on.Memory)
	if o.poison {
		memory = loader.Poison(memory)
	}
	t.trainLoader, err = loader.New(t.data.train, loader.BatchSize(o.batch), loader.Workers(o.workers),
		loader.Shuffle(true), loader.Seed(o.seed), loader.Memory(memory))
	if err != nil {
		return nil, err
	}
	if t.perEpoch, err = t.trainLoader.Len(t.trainLoader.Position(0)); err != nil {
		return nil, err
	}
	t.validLoader, err = loader.New(t.data.valid, loader.BatchSize(o.batch), loader.Workers(o.workers),
		loader.Memory(memory))
	if err != nil {
		return nil, err
	}
	if err := t.restore(); err != nil {
		return nil, err
	}
	if t.trainGraph, err = t.model.Train(t.on, o.batch); err != nil {
		return nil, err
	}
	t.validGraph, err = t.model.Eval(t.on, o.batch)
	return t, err
}

// train runs the steps that remain. It calls step after every one, with its loss,
// and epoch after every epoch. If ctx ends, train returns its error, or the error of
// saving the steps. The checkpoint is also written before the first step, so that a
// path that cannot be written is noticed at once.
func (t *trainer) train(ctx context.Context, step func(*loader.Batch, float32), epoch func()) error {
	if err := t.save(); err != nil {
		return err
	}
	for batch, err := range t.trainGraph.Feed.Run(t.trainLoader.From(ctx, t.position, t.epochs)) {
		if ctx.Err() != nil && err != nil {
			return cmp.Or(t.save(), ctx.Err())
		}
		if err != nil {
			return err
		}
		if err := t.step(batch); err != nil {
			return err
		}
		last := batch.Number()+1 == t.perEpoch
		if last {
			if err := t.evaluate(context.WithoutCancel(ctx)); err != nil {
				return err
			}
		}
		t.position = batch.Position()
		if t.steps%t.every == 0 {
			if err := t.save(); err != nil {
				return err
			}
		}
		step(batch, t.losses[t.steps-1])
		if last {
			epoch()
		}
	}
	return t.save()
}

// step updates the weights with the gradients of a batch.
func (t *trainer) step(batch *loader.Batch) error {
	loss := t.trainGraph.Loss()
	if math.IsNaN(float64(loss)) || math.IsInf(float64(loss), 0) {
		return fmt.Errorf("the loss is %v in batch %d of epoch %d: a smaller -lr may help; %s holds earlier steps",
			loss, batch.Number(), batch.Epoch(), t.checkpoint)
	}
	gradients, err := t.trainGraph.Gradients()
	if err != nil {
		return err
	}
	t.update(gradients, t.rate/math.Sqrt(float64(1+batch.Epoch())))
	t.losses = append(t.losses, loss)
	return nil
}

// evaluate computes loss and accuracy of the validation images.
func (t *trainer) evaluate(ctx context.Context) error {
	var loss float64
	right, all := 0, 0
	count := make([]int, len(t.data.classes))
	for batch, err := range t.validGraph.Feed.Run(t.validLoader.Epoch(ctx, 0)) {
		if err != nil {
			return err
		}
		logs := t.validGraph.LogProbabilities()
		for _, label := range loader.Values[int64](batch, "label") {
			row := logs[:len(count)]
			logs = logs[len(count):]
			if net.Best(row) == int(label) {
				right++
			}
			loss -= float64(row[label])
			count[label]++
			all++
		}
	}
	t.chance = float64(slices.Max(count)) / float64(all)
	t.validLosses = append(t.validLosses, float32(loss/float64(all)))
	t.accuracy = append(t.accuracy, float32(right)/float32(all))
	return nil
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
