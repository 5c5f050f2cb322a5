package loader

import (
	"context"
	"errors"
	"fmt"
	"runtime/pprof"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/internal/slots"
	"github.com/penstock-go/penstock/internal/whole"
)

// A worker assembles batches. It keeps its Reader from loop to loop.
type worker struct {
	l      *Loader
	id     int
	run    *run
	ctx    context.Context // of run, with the worker's number
	labels context.Context // pprof labels of its goroutine; nil if that is the loop's own
	clock  *slots.Clock
	yields bool // whether it is to let other goroutines run once its rows are counted
	draw   *slots.Draw
	spans  []StageSpan // of the current sample, for SampleDone
	cells  []slots.Cell
	rows   rowSlots
	dst    []slots.Values // of a batch after a step of Collate
	src    []slots.Values // and before it

	own     *job // the batch that the worker builds
	index   int  // the sample that it places
	claimed int  // rows that it has claimed and not finished

	reader dataset.Reader      // nil until the worker first runs, and after a panic
	batch  dataset.BatchReader // reader, if it is one
	whole  whole.Reader        // reader, if it is one

	busy       atomic.Int64  // nanoseconds; never falls
	gave       time.Duration // given away by the current build, which is not busy
	drawing    atomic.Int64  // nanoseconds
	drew       time.Time     // when it began to draw the batch that it builds next, or zero
	memoryWait atomic.Int64  // nanoseconds
	call       call
	at         atomic.Pointer[job] // the batch that it works on

	// The loader's mutex guards these.
	stray bool      // whether it is a stray
	lost  *job      // the batch that it worked on when it became one
	idle  string    // what it waits for while it sleeps, in words
	slept time.Time // when it began to sleep
}

func newWorker(l *Loader, id int) *worker {
	w := &worker{l: l, id: id}
	if l.cfg.workers > 0 {
		w.labels = pprof.WithLabels(context.Background(), pprof.Labels("worker", strconv.Itoa(id)))
	}
	w.clock = slots.NewClock(w.labels)
	w.clock.Task = w.traceContext
	w.draw = slots.NewDraw(w.clock)
	w.cells = make([]slots.Cell, len(l.collation.views[0].spec))
	return w
}

// main is the worker's goroutine: it works for a run until the run stops.
func (w *worker) main(r *run) {
	defer w.l.leave(w, r)
	pprof.SetGoroutineLabels(w.labels)
	if !w.begin(r) {
		return
	}
	for {
		j, fresh := r.next(w)
		if j == nil {
			return
		}
		if !fresh || w.prepare(j) {
			w.build(j)
		}
	}
}

// begin prepares the worker for a run. If its Reader cannot be opened, the run ends
// with that error, and begin reports false.
func (w *worker) begin(r *run) bool {
	w.ctx = slots.WithWorker(r.ctx, w.id)
	w.own, w.claimed = nil, 0
	w.at.Store(nil)
	err := w.open()
	if err != nil {
		r.failsIn(w, fmt.Errorf("open dataset: %w", err))
	}
	return err == nil
}

// failsIn ends the run with an error of a worker that works on no batch, or does without the worker.
func (r *run) failsIn(w *worker, err error) {
	r.l.mu.Lock()
	defer r.l.mu.Unlock()
	err = fmt.Errorf("loader: worker %d: %w", w.id, err)
	if !r.dismiss(w, err) {
		r.fail(err)
	}
}

// open opens the Reader unless it is open.
func (w *worker) open() error {
	if w.reader != nil {
		return nil
	}
	return w.calls(opening, func() error {
		reader, err := w.l.ds.Open()
		if err != nil {
			return err
		}
		if reader == nil {
			return errors.New("the dataset's Open returned neither a Reader nor an error")
		}
		w.reader = reader
		w.batch, _ = reader.(dataset.BatchReader)
		w.whole, _ = reader.(whole.Reader)
		return nil
	})
}

// close closes the Reader if it is open.
func (w *worker) close() error {
	reader := w.reader
	if reader == nil {
		return nil
	}
	w.reader, w.batch, w.whole = nil, nil, nil
	return w.calls(closing, reader.Close)
}
