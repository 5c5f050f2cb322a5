package assemble

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"runtime/pprof"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/internal/slots"
)

// A worker assembles batches. It keeps its Reader from loop to loop.
type worker struct {
	t      *Team
	id     int
	loop   *Loop
	ctx    context.Context // of loop, with the worker's number
	labels context.Context // pprof labels of its goroutine

	handle // its Reader
	scratch
	times
	call call

	at    atomic.Pointer[Job] // the batch that it works on
	own   *Job                // the batch that it began last
	index int                 // the sample that it places

	status // guarded by the Team's mutex
}

// A handle is a worker's Reader. It is nil until the worker first runs, and after a panic.
type handle struct {
	reader dataset.Reader
	batch  dataset.BatchReader // reader, if it is one
}

// scratch is what a worker uses again from sample to sample.
type scratch struct {
	ragged bool // whether a field of samples is
	clock  *slots.Clock
	draw   *slots.Draw
	cells  []slots.Cell
	rows   rowSlots
	dst    []slots.Values // of a batch after a step on it
	src    []slots.Values // and before it
}

// times are those of a worker.
type times struct {
	busy       atomic.Int64  // nanoseconds; never falls
	gave       time.Duration // given away by the current build, which is not busy
	drawing    atomic.Int64  // nanoseconds
	drew       time.Time     // when it began to draw the batch that it builds next, or zero
	memoryWait atomic.Int64  // nanoseconds
}

// status is what the Team's mutex guards of a worker.
type status struct {
	running bool          // whether its goroutine runs
	ended   chan struct{} // closed when that goroutine ends; nil before the first one
	waits   string        // what it waits for, in words
	slept   time.Time     // since when
}

func newWorker(t *Team, id int) *worker {
	w := &worker{t: t, id: id}
	w.labels = pprof.WithLabels(context.Background(), pprof.Labels("worker", strconv.Itoa(id)))
	w.clock = slots.NewClock(w.labels)
	w.draw = slots.NewDraw(w.clock)
	w.ragged = t.cfg.Steps.ragged
	w.cells = make([]slots.Cell, len(t.cfg.Steps.Samples()))
	return w
}

// main is the worker's goroutine: it works for a loop until the loop stops.
func (w *worker) main(l *Loop) {
	defer w.leave(l)
	pprof.SetGoroutineLabels(w.labels)
	if !w.begin(l) {
		return
	}
	for {
		j, fresh := l.duty(w)
		if j == nil {
			return
		}
		if !fresh || w.prepare(j) {
			w.build(j)
		}
	}
}

// begin prepares the worker for a loop. If its Reader cannot be opened, the loop ends with that error, and begin
// reports false.
func (w *worker) begin(l *Loop) bool {
	w.ctx = slots.WithWorker(l.ctx, w.id)
	w.at.Store(nil)
	w.own = nil
	err := w.open()
	if err != nil {
		l.failWorker(w, fmt.Errorf("open dataset: %w", err))
	}
	return err == nil
}

// open opens the Reader unless it is open. A service has none.
func (w *worker) open() error {
	if w.reader != nil || w.t.cfg.Service != nil {
		return nil
	}
	return w.guard(opening, func() error {
		reader, err := w.t.cfg.Dataset.Open()
		if err != nil {
			return err
		}
		if reader == nil {
			return errors.New("the dataset's Open returned neither a Reader nor an error")
		}
		w.reader = reader
		w.batch, _ = reader.(dataset.BatchReader)
		return nil
	})
}

// close closes the Reader if it is open.
func (w *worker) close() error {
	reader := w.reader
	if reader == nil {
		return nil
	}
	w.handle = handle{}
	return w.guard(closing, reader.Close)
}

// turn is the time of a sample after which a worker lets other goroutines run.
const turn = 50 * time.Microsecond

// giveWay lets other goroutines run: workers may keep all processors busy, and the loop would wait for the end of a
// time slice, 10 ms or more. This time does not count as busy.
func (w *worker) giveWay() {
	begun := time.Now()
	runtime.Gosched()
	w.gave += time.Since(begun)
}
