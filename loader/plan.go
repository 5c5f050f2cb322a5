package loader

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/sampler"
)

// A plan says which samples each batch of an epoch has. Orders have random access, so
// the worker that begins a batch computes its samples.
type plan struct {
	epoch   int
	samples int // in the dataset, or dataset.Unknown
	base    int // the first batch's seq in the run
	skipped int // number of batches of the epoch before the first one

	reached bool // whether the cursor has come to the plan; the loader's mutex guards it

	identity func() string // of the sampler; may be empty
	probed   func() string // calls newProbe once

	extent atomic.Pointer[extent] // replaced as a whole while the dataset's length is unknown

	size int // samples per batch, without a batch sampler

	// With a batch sampler:
	batches   sampler.Batches
	batchPart sampler.BatchPart // batches, if they are a BatchPart, otherwise nil

	first int // draws of order, or batches, that an earlier run has consumed; 0 with a part
}

// An extent is how far a plan reaches.
type extent struct {
	count   int  // number of batches
	growing bool // whether there may be more batches, because the end is not known

	// Without a batch sampler:
	order sampler.Order
	part  sampler.Part // order, if it is one rank's share, otherwise nil
	left  int          // draws of order that remain
}

// newExtent is the extent of an order, whose length is known, after its first draws.
func (l *Loader) newExtent(order sampler.Order, first int) *extent {
	e := &extent{order: order, left: order.Len() - first}
	e.part, _ = order.(sampler.Part)
	e.count = e.left / l.cfg.batchSize
	if !l.cfg.dropLast && e.left%l.cfg.batchSize > 0 {
		e.count++
	}
	return e
}

// count is the number of batches that are known.
func (p *plan) count() int { return p.extent.Load().count }

// growing reports whether there may be more batches.
func (p *plan) growing() bool { return p.extent.Load().growing }

// empty reports whether there are no batches.
func (p *plan) empty() bool { return p.count() == 0 && !p.growing() }

// newPlan plans the rest of an epoch from a position on. It calls the sampler.
func (l *Loader) newPlan(ctx context.Context, from Position) (*plan, error) {
	p, err := l.ordered(ctx, from)
	if err != nil {
		return nil, fmt.Errorf("loader: epoch %d: %w", from.Epoch, err)
	}
	p.skipped = p.drawn(0) / p.step()
	return p, nil
}

func (l *Loader) ordered(ctx context.Context, from Position) (*plan, error) {
	p := &plan{epoch: from.Epoch, samples: from.Samples, size: l.cfg.batchSize, identity: l.identity}
	p.probed = sync.OnceValue(p.newProbe)
	drawn := from.Draw
	if l.cfg.batchSampler != nil {
		batches, err := l.epochBatches(ctx, p.epoch, drawn)
		if err != nil {
			return nil, err
		}
		p.batches = batches
		if part, ok := batches.(sampler.BatchPart); ok {
			p.batchPart = part
		} else {
			p.first = min(drawn, batches.Len())
		}
		p.extent.Store(&extent{count: batches.Len() - p.first})
		return p, nil
	}
	order := l.cfg.sampler.Epoch(p.epoch)
	if part, ok := order.(sampler.Part); ok {
		if drawn > 0 {
			order = part.From(drawn)
		}
	} else {
		p.first = min(drawn, order.Len())
	}
	e := l.newExtent(order, p.first)
	if p.samples == dataset.Unknown {
		e.count, e.growing = 0, true
	}
	p.extent.Store(e)
	return p, nil
}

// begin is how many of the samples that remain come before batch k.
func (e *extent) begin(k, size int) int { return min(saturated(k, size), e.left) }

// drawn is the [Position.Draw] before batch k.
func (p *plan) drawn(k int) int {
	if p.batchPart != nil {
		return p.batchPart.Consumed(k)
	}
	if p.batches != nil {
		return p.first + k
	}
	e := p.extent.Load()
	if e.part != nil {
		return e.part.Consumed(saturated(k, p.size)) // other ranks may have one sample more
	}
	return p.first + e.begin(k, p.size)
}

// step is the [Position.Step] of the plan.
func (p *plan) step() int {
	e := p.extent.Load()
	switch {
	case p.batchPart != nil:
		return p.batchPart.Step()
	case p.batches != nil:
		return 1
	case e.part != nil:
		return saturated(p.size, e.part.World())
	}
	return p.size
}

// number is the number of batch k in the epoch, for messages and [Batch.Number].
func (p *plan) number(k int) int { return p.skipped + k }

// rows appends the samples of batch k and the places of their draws in the
// global order, from which their random numbers come.
func (p *plan) rows(k int, indices []int, draws []int64) ([]int, []int64) {
	indices = p.samplesOf(k, indices)
	if p.batches != nil {
		k += p.first
		for row := range indices {
			if p.batchPart != nil {
				draws = append(draws, p.batchPart.Draw(k, row))
			} else {
				draws = append(draws, int64(k)<<32|int64(row)) // batches may be of any length
			}
		}
		return indices, draws
	}
	e := p.extent.Load()
	for i, end := e.begin(k, p.size), e.begin(k+1, p.size); i < end; i++ {
		if e.part != nil {
			draws = append(draws, e.part.Draw(i))
		} else {
			draws = append(draws, int64(p.first+i))
		}
	}
	return indices, draws
}

// samplesOf appends the samples of batch k.
func (p *plan) samplesOf(k int, indices []int) []int {
	if p.batches != nil {
		return p.batches.At(p.first+k, indices)
	}
	e := p.extent.Load()
	for i, end := e.begin(k, p.size), e.begin(k+1, p.size); i < end; i++ {
		indices = append(indices, e.order.At(p.first+i))
	}
	return indices
}

// changed reports an error if an order has changed its length, which it must not.
func (p *plan) changed() error {
	e := p.extent.Load()
	what, had, has := "batches", p.first+e.count, 0
	if p.batches != nil {
		has = p.batches.Len()
	} else {
		what, had, has = "samples", p.first+e.left, e.order.Len()
	}
	if has != had {
		return fmt.Errorf("the sampler's order had %d %s when the epoch was planned and has %d now", had, what, has)
	}
	return nil
}

// replacement picks another sample for a row of batch k: one of the global order, or
// with a batch sampler one of the same batch.
func (p *plan) replacement(k int, random func(n int) int) int {
	e := p.extent.Load()
	switch {
	case p.batches != nil:
		// Not from j.indices: other workers may be replacing rows there now.
		indices := p.batches.At(p.first+k, nil)
		return indices[random(len(indices))]
	case e.part != nil:
		global := e.part.Global()
		return global.At(random(global.Len()))
	}
	return e.order.At(random(e.order.Len()))
}

// inRange reports an error if the dataset has no such sample.
func (p *plan) inRange(index int) error {
	if index < 0 || p.samples != dataset.Unknown && index >= p.samples {
		return fmt.Errorf("the sampler drew sample %d of a dataset of %d samples", index, p.samples)
	}
	return nil
}
