package loader

import (
	"errors"
	"runtime/debug"

	"github.com/penstock-go/penstock/dataset"
)

// A task is a range of rows that a worker has claimed, with its progress. Any call of
// user code may end the goroutine. The worker's next goroutine continues from here.
type task struct {
	j        *job
	from, to int
	row      int  // the current row
	together bool // whether all rows are still to be placed by one call
	apart    bool // whether that call was made, so that rows are placed one by one

	attempt int      // at the current row: 0 is the sample itself, the others are replacements
	index   int      // of the sample in that attempt
	trying  bool     // whether the attempt has begun and not returned
	err     error    // of the attempt, if it has failed
	naming  bool     // whether Name of the dataset was called and has not returned
	failure *failure // of attempt 0
}

// fill claims rows and places them. It returns their number.
func (w *worker) fill(j *job, chunk int) int {
	from, to := j.claim(chunk)
	if from == to {
		return 0
	}
	t := &w.task // whose other fields are zero between tasks
	t.j, t.from, t.to, t.row, t.together, t.apart = j, from, to, from, w.batch != nil, false
	return w.proceed()
}

// proceed finishes the task and returns the number of its rows.
func (w *worker) proceed() int {
	t := &w.task
	if w.whole != nil {
		if t.from == 0 && !t.apart { // who claims other rows has nothing to do
			t.apart = true
			w.placeWhole(t.j)
		}
		t.j = nil
		return t.to - t.from
	}
	if t.together {
		t.together, t.apart = false, true // also if the call does not return
		if w.tryTogether(t) == nil {
			t.row = t.to
		}
	}
	if t.trying {
		t.err = ErrGoexit
	}
	for t.row < t.to {
		if t.err == nil {
			t.trying = true
			if err := w.try(t); err != nil {
				t.err = err
			}
			t.trying = false
		}
		if t.err != nil {
			w.failed(t)
		} else {
			t.placed()
		}
	}
	t.j = nil
	return t.to - t.from
}

// tryTogether places all rows by one call.
func (w *worker) tryTogether(t *task) error {
	if !w.told() {
		return w.placeRows(t.j, t.from, t.to)
	}
	return w.tried(t.j, t.from, t.to-t.from, t.j.indices[t.from], func() error { return w.placeRows(t.j, t.from, t.to) })
}

// try makes the current attempt.
func (w *worker) try(t *task) (err error) {
	t.index = t.j.indices[t.row]
	if t.apart {
		if err := w.run.ctx.Err(); err != nil { // a cancelled loop need not know which rows fail
			return err
		}
	}
	if t.attempt > 0 {
		if t.index, err = w.replacement(t.j, t.row, t.attempt); err != nil {
			return err
		}
	}
	if !w.told() {
		return w.place(t.j, t.row, t.attempt, t.index)
	}
	return w.tried(t.j, t.row, 1, t.index, func() error { return w.place(t.j, t.row, t.attempt, t.index) })
}

// placed ends the current row, which is good.
func (t *task) placed() {
	if t.attempt > 0 {
		t.j.indices[t.row] = t.index
		t.failure.lost = false
		t.settle()
	}
	t.row++
}

// settle records the failure of the current row.
func (t *task) settle() {
	t.j.fail(*t.failure)
	t.attempt, t.failure = 0, nil
}

// maxReplacements is the largest number of replacements for one row.
const maxReplacements = 10

// failed records that the current attempt has failed. It continues with another
// replacement or with the next row.
func (w *worker) failed(t *task) {
	f := t.report(w.name(t))
	if t.attempt == 0 {
		t.failure = &f
	} else {
		f.lost = false
		t.j.fail(f)
	}
	if w.l.cfg.policy == Replace && !f.may && t.attempt < maxReplacements && w.run.ctx.Err() == nil {
		t.attempt++
	} else {
		t.settle()
		t.row++
	}
	t.trying, t.err = false, nil
	w.report(f.err) // last, because the hook may end the goroutine
}

// report is the failure of the current attempt.
func (t *task) report(name string) failure {
	p := t.j.plan
	return failure{row: t.row, lost: true, may: dataset.MayPass(t.err), err: &SampleError{
		Index: t.index, Name: name, Epoch: p.epoch, Batch: p.number(t.j.k), Err: t.err,
	}}
}

// name is the dataset's name for the sample of the current attempt. It is empty if an
// earlier call for the name has ended the goroutine.
func (w *worker) name(t *task) (name string) {
	if !t.naming {
		t.naming = true
		w.enter(naming)
		defer w.call.end()
		name = w.l.name(t.index, t.j.plan.samples)
	}
	t.naming = false
	return name
}

// report calls the hook for a failure. If the hook panics, the panic is added to the
// failure's error.
func (w *worker) report(e *SampleError) {
	hook := w.l.cfg.trace.SampleFailed
	if hook == nil || w.run.ctx.Err() != nil {
		return
	}
	err := ErrGoexit // unless the hook returns
	defer func() {
		w.call.end()
		if err != nil {
			e.Err = errors.Join(e.Err, err)
		}
	}()
	defer recovered(&err)
	w.enter(reporting)
	hook(e)
	err = nil
}

// replacement picks the sample for another attempt at a row.
func (w *worker) replacement(j *job, row, attempt int) (index int, err error) {
	defer recovered(&err)
	w.enter(replacing)
	defer w.call.end()
	w.reset(w.draw, j, row, attempt)
	return j.plan.replacement(j.k, w.draw.Rand().IntN), nil
}

// interrupted is the error of a call of the Reader that panicked or ended the
// goroutine. The Reader may be in any state, so it is closed, and the worker opens
// another one.
func (w *worker) interrupted(v any) error {
	err := ErrGoexit
	if v != nil {
		err = &PanicError{Value: v, Stack: debug.Stack()}
	}
	return errors.Join(err, w.close())
}

// name is the dataset's name for a sample, or empty if there is none.
func (l *Loader) name(index, samples int) (name string) {
	var err error
	defer recovered(&err)
	if index < 0 || samples != dataset.Unknown && index >= samples {
		return ""
	}
	return dataset.Name(l.ds, index)
}
