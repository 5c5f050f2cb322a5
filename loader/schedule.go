package loader

import (
	"context"
	"fmt"
	"strings"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/internal/steps"
	"github.com/penstock-go/penstock/loader/internal/plan"
)

// A Schedule says which batches a [Loader] with the same arguments would load. It has no
// workers and no memory for batches, so it is cheap to make.
type Schedule struct{ l *Loader }

// NewSchedule makes a schedule. Its errors are those of [New].
func NewSchedule(ds dataset.Dataset, options ...Option) (*Schedule, error) {
	l, err := newLoader(ds, options)
	if err != nil {
		return nil, err
	}
	return &Schedule{l}, nil
}

// Spec describes the fields of the batches: see [Loader.Spec].
func (s *Schedule) Spec() dataset.Spec { return s.l.Spec() }

// Position is the place before the first batch of an epoch: see [Loader.Position].
func (s *Schedule) Position(epoch int) Position { return s.l.Position(epoch) }

// Rows is the number of samples in the largest batch of epoch 0.
func (s *Schedule) Rows() (int, error) { return s.l.largestBatch() }

// A Rest is what remains of an epoch after a position, on one rank.
type Rest struct {
	// Batches is the number of batches.
	Batches int
	// Number is the [Batch.Number] of the first of them.
	Number int
	// Step is how much every batch adds to [Position.Draw], which is never above End.
	// Before batch k of the rest, Draw is that of the position plus k·Step.
	Step int
	// End is the Draw after the last batch.
	End int
}

// Rest says what remains of an epoch after a position. [Position.Ahead] does not count: what
// it names remains. The errors are those of [Loader.Left].
func (s *Schedule) Rest(p Position) (Rest, error) {
	rest, err := s.l.rest(plan.Position(p))
	if err != nil {
		return Rest{}, err
	}
	return Rest{Batches: rest.Len(), Number: rest.Number(0), Step: rest.Step(), End: rest.End()}, nil
}

// String describes everything that decides the content of batches, except the samples
// and the rank: "batches of 32 of 334 samples; order Shuffle(334 samples, seed 7); seed 7;
// errors end the loop". Steps of [Collate] appear by their String, or by their type.
func (s *Schedule) String() string {
	c := &s.l.cfg
	var parts []string
	if c.batchSampler != nil {
		parts = append(parts, fmt.Sprintf("batches of a sampler of %d samples", s.l.ds.Len()))
	} else {
		parts = append(parts, fmt.Sprintf("batches of %d of %d samples", c.batchSize, s.l.ds.Len()))
	}
	if c.dropLast {
		parts = append(parts, "the last one only if it is full")
	}
	order := s.l.plans.Identity()
	if order == "" {
		if first, err := s.l.plans.Plan(context.Background(), s.l.plans.Start(0)); err == nil {
			order = first.Order()
		}
	}
	parts = append(parts, "order "+order, fmt.Sprintf("seed %d", c.seed))
	switch c.policy {
	case Stop:
		parts = append(parts, "errors end the loop")
	case Skip:
		parts = append(parts, fmt.Sprintf("errors are skipped, limit %d", c.limit))
	case Replace:
		parts = append(parts, fmt.Sprintf("errors are replaced, limit %d", c.limit))
	}
	if len(c.collate) > 0 {
		names := make([]string, len(c.collate))
		for k, step := range c.collate {
			names[k] = steps.Name(step)
		}
		parts = append(parts, "collate "+strings.Join(names, ", "))
	}
	return strings.Join(parts, "; ")
}
