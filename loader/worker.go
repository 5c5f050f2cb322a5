package loader

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"runtime/pprof"
	"runtime/trace"
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
	ahead  readAhead
	yields bool // whether it is to let other goroutines run once its rows are counted
	draw   *slots.Draw
	spans  []StageSpan // of the current sample, for SampleDone
	cells  []slots.Cell
	rows   rowSlots
	dst    []slots.Values // of a batch after a step of Collate
	src    []slots.Values // and before it

	// If user code ends the goroutine, the next one continues with these.
	own  *job // the batch that the worker builds
	task task

	reader dataset.Reader      // nil until the worker first runs, and after a panic
	batch  dataset.BatchReader // reader, if it is one
	whole  whole.Reader        // reader, if it is one

	busy       atomic.Int64  // nanoseconds; never falls
	gave       time.Duration // given away by the current build, which is not busy
	memoryWait atomic.Int64  // nanoseconds
	call       call
	at         atomic.Pointer[job] // the batch that it works on
	goroutine  atomic.Int64        // the number of its goroutine

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
	goexit := false // whether user code has called runtime.Goexit
	defer func() {
		if goexit {
			go w.main(r) // continues where this goroutine was
			return
		}
		w.l.leave(w, r)
	}()
	pprof.SetGoroutineLabels(w.labels)
	w.goroutine.Store(goroutineID())
	if w.own == nil && w.task.j == nil && !w.begin(r) {
		return
	}
	goexit = true
	w.resume()
	for {
		j, fresh := r.next(w)
		if j == nil {
			break
		}
		if !fresh || w.prepare(j) {
			w.build(j)
		}
	}
	goexit = false
}

// begin prepares the worker for a run. If its Reader cannot be opened, the run ends
// with that error, and begin reports false.
func (w *worker) begin(r *run) bool {
	w.ctx = slots.WithWorker(r.ctx, w.id)
	w.own, w.task = nil, task{}
	w.at.Store(nil)
	err := ErrGoexit // unless open returns
	defer func() {
		if err != nil {
			w.failsToOpen(r, err)
		}
	}()
	err = w.open()
	return err == nil
}

func (w *worker) failsToOpen(r *run, err error) {
	r.l.mu.Lock()
	defer r.l.mu.Unlock()
	err = fmt.Errorf("loader: worker %d: open dataset: %w", w.id, err)
	if !r.dismiss(w, err) {
		r.fail(err)
	}
}

// open opens the Reader unless it is open.
func (w *worker) open() (err error) {
	if w.reader != nil {
		return nil
	}
	defer recovered(&err)
	w.enter(opening)
	defer w.call.end()
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
}

// close closes the Reader if it is open.
func (w *worker) close() (err error) {
	if w.reader == nil {
		return nil
	}
	defer recovered(&err)
	reader := w.reader
	w.reader, w.batch, w.whole = nil, nil, nil
	return reader.Close()
}

// prepare computes which samples a fresh batch has and publishes its rows. After an
// error it ends the run in the place of the batch. It reports whether there are rows
// to place.
func (w *worker) prepare(j *job) (ok bool) {
	w.at.Store(j)
	err := ErrGoexit // unless draws returns
	defer func() {
		w.call.end()
		if err != nil {
			err = j.named(err)
		}
		ok = w.run.prepared(j, err)
	}()
	w.enter(drawing)
	err = w.draws(j)
	return false // the deferred function sets ok
}

// draws computes the samples of a fresh batch. It calls the sampler, the Allocator
// and hooks.
func (w *worker) draws(j *job) (err error) {
	defer recovered(&err)
	j.begun = time.Now()
	j.beginTask(w.ctx)
	defer endRegion(j.traced.region("loader.draw"))
	if err := j.plan.changed(); err != nil {
		return err
	}
	j.indices, j.draws = j.plan.rows(j.k, j.indices[:0], j.draws[:0])
	if len(j.indices) == 0 {
		return errors.New("the batch sampler gave an empty batch")
	}
	w.readAhead(j)
	if err := j.slab.reserve(len(j.indices)); err != nil {
		return err
	}
	w.l.cfg.trace.batchBegun(j)
	return nil
}

