package loader

import (
	"errors"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/internal/usercode"
)

// fill claims rows of a batch and places them. It returns their number.
func (w *worker) fill(j *job, chunk int) int {
	from, to := j.claim(chunk)
	if from == to {
		return 0
	}
	w.claimed = to - from
	switch {
	case w.whole != nil:
		if from == 0 { // who claims other rows has nothing to do
			w.placeWhole(j)
		}
	case w.batch != nil && w.tryTogether(j, from, to) == nil:
	default:
		for row := from; row < to; row++ {
			w.placeRow(j, row)
		}
	}
	w.claimed = 0
	return to - from
}

// tryTogether places all rows by one call.
func (w *worker) tryTogether(j *job, from, to int) error {
	w.index = j.slab.Indices[from]
	if w.l.cfg.trace.SampleDone == nil {
		return w.placeRows(j, from, to)
	}
	return w.tried(j, from, to-from, w.index, func() error { return w.placeRows(j, from, to) })
}

// maxReplacements is the largest number of replacements for one row.
const maxReplacements = 10

// placeRow places a sample in a row, or what the error policy takes in its place.
func (w *worker) placeRow(j *job, row int) {
	var original *failure
	for attempt := 0; ; attempt++ {
		index, err := w.try(j, row, attempt)
		switch {
		case err == nil && attempt == 0:
			return
		case err == nil:
			j.slab.Indices[row] = index
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
		w.report(f.err)
		if w.l.cfg.policy != Replace || f.may || attempt == maxReplacements || w.run.ctx.Err() != nil {
			j.fail(*original)
			return
		}
	}
}

// try makes an attempt at a row: the first one, 0, is the sample itself, the others are replacements.
func (w *worker) try(j *job, row, attempt int) (index int, err error) {
	w.index = j.slab.Indices[row]
	if w.batch != nil {
		if err := w.run.ctx.Err(); err != nil { // a cancelled loop need not know which rows fail
			return w.index, err
		}
	}
	if attempt > 0 {
		if w.index, err = w.replacement(j, row, attempt); err != nil {
			return w.index, err
		}
	}
	index = w.index
	if w.l.cfg.trace.SampleDone == nil {
		return index, w.place(j, row, attempt, index)
	}
	return index, w.tried(j, row, 1, index, func() error { return w.place(j, row, attempt, index) })
}

// failure is that of an attempt at a row.
func (w *worker) failure(j *job, row, index int, err error) failure {
	e := &SampleError{Index: index, Epoch: j.Plan.Epoch, Batch: j.Plan.Number(j.K), Err: err}
	w.calls(naming, func() error {
		e.Name = w.l.name(index, j.Plan.Samples)
		return nil
	})
	return failure{row: row, lost: true, may: dataset.MayPass(err), err: e}
}

// report calls the hook for a failure. If the hook panics, the panic is added to the
// failure's error.
func (w *worker) report(e *SampleError) {
	hook := w.l.cfg.trace.SampleFailed
	if hook == nil || w.run.ctx.Err() != nil {
		return
	}
	err := w.calls(reporting, func() error {
		hook(e)
		return nil
	})
	if err != nil {
		e.Err = errors.Join(e.Err, err)
	}
}

// replacement picks the sample for another attempt at a row.
func (w *worker) replacement(j *job, row, attempt int) (index int, err error) {
	err = w.calls(replacing, func() error {
		w.reset(w.draw, j, row, attempt)
		index = j.Plan.Another(j.K, w.draw.Rand().IntN)
		return nil
	})
	return index, err
}

// name is the dataset's name for a sample, or empty if there is none.
func (l *Loader) name(index, samples int) (name string) {
	var err error
	defer usercode.Recover(&err)
	if index < 0 || samples != dataset.Unknown && index >= samples {
		return ""
	}
	return dataset.Name(l.ds, index)
}
