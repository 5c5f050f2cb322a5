package assemble

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/internal/slots"
	"github.com/penstock-go/penstock/loader/internal/plan"
)

// fill claims rows of a batch and places them. It returns their number.
func (w *worker) fill(j *Job, chunk int) int {
	from, to := j.claim(chunk)
	if from == to {
		return 0
	}
	switch {
	case w.t.cfg.Service != nil:
		if from == 0 { // who claims other rows has nothing to do
			w.placeWhole(j)
		}
	case w.batch != nil && w.tryTogether(j, from, to) == nil:
	default:
		for row := from; row < to; row++ {
			w.placeRow(j, row)
		}
	}
	return to - from
}

// tryTogether places all rows by one call.
func (w *worker) tryTogether(j *Job, from, to int) error {
	w.index = j.Slab.Indices[from]
	if w.t.cfg.Hooks.Placed == nil {
		return w.placeRows(j, from, to)
	}
	return w.observe(j, from, to-from, func() error { return w.placeRows(j, from, to) })
}

// placeRow places a sample in a row, or notes why it cannot be.
func (w *worker) placeRow(j *Job, row int) {
	w.index = j.Slab.Indices[row]
	if err := w.try(j, row); err != nil {
		f := w.newFailure(j, row, err)
		w.report(f.Failure)
		j.addFailure(f)
	}
}

func (w *worker) try(j *Job, row int) error {
	if w.batch != nil {
		if err := w.loop.ctx.Err(); err != nil { // a cancelled loop need not know which rows fail
			return err
		}
	}
	if w.t.cfg.Hooks.Placed == nil {
		return w.place(j, row)
	}
	return w.observe(j, row, 1, func() error { return w.place(j, row) })
}

// newFailure is that of a row.
func (w *worker) newFailure(j *Job, row int, err error) rowFailure {
	f := &Failure{Index: w.index, Epoch: j.Epoch(), Batch: j.Number(), Err: err}
	w.guard(naming, func() error {
		f.Name = w.t.Name(w.index, j.Plan.Samples)
		return nil
	})
	return rowFailure{Failure: f, row: row, may: dataset.MayPass(err)}
}

// report calls the hook for a failure. If the hook panics, the panic is added to the failure's error.
func (w *worker) report(f *Failure) {
	if w.t.cfg.Hooks.Failed == nil || w.loop.ctx.Err() != nil {
		return
	}
	err := w.guard(reporting, func() error {
		tell(w.t.cfg.Hooks.Failed, f)
		return nil
	})
	if err != nil {
		f.Err = errors.Join(f.Err, err)
	}
}

// An Attempt is a call that has placed a sample, or several, or has tried to.
type Attempt struct {
	Job    *Job
	Worker int
	Row    int
	Rows   int // that were placed by this call
	Index  int // of the first sample
	Begun  time.Time
	Took   time.Duration
	Err    error
	Stages []slots.Span // valid during the hook
}

// observe calls place, which is an attempt to place rows, and then the hook for it. It returns the error of place, or
// those of both.
func (w *worker) observe(j *Job, row, rows int, place func() error) error {
	w.clock.Record()
	a := Attempt{Job: j, Worker: w.id, Row: row, Rows: rows, Index: w.index, Err: place()}
	a.Stages, a.Begun, a.Took = w.clock.Recorded()
	failed := w.guard(observing, func() error {
		tell(w.t.cfg.Hooks.Placed, a)
		return nil
	})
	if failed != nil {
		return errors.Join(a.Err, failed)
	}
	return a.Err
}

// placeRows places several rows by one call. If it fails, the caller places them one by one, to find out which of them
// fail.
func (w *worker) placeRows(j *Job, from, to int) (err error) {
	for _, index := range j.Slab.Indices[from:to] {
		if err := j.Plan.InRange(index); err != nil {
			return err
		}
	}
	for row := from; w.ragged && row < to; row++ {
		j.Slab.Empty(row) // not in At, which may be called several times for a row
	}
	err = w.guard(j.Slab.Indices[from], func() error {
		w.rows.begin(w, j, from, to)
		err := w.batch.PlaceBatch(w.ctx, j.Slab.Indices[from:to:to], &w.rows)
		for row := from; err == nil && w.ragged && row < to; row++ {
			err = j.Slab.CheckRow(row)
		}
		return err
	})
	w.clock.Stop()
	return err
}

// place makes the reader write a sample into row. A panic becomes an error.
func (w *worker) place(j *Job, row int) error {
	if err := j.Plan.InRange(w.index); err != nil {
		return err
	}
	if w.reader == nil {
		if err := w.open(); err != nil {
			err = fmt.Errorf("loader: worker %d: open dataset: %w", w.id, err)
			j.breakOff(err)
			return err
		}
	}
	err := w.read(j, row)
	if took := w.clock.Stop(); took > turn && j.unclaimed() > 0 { // after the last row the worker counts its rows first
		w.giveWay()
	}
	return err
}

// read calls the Reader as guard does, without a closure for every sample.
func (w *worker) read(j *Job, row int) (err error) {
	returned := false
	defer w.called(w.index, &returned, &err)
	w.enter(w.index)
	if w.ragged {
		j.Slab.Empty(row)
	}
	w.reset(w.draw, j, row)
	err = w.reader.Place(w.ctx, w.index, w.slot(j, row, w.draw))
	if err == nil && w.ragged {
		err = j.Slab.CheckRow(row)
	}
	returned = true
	return err
}

// slot is the slot of a row, with the random numbers of draw.
func (w *worker) slot(j *Job, row int, draw *slots.Draw) dataset.Slot {
	j.Slab.Cells(row, w.cells)
	return dataset.Slot(slots.New(w.cells, draw))
}

// reset gives draw the random numbers of a row.
func (w *worker) reset(draw *slots.Draw, j *Job, row int) {
	draw.Reset(w.t.cfg.Seed, j.Epoch(), j.Slab.Draws[row])
}

// A rowSlots is a range of a job's rows as [dataset.Slots]. Every row has a draw of its own. If At is called again for
// a row, its random numbers continue.
type rowSlots struct {
	w        *worker
	j        *Job
	from, to int
	draws    []slots.Draw
}

func (s *rowSlots) begin(w *worker, j *Job, from, to int) {
	s.w, s.j, s.from, s.to = w, j, from, to
	if len(s.draws) < to-from {
		s.draws = slots.NewDraws(to-from, w.clock)
	}
	for k := range to - from {
		w.reset(&s.draws[k], j, from+k)
	}
}

func (s *rowSlots) Len() int { return s.to - s.from }

// At panics if there is no slot k. A row beyond the range is another worker's, or in other memory.
func (s *rowSlots) At(k int) dataset.Slot {
	if uint(k) >= uint(s.Len()) {
		panic(fmt.Sprintf("loader: Slots.At(%d): want an index from 0 to %d", k, s.Len()-1))
	}
	return s.w.slot(s.j, s.from+k, &s.draws[k])
}

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
	err := w.guard(fetching, func() error {
		w.clock.Stage(StageService)
		return w.t.cfg.Service.Fill(w.ctx, Filled{j})
	})
	w.clock.Stop()
	if err != nil {
		j.breakOff(j.wrap(err))
	}
}
