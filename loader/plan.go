package loader

import (
	"fmt"
	"sync"

	"github.com/penstock-go/penstock/sampler"
)

// A plan says which samples each batch of an epoch has. Orders have random access, so
// the worker that begins a batch computes its samples.
type plan struct {
	epoch   int
	samples int // in the dataset
	count   int // number of batches
	base    int // the first batch's seq in the run
	skipped int // number of batches of the epoch before the first one

	reached bool // whether the cursor has come to the plan; the loader's mutex guards it

	identity func() string // of the sampler; may be empty
	probed   func() string // calls newProbe once

	// Without a batch sampler:
	order sampler.Order
	part  sampler.Part // order, if it is one rank's share, otherwise nil
	left  int          // draws of order that remain
	size  int          // samples per batch

	// With a batch sampler:
	batches   sampler.Batches
	batchPart sampler.BatchPart // batches, if they are a BatchPart, otherwise nil

	first int // draws of order, or batches, that an earlier run has consumed; 0 with a part
}

// newPlan plans the rest of an epoch from a position on. It calls the sampler.
func (l *Loader) newPlan(from Position) *plan {
	p := l.ordered(from)
	p.skipped = p.drawn(0) / p.step()
	return p
}

func (l *Loader) ordered(from Position) *plan {
	p := &plan{epoch: from.Epoch, samples: from.Samples, size: l.cfg.batchSize, identity: l.identity}
	p.probed = sync.OnceValue(p.newProbe)
	drawn := from.Draw
	if l.cfg.batchSampler != nil {
		p.batches = l.cfg.batchSampler.Epoch(p.epoch)
		if part, ok := p.batches.(sampler.BatchPart); ok {
			if drawn > 0 {
				part = part.From(drawn)
			}
			p.batches, p.batchPart = part, part
		} else {
			p.first = min(drawn, p.batches.Len())
		}
		p.count = p.batches.Len() - p.first
		return p
	}
	p.order = l.cfg.sampler.Epoch(p.epoch)
	if part, ok := p.order.(sampler.Part); ok {
		if drawn > 0 {
			part = part.From(drawn)
		}
		p.order, p.part = part, part
	} else {
		p.first = min(drawn, p.order.Len())
	}
	p.left = p.order.Len() - p.first
	p.count = p.left / p.size
	if !l.cfg.dropLast && p.left%p.size > 0 {
		p.count++
	}
	return p
}

// begin is how many of the samples that remain come before batch k.
func (p *plan) begin(k int) int { return min(saturated(k, p.size), p.left) }

// drawn is the [Position.Draw] before batch k.
func (p *plan) drawn(k int) int {
	if p.batchPart != nil {
		return p.batchPart.Consumed(k)
	}
	if p.batches != nil {
		return p.first + k
	}
	own := p.begin(k)
	if p.part != nil {
		return p.part.Consumed(own)
	}
	return p.first + own
}

// step is the [Position.Step] of the plan.
func (p *plan) step() int {
	switch {
	case p.batchPart != nil:
		return p.batchPart.Step()
	case p.batches != nil:
		return 1
	case p.part != nil:
		return saturated(p.size, p.part.World())
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
	for i, end := p.begin(k), p.begin(k+1); i < end; i++ {
		if p.part != nil {
			draws = append(draws, p.part.Draw(i))
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
	for i, end := p.begin(k), p.begin(k+1); i < end; i++ {
		indices = append(indices, p.order.At(p.first+i))
	}
	return indices
}

// changed reports an error if an order has changed its length, which it must not.
func (p *plan) changed() error {
	what, had, has := "batches", p.first+p.count, 0
	if p.batches != nil {
		has = p.batches.Len()
	} else {
		what, had, has = "samples", p.first+p.left, p.order.Len()
	}
	if has != had {
		return fmt.Errorf("the sampler's order had %d %s when the epoch was planned and has %d now", had, what, has)
	}
	return nil
}

// replacement picks another sample for a row of batch k: one of the global order, or
// with a batch sampler one of the same batch.
func (p *plan) replacement(k int, random func(n int) int) int {
	switch {
	case p.batches != nil:
		// Not from j.indices: other workers may be replacing rows there now.
		indices := p.batches.At(p.first+k, nil)
		return indices[random(len(indices))]
	case p.part != nil:
		global := p.part.Global()
		return global.At(random(global.Len()))
	}
	return p.order.At(random(p.order.Len()))
}

// inRange reports an error if the dataset has no such sample.
func (p *plan) inRange(index int) error {
	if index < 0 || index >= p.samples {
		return fmt.Errorf("the sampler drew sample %d of a dataset of %d samples", index, p.samples)
	}
	return nil
}
