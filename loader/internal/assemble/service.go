package assemble

import (
	"context"
	"slices"

	"github.com/penstock-go/penstock/loader/internal/plan"
)

// A Service is a dataset whose batches are assembled elsewhere. Its samples are not read one by one: it has no Reader.
type Service interface {
	plan.Service
	// Fill fills a batch. Several goroutines may call it at once. An error ends the loop in the place of the batch.
	Fill(ctx context.Context, b Filled) error
}

// Filled is the memory of one batch, to be filled by a [Service]. Only the worker that has claimed its first row uses
// it.
type Filled struct{ j *Job }

// Epoch is the epoch of the batch.
func (b Filled) Epoch() int { return b.j.Epoch() }

// Draw is the place of the epoch's global order from which Number counts: 0 if it is a multiple of the draws of a
// batch.
func (b Filled) Draw() int {
	if !b.j.Plan.Aligned() {
		return b.j.Plan.Begin()
	}
	return 0
}

// Number is the batch's number from Draw on.
func (b Filled) Number() int {
	if b.Draw() > 0 {
		return b.j.K
	}
	return b.j.Number()
}

// Reserve makes room for that many samples and returns the slice of their indices. It may be called again: then the
// batch is empty again.
func (b Filled) Reserve(rows int) (indices []int, err error) {
	s := b.j.Slab
	if err := s.Reserve(rows); err != nil {
		return nil, err
	}
	s.Indices = slices.Grow(s.Indices[:0], rows)[:rows]
	return s.Indices, nil
}

// Fixed is the memory of a field of fixed size, in the rows that Reserve has made room for.
func (b Filled) Fixed(field int) []byte { return b.j.Slab.Column(field, len(b.j.Slab.Indices)) }

// Ragged makes room for n bytes of a ragged field. The caller writes the values, and the len(indices)+1 offsets in
// elements, which ascend from 0.
func (b Filled) Ragged(field, n int) (values []byte, offsets []int, err error) {
	return b.j.Slab.Fill(field, len(b.j.Slab.Indices), n)
}

// Dropped says how many samples of the batch could not be placed where it was assembled. The default is 0.
func (b Filled) Dropped(samples int) { b.j.Dropped = samples }

// StageService lasts while a service is asked for a batch.
const StageService = "service"

// placeWhole makes the service fill the batch. An error ends the loop in its place.
func (w *worker) placeWhole(j *Job) {
	err := w.calls(fetching, func() error {
		w.clock.Stage(StageService)
		return w.t.cfg.Service.Fill(w.ctx, Filled{j})
	})
	w.clock.Stop()
	if err != nil {
		j.breaks(j.named(err))
	}
}
