package loader

import (
	"errors"
	"runtime"
	"runtime/debug"
	"time"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/internal/slots"
)

// fill places the rows from up to to.
func (w *worker) fill(j *job, from, to int) {
	row := from
	defer func() {
		if row < to {
			w.abandon(j, from, row, to)
		}
	}()
	again := w.batch != nil
	if again && w.placeRows(j, from, to) == nil {
		row = to
		return
	}
	for ; row < to; row++ {
		var err error
		if again {
			err = w.run.ctx.Err() // a cancelled loop does not ask which are to blame
		}
		if err == nil {
			err = w.place(j, row, 0, j.indices[row])
		}
		if err != nil {
			w.failed(j, row, err)
		}
	}
}

// abandon ends the work on the rows from up to to, of which row was being placed
// when user code ended the goroutine. Hooks may do so again.
func (w *worker) abandon(j *job, from, row, to int) {
	defer w.finished(j, to-from)
	for ; row < to; row++ {
		f := w.failure(j, row, j.indices[row], ErrGoexit)
		j.fail(f)
		defer w.report(f.err)
	}
}

// placeRows places several rows by one call. After an error they are placed
// again one by one, to find out which are to blame.
func (w *worker) placeRows(j *job, from, to int) (err error) {
	for _, index := range j.indices[from:to] {
		if err := j.plan.inRange(index); err != nil {
			return err
		}
	}
	for row := from; w.l.ragged && row < to; row++ {
		j.slab.empty(row) // here, because a slot may be asked for several times
	}
	returned := false
	defer func() {
		w.clock.Stop()
		if !returned {
			err = w.interrupted(recover())
		}
	}()
	w.enter(j.indices[from])
	w.rows.begin(w, j, from, to)
	err = w.batch.PlaceBatch(w.run.ctx, j.indices[from:to:to], &w.rows)
	for row := from; err == nil && w.l.ragged && row < to; row++ {
		err = j.slab.checkRow(row)
	}
	w.sample.Store(0)
	returned = true
	return err
}

// place has the reader write a sample into row. A panic is an error.
func (w *worker) place(j *job, row, attempt, index int) (err error) {
	if err := j.plan.inRange(index); err != nil {
		return err
	}
	if w.reader == nil {
		if err := w.open(); err != nil {
			j.breaks(err)
			return err
		}
	}
	returned := false
	defer func() {
		w.yield(w.clock.Stop())
		if !returned {
			err = w.interrupted(recover())
		}
	}()
	w.enter(index)
	if w.l.ragged {
		j.slab.empty(row)
	}
	w.reset(w.draw, j, row, attempt)
	err = w.reader.Place(w.run.ctx, index, w.slot(j, row, w.draw))
	if err == nil && w.l.ragged {
		err = j.slab.checkRow(row)
	}
	w.sample.Store(0)
	returned = true
	return err
}

// turn is a time on a processor after which others may have theirs.
const turn = 50 * time.Microsecond

// yield lets other goroutines run after a sample that took long, as far as the
// dataset has told: the loop first of all, which else waits for the end of a time
// slice, and workers that have claimed rows, where there are more than processors.
func (w *worker) yield(took time.Duration) {
	if took > turn {
		w.giveWay()
	}
}

// giveWay lets other goroutines run. That time is not the worker's.
func (w *worker) giveWay() {
	if w.l.cfg.workers == 0 {
		return
	}
	begun := time.Now()
	runtime.Gosched()
	w.busy.Add(-int64(time.Since(begun)))
}

// interrupted is the error for a call of the reader that did not return. The
// reader may be in any state, so the worker goes on with another one.
func (w *worker) interrupted(v any) error {
	w.sample.Store(0)
	err := ErrGoexit
	if v != nil {
		err = &PanicError{Value: v, Stack: debug.Stack()}
	}
	return errors.Join(err, w.close())
}

func (w *worker) enter(index int) {
	if w.l.cfg.timeout > 0 {
		w.since.Store(int64(time.Since(w.l.made)))
	}
	w.sample.Store(int64(index) + 1)
}

// slot is the place of a row, with the random numbers of a draw.
func (w *worker) slot(j *job, row int, draw *slots.Draw) dataset.Slot {
	j.slab.cells(row, w.cells)
	return dataset.Slot(slots.New(w.cells, draw))
}

// reset makes draw that of a row. Another attempt at the row has another.
func (w *worker) reset(draw *slots.Draw, j *job, row, attempt int) {
	draw.Reset(w.l.cfg.seed+uint64(attempt)<<32, j.plan.epoch, j.draws[row])
}

// maxReplacements bounds how often a sample's replacement is replaced.
const maxReplacements = 10

// failed records that a row could not be placed, and replaces it if it should be.
func (w *worker) failed(j *job, row int, err error) {
	failure := w.failure(j, row, j.indices[row], err)
	w.report(failure.err)
	if w.l.cfg.policy == Replace && w.run.ctx.Err() == nil {
		for attempt := 1; attempt <= maxReplacements; attempt++ {
			index, err := w.replacement(j, row, attempt)
			if err == nil {
				err = w.place(j, row, attempt, index)
			}
			if err == nil {
				j.indices[row] = index
				failure.lost = false
				break
			}
			again := w.failure(j, row, index, err)
			w.report(again.err)
			again.lost = false
			j.fail(again)
		}
	}
	j.fail(failure)
}

func (w *worker) failure(j *job, row, index int, err error) failure {
	return failure{row: row, lost: true, err: &SampleError{
		Index: index, Name: w.l.name(index), Epoch: j.plan.epoch, Batch: j.plan.number(j.k), Err: err,
	}}
}

// report calls the hook for a failure. If the hook panics, that is part of it.
func (w *worker) report(e *SampleError) {
	hook := w.l.cfg.trace.SampleFailed
	if hook == nil || w.run.ctx.Err() != nil {
		return
	}
	var err error
	defer func() {
		if err != nil {
			e.Err = errors.Join(e.Err, err)
		}
	}()
	defer recovered(&err)
	hook(e)
}

func (w *worker) replacement(j *job, row, attempt int) (index int, err error) {
	defer recovered(&err)
	w.draw.Reset(w.l.cfg.seed+uint64(attempt)<<32, j.plan.epoch, j.draws[row])
	return j.plan.replacement(j.k, w.draw.Rand().IntN), nil
}

// name is the dataset's name of a sample, if the dataset can tell.
func (l *Loader) name(index int) (name string) {
	var err error
	defer recovered(&err)
	if index < 0 || index >= l.samples {
		return ""
	}
	return dataset.Name(l.ds, index)
}
