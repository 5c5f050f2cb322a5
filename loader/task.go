package loader

import (
	"errors"
	"runtime/debug"

	"github.com/penstock-go/penstock/dataset"
)

// A task is rows of a batch that a worker has claimed, and how far it has come with
// them. User code may end the goroutine at any call; the next one goes on from here.
type task struct {
	j        *job
	from, to int
	row      int  // the one in hand
	together bool // all rows are yet to be placed by one call
	apart    bool // that call has failed

	attempt int      // at the row: 0 is the sample itself, the others are replacements
	index   int      // of the sample in that attempt
	trying  bool     // the attempt is being made
	err     error    // of the attempt, if it has failed
	naming  bool     // the dataset is asked for the sample's name
	failure *failure // of attempt 0
}

// fill claims rows and places them. It returns how many.
func (w *worker) fill(j *job, chunk int) int {
	from, to := j.claim(chunk)
	if from == to {
		return 0
	}
	t := &w.task // whose other fields are zero between tasks
	t.j, t.from, t.to, t.row, t.together, t.apart = j, from, to, from, w.batch != nil, false
	return w.proceed()
}

// proceed finishes the task and returns how many rows it had, unless the run stops.
func (w *worker) proceed() int {
	t := &w.task
	if t.together {
		t.together, t.apart = false, true // also if the call does not return
		if w.placeRows(t.j, t.from, t.to) == nil {
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

// try places the row in hand.
func (w *worker) try(t *task) (err error) {
	t.index = t.j.indices[t.row]
	if t.apart {
		if err := w.run.ctx.Err(); err != nil { // a cancelled loop does not ask which are to blame
			return err
		}
	}
	if t.attempt > 0 {
		if t.index, err = w.replacement(t.j, t.row, t.attempt); err != nil {
			return err
		}
	}
	return w.place(t.j, t.row, t.attempt, t.index)
}

// placed ends the row in hand.
func (t *task) placed() {
	if t.attempt > 0 {
		t.j.indices[t.row] = t.index
		t.failure.lost = false
		t.settle()
	}
	t.row++
}

// settle records what has failed at the row in hand.
func (t *task) settle() {
	t.j.fail(*t.failure)
	t.attempt, t.failure = 0, nil
}

// maxReplacements bounds how often a sample's replacement is replaced.
const maxReplacements = 10

// failed records that the row in hand could not be placed, and goes on to its next
// replacement or the next row.
func (w *worker) failed(t *task) {
	f := t.report(w.name(t))
	if t.attempt == 0 {
		t.failure = &f
	} else {
		f.lost = false
		t.j.fail(f)
	}
	if w.l.cfg.policy == Replace && t.attempt < maxReplacements && w.run.ctx.Err() == nil {
		t.attempt++
	} else {
		t.settle()
		t.row++
	}
	t.trying, t.err = false, nil
	w.report(f.err) // last, because the hook may end the goroutine
}

// report is the failure of the attempt in hand.
func (t *task) report(name string) failure {
	p := t.j.plan
	return failure{row: t.row, lost: true, err: &SampleError{
		Index: t.index, Name: name, Epoch: p.epoch, Batch: p.number(t.j.k), Err: t.err,
	}}
}

// name is the dataset's name of the sample in hand, unless that does not return.
func (w *worker) name(t *task) (name string) {
	if !t.naming {
		t.naming = true
		name = w.l.name(t.index, t.j.plan.samples)
	}
	t.naming = false
	return name
}

// report calls the hook for a failure. If the hook panics, that is part of it.
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

// replacement picks the sample of another attempt at a row.
func (w *worker) replacement(j *job, row, attempt int) (index int, err error) {
	defer recovered(&err)
	w.reset(w.draw, j, row, attempt)
	return j.plan.replacement(j.k, w.draw.Rand().IntN), nil
}

// interrupted is the error for a call of the reader that did not return. The
// reader may be in any state, so the worker goes on with another one.
func (w *worker) interrupted(v any) error {
	err := ErrGoexit
	if v != nil {
		err = &PanicError{Value: v, Stack: debug.Stack()}
	}
	return errors.Join(err, w.close())
}

// name is the dataset's name of a sample, if the dataset can tell.
func (l *Loader) name(index, samples int) (name string) {
	var err error
	defer recovered(&err)
	if index < 0 || index >= samples {
		return ""
	}
	return dataset.Name(l.ds, index)
}