// build works on batch j until all its rows are claimed. Before every claim it helps
// with the batch that the loop waits for, if that is another one.
func (w *worker) build(j *job) {
	w.own = j
	w.at.Store(j)
	defer trace.StartRegion(w.ctx, "loader.build").End()
	begun := time.Now()
	done := 0
	defer func() {
		w.finished(j, done)
		w.busy.Add(max(0, int64(time.Since(begun)-w.gave)))
		w.gave = 0
	}()
	chunk := w.chunk(j.size())
	for !w.run.stopped.Load() {
		if wanted := w.run.wanted.Load(); wanted != nil && wanted != j {
			w.finished(j, done)
			done = 0
			w.drain(wanted)
			w.at.Store(j)
			continue
		}
		if w.surplus() {
			break // others help with the rest of the batch
		}
		n := w.fill(j, chunk)
		if n == 0 {
			break
		}
		done += n
	}
	w.own = nil
}

// drain works on the wanted batch until all its rows are claimed.
func (w *worker) drain(j *job) {
	w.at.Store(j)
	defer trace.StartRegion(w.ctx, "loader.help").End()
	done := 0
	defer func() { w.finished(j, done) }()
	chunk := w.chunk(j.size())
	for !w.run.stopped.Load() {
		n := w.fill(j, chunk)
		if n == 0 {
			w.run.wanted.CompareAndSwap(j, nil)
			return
		}
		done += n
	}
}

// resume continues the work of a goroutine that user code has ended.
func (w *worker) resume() {
	if j := w.task.j; j != nil {
		w.at.Store(j)
		w.finished(j, w.proceed())
	}
	if w.own != nil {
		w.build(w.own)
	}
}

// finished counts rows of a batch as finished. With the last one the batch is
// complete.
func (w *worker) finished(j *job, rows int) {
	defer w.yieldLate()
	if !j.finished(rows) {
		return
	}
	j.finisher = w.id
	awaited := false
	func() {
		defer func() { awaited = w.run.finish(j) }() // even if a hook calls runtime.Goexit
		w.seal(j)
	}()
	// If workers keep all processors busy, the loop would wait for the end of a
	// worker's time slice, 10 ms or more. Now it can run in place of this worker.
	w.yields = w.yields || awaited
}

// yieldLate lets other goroutines run if the worker has put that off.
func (w *worker) yieldLate() {
	if w.yields {
		w.yields = false
		w.giveWay()
	}
}

// seal makes the batch ready for delivery. A panic of the Allocator, a step of Collate
// or a hook becomes an error in its place.
func (w *worker) seal(j *job) {
	err := ErrGoexit // unless user code returns
	defer func() {
		w.call.end()
		if err != nil {
			j.err = j.named(err)
		}
	}()
	defer recovered(&err)
	defer endRegion(j.traced.region("loader.finish"))
	w.enter(finishing)
	j.seal(w.l.cfg.policy)
	if j.err == nil {
		if err := w.collate(j); err != nil {
			j.err = j.named(err)
		}
	}
	w.l.cfg.trace.batchReady(j)
	err = nil
}

// chunk is the number of rows to claim at once. It is one, so that no row waits for
// another, unless the Reader places several samples by one call.
func (w *worker) chunk(rows int) int {
	switch {
	case w.whole != nil:
		return max(1, rows)
	case w.batch == nil:
		return 1
	case !w.l.cfg.help:
		return max(1, rows)
	}
	// With more than a few workers per processor, smaller calls cost more than they
	// help.
	sharers := max(1, min(w.l.active(), 4*runtime.GOMAXPROCS(0)))
	return max(1, (rows+sharers-1)/sharers)
}

// turn is the time of a sample after which a worker lets other goroutines run.
const turn = 50 * time.Microsecond

// yield lets other goroutines run after a sample that took long, according to the
// stages of the dataset. Otherwise the loop would wait for the end of a time slice,
// and so would workers that have claimed rows, if there are more workers than
// processors.
//
// After the last row of batch j that could be claimed, the worker does so only when it has
// counted its rows: the loop may wait for that.
func (w *worker) yield(j *job, took time.Duration) {
	switch {
	case took <= turn:
	case j.unclaimed() == 0:
		w.yields = true
	default:
		w.giveWay()
	}
}

// giveWay lets other goroutines run. This time does not count as busy.
func (w *worker) giveWay() {
	if w.l.cfg.workers == 0 {
		return
	}
	begun := time.Now()
	runtime.Gosched()
	w.gave += time.Since(begun)
}
