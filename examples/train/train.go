package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/penstock-go/penstock/examples/internal/net"
	"github.com/penstock-go/penstock/loader"
)

// A trainer is a run: the data, the graphs over one model's weights, and the
// state that checkpoints hold.
type trainer struct {
	options
	data     *data
	on       *net.Backend
	loader   *loader.Loader // of the images to learn from
	perEpoch int            // batches of it
	held     *loader.Loader // of those held out
	learner  *net.Graph
	judge    *net.Graph
	state
}

// newTrainer opens everything, and takes the state from the checkpoint where
// there is one.
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
	if n := t.data.learn.Len(); o.batch > n {
		return nil, fmt.Errorf("-batch %d: there are only %d images to learn from", o.batch, n)
	}
	if t.on, err = net.Open(o.device, o.kernels); err != nil {
		return nil, err
	}
	memory := loader.Allocator(t.on.Memory)
	if o.poison {
		memory = loader.Poison(memory)
	}
	t.loader, err = loader.New(t.data.learn, loader.BatchSize(o.batch), loader.Workers(o.workers),
		loader.Shuffle(true), loader.Seed(o.seed), loader.Memory(memory))
	if err != nil {
		return nil, err
	}
	if t.perEpoch, err = t.loader.Len(0); err != nil {
		return nil, err
	}
	t.held, err = loader.New(t.data.judge, loader.BatchSize(o.batch), loader.Workers(o.workers),
		loader.Memory(memory))
	if err != nil {
		return nil, err
	}
	if err := t.restore(); err != nil {
		return nil, err
	}
	if t.learner, err = t.model.Learn(t.on, o.batch); err != nil {
		return nil, err
	}
	t.judge, err = t.model.Judge(t.on, o.batch)
	return t, err
}

// train runs the steps that remain. It calls step after every one, with its loss,
// and epoch after every epoch. When ctx ends, its error is returned, unless the
// steps could not be saved. The checkpoint is written before the first step too,
// so that a path which cannot be written shows at once.
func (t *trainer) train(ctx context.Context, step func(*loader.Batch, float32), epoch func()) error {
	if err := t.save(); err != nil {
		return err
	}
	for batch, err := range t.learner.Feed.Run(t.loader.From(ctx, t.position, t.epochs)) {
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
			if err := t.hold(context.WithoutCancel(ctx)); err != nil {
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

// step moves the weights by what the VM made of a batch.
func (t *trainer) step(batch *loader.Batch) error {
	loss := t.learner.Loss()
	if math.IsNaN(float64(loss)) || math.IsInf(float64(loss), 0) {
		return fmt.Errorf("the loss is %v in batch %d of epoch %d: a smaller -lr may help; %s holds earlier steps",
			loss, batch.Number(), batch.Epoch(), t.checkpoint)
	}
	gradients, err := t.learner.Gradients()
	if err != nil {
		return err
	}
	t.update(gradients, t.rate/math.Sqrt(float64(1+batch.Epoch())))
	t.losses = append(t.losses, loss)
	return nil
}

// hold validates the net on the images held out.
func (t *trainer) hold(ctx context.Context) error {
	var loss float64
	right, all := 0, 0
	count := make([]int, len(t.data.classes))
	for batch, err := range t.judge.Feed.Run(t.held.Epoch(ctx, 0)) {
		if err != nil {
			return err
		}
		logs := t.judge.LogProbabilities()
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
	t.heldLosses = append(t.heldLosses, float32(loss/float64(all)))
	t.accuracy = append(t.accuracy, float32(right)/float32(all))
	return nil
}

// Close frees what the trainer holds. The loaders come before their memory.
func (t *trainer) Close() error {
	var errs []error
	for _, g := range []*net.Graph{t.learner, t.judge} {
		if g != nil {
			errs = append(errs, g.Close())
		}
	}
	for _, l := range []*loader.Loader{t.loader, t.held} {
		if l != nil {
			errs = append(errs, l.Close())
		}
	}
	if t.on != nil {
		errs = append(errs, t.on.Close())
	}
	return errors.Join(errs...)
}
