// Package plan says which samples each batch of a loader has: in one epoch ([Plan]), over many ([Cursor]), and after a
// [Position] at which an earlier program stopped ([Ledger] knows which batches were delivered).
//
// It computes, and nothing else: it starts no goroutine and has no mutex. It calls the sampler, and no other code of a
// user. A Planner and a Plan may be used by several goroutines at once, but for what grows a Plan. A Cursor and a
// Ledger have one owner.
package plan

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/loader/internal/usercode"
	"github.com/penstock-go/penstock/sampler"
)

// Options say which samples batches have. There is a Sampler, or Batches, or a Service.
type Options struct {
	Len func() int // of the dataset

	Sampler  sampler.Sampler
	Size     int  // samples per batch
	DropLast bool // whether the last batch is left out if it has fewer

	Batches sampler.BatchSampler
	Service Service

	Seed uint64
}

// A Service knows which samples its batches have.
type Service interface {
	sampler.Identified
	// Rest says what remains of an epoch after a place of the global order.
	Rest(ctx context.Context, epoch, draw int) (Rest, error)
	// Rows is the number of samples in the largest batch.
	Rows() int
	// Seed is that of the batches.
	Seed() uint64
}

// A Rest is what remains of an epoch after a position, on one rank. Batches that were delivered ahead count too.
type Rest struct {
	Batches int
	Number  int // of the first batch, in the epoch; not that of a Service
	Step    int // draws of the global order for one batch on every rank
	End     int // the draw after the last batch
}

// A Planner makes the plans of a loader.
type Planner struct {
	Options
	identity func() string
}

// New makes a Planner.
func New(o Options) *Planner {
	p := &Planner{Options: o}
	p.identity = sync.OnceValue(p.identify)
	return p
}

// Identity is that of the sampler, or empty if it has none.
func (p *Planner) Identity() string { return p.identity() }

func (p *Planner) identify() string {
	var s any = p.Sampler
	switch {
	case p.Service != nil:
		s = p.Service
	case p.Batches != nil:
		s = p.Batches
	}
	if s, ok := s.(sampler.Identified); ok {
		return s.Identity()
	}
	return ""
}

// Largest is the number of rows of the largest batch of epoch 0, at least 1. It calls the sampler. A panic becomes an
// error.
func (p *Planner) Largest() (rows int, err error) {
	switch n := p.Len(); {
	case p.Service != nil:
		return max(1, p.Service.Rows()), nil
	case p.Batches == nil && n == dataset.Unknown:
		return p.Size, nil
	case p.Batches == nil:
		return max(1, min(p.Size, n)), nil
	}
	defer usercode.Recover(&err)
	rows = 1
	batches := p.Batches.Epoch(0)
	var indices []int
	for k := range batches.Len() {
		indices = batches.At(k, indices[:0])
		rows = max(rows, len(indices))
	}
	return rows, nil
}

// Rest says what remains of an epoch after a position. It is an error if that is not known.
func (p *Planner) Rest(ctx context.Context, from Position) (Rest, error) {
	if err := p.Check(from); err != nil {
		return Rest{}, err
	}
	plan, err := p.Plan(ctx, from)
	switch {
	case err != nil:
		return Rest{}, err
	case plan.Growing():
		return Rest{}, fmt.Errorf("loader: epoch %d: the length of the dataset is unknown", from.Epoch)
	}
	return Rest{plan.Len(), plan.Number(0), plan.Step(), plan.drawsBefore(plan.Len())}, nil
}

// Plan plans the rest of an epoch from a position on. It calls the sampler. A panic becomes an error.
func (p *Planner) Plan(ctx context.Context, from Position) (plan *Plan, err error) {
	err = usercode.Call(func() (err error) {
		plan, err = p.plan(ctx, from)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("loader: epoch %d: %w", from.Epoch, err)
	}
	return plan, errors.Join(plan.endless(), plan.resumes(from))
}

func (p *Planner) plan(ctx context.Context, from Position) (*Plan, error) {
	plan := &Plan{Epoch: from.Epoch, Samples: from.Samples, identity: p.identity}
	plan.probed = sync.OnceValue(func() string { return plan.probe(plan.Epoch) })
	switch {
	case p.Service != nil:
		rest, err := p.Service.Rest(ctx, from.Epoch, from.Draw)
		if err != nil {
			return nil, err
		}
		plan.content = served{rest, from.Draw, p.Service.Rows()}
	case p.Batches != nil:
		plan.content = newBatched(p.Batches.Epoch(from.Epoch), from.Draw)
	default:
		plan.content = newOrdered(p, from)
	}
	plan.skipped = plan.drawsBefore(0) / plan.Step()
	return plan, nil
}
