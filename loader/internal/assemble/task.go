package assemble

import (
	"errors"
	"fmt"
	"time"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/internal/slots"
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
	return w.tried(j, from, to-from, w.index, func() error { return w.placeRows(j, from, to) })
}

// maxReplacements is the largest number of replacements for one row.
const maxReplacements = 10

// placeRow places a sample in a row, or what the error policy takes in its place.
func (w *worker) placeRow(j *Job, row int) {
	var original *failure
	for attempt := 0; ; attempt++ {
		index, err := w.try(j, row, attempt)
		switch {
		case err == nil && attempt == 0:
			return
		case err == nil:
			j.Slab.Indices[row] = index
			original.lost = false
			j.fail(*original)
			return
		}
		f := w.failure(j, row, index, err)
		if attempt == 0 {
			original = &f
		} else {
			f.lost = false
			j.fail(f)
		}
		w.report(f.Failure)
		if w.t.cfg.Policy != Replace || f.may || attempt == maxReplacements || w.loop.ctx.Err() != nil {
			j.fail(*original)
			return
		}
	}
}

// try makes an attempt at a row: the first one, 0, is the sample itself, the others are replacements.
func (w *worker) try(j *Job, row, attempt int) (index int, err error) {
	w.index = j.Slab.Indices[row]
	if w.batch != nil {
		if err := w.loop.ctx.Err(); err != nil { // a cancelled loop need not know which rows fail
			return w.index, err
		}
	}
	if attempt > 0 {
		if w.index, err = w.replacement(j, row, attempt); err != nil {
			return w.index, err
		}
	}
	index = w.index
	if w.t.cfg.Hooks.Placed == nil {
		return index, w.place(j, row, attempt, index)
	}
	return index, w.tried(j, row, 1, index, func() error { return w.place(j, row, attempt, index) })
}

// failure is that of an attempt at a row.
func (w *worker) failure(j *Job, row, index int, err error) failure {
	f := &Failure{Index: index, Epoch: j.Epoch(), Batch: j.Number(), Err: err}
	w.calls(naming, func() error {
		f.Name = w.t.Name(index, j.Plan.Samples)
		return nil
	})
	return failure{Failure: f, row: row, lost: true, may: dataset.MayPass(err)}
}

// report calls the hook for a failure. If the hook panics, the panic is added to the failure's error.
func (w *worker) report(f *Failure) {
	hook := w.t.cfg.Hooks.Failed
	if hook == nil || w.loop.ctx.Err() != nil {
		return
	}
	err := w.calls(reporting, func() error {
		hook(f)
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

// tried calls place, which is an attempt to place rows, and then the hook for it. It returns the error of place, or
// those of both.
func (w *worker) tried(j *Job, row, rows, index int, place func() error) error {
	w.clock.Record()
	a := Attempt{Job: j, Worker: w.id, Row: row, Rows: rows, Index: index, Err: place()}
	a.Stages, a.Begun, a.Took = w.clock.Recorded()
	failed := w.calls(observing, func() error {
		w.t.cfg.Hooks.Placed(a)
		return nil
	})
	if failed != nil {
		return errors.Join(a.Err, failed)
	}
	return a.Err
}

// waitedForMemory calls the hook for a wait. If it panics, the loop ends with that error.
func (w *worker) waitedForMemory(took time.Duration) {
	w.at.Store(nil)
	w.begins(time.Now()) // the last batch began before the wait
	err := w.calls(observing, func() error {
		w.t.cfg.Hooks.Waited(w.id, took)
		return nil
	})
	if err != nil {
		w.loop.failsIn(w, fmt.Errorf("hook MemoryWaited: %w", err))
	}
}

// replacement picks the sample for another attempt at a row.
func (w *worker) replacement(j *Job, row, attempt int) (index int, err error) {
	err = w.calls(replacing, func() error {
		w.reset(w.draw, j, row, attempt)
		index = j.Plan.Another(j.K, w.draw.Rand().IntN)
		return nil
	})
	return index, err
}
