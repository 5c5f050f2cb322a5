package loader

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
	l      *Loader
	id     int
	run    *run
	labels context.Context // the goroutine's pprof labels; nil where it is the loop's own
	clock  *slots.Clock
	own    *job // being built; outlives a goroutine that user code ends
	ahead  readAhead
	draw   *slots.Draw
	cells  []slots.Cell
	rows   rowSlots

	reader dataset.Reader // nil until the worker first runs, and after a panic
	batch  dataset.BatchReader

	busy       atomic.Int64 // nanoseconds
	memoryWait atomic.Int64 // nanoseconds
	sample     atomic.Int64 // being placed, plus one; 0 between samples
	since      atomic.Int64 // when it was begun, after l.made; only with a Timeout
	goroutine  atomic.Int64
}

func newWorker(l *Loader, id int) *worker {
	w := &worker{l: l, id: id}
	if l.cfg.workers > 0 {
		w.labels = pprof.WithLabels(context.Background(), pprof.Labels("worker", strconv.Itoa(id)))
	}
	w.clock = slots.NewClock(w.labels)
	w.draw = slots.NewDraw(w.clock)
	w.cells = make([]slots.Cell, len(l.spec))
	return w
}

// main works for a run until it stops. It is a goroutine.
func (w *worker) main(r *run) {
	exited := false
	defer func() {
		if exited { // user code called runtime.Goexit, and what it was called for has failed
			go w.main(r)
			return
		}
		r.group.Done()
	}()
	pprof.SetGoroutineLabels(w.labels)
	w.run = r
	w.goroutine.Store(goroutineID())
	if w.own == nil && !r.opens(w) {
		return
	}
	exited = true
	if w.own != nil { // place opens the reader
		w.build(w.own)
	}
	for j := r.next(w); j != nil; j = r.next(w) {
		w.build(j)
	}
	exited = false
}

// open opens the reader unless it is open.
func (w *worker) open() (err error) {
	if w.reader != nil {
		return nil
	}
	defer func() {
		if err != nil {
			err = fmt.Errorf("loader: worker %d: open dataset: %w", w.id, err)
		}
	}()
	defer recovered(&err)
	reader, err := w.l.ds.Open()
	if err != nil {
		return err
	}
	if reader == nil {
		return errors.New("no Reader and no error")
	}
	w.reader = reader
	w.batch, _ = reader.(dataset.BatchReader)
	return nil
}

// close closes the reader.
func (w *worker) close() (err error) {
	if w.reader == nil {
		return nil
	}
	defer recovered(&err)
	reader := w.reader
	w.reader, w.batch = nil, nil
	return reader.Close()
}

// build works on batch j until nobody needs to claim rows of it. Before every
// sample it helps the batch that the loop waits for, if that is another one.
func (w *worker) build(j *job) {
	w.own = j
	begun := time.Now()
	done := 0
	defer func() {
		w.finished(j, done)
		w.busy.Add(int64(time.Since(begun)))
	}()
	chunk := w.chunk(j.size())
	for !w.run.stopped.Load() {
		if wanted := w.run.wanted.Load(); wanted != nil && wanted != j {
			w.finished(j, done)
			done = 0
			w.drain(wanted)
			continue
		}
		from, to := j.claim(chunk)
		if from == to {
			break
		}
		w.fill(j, from, to)
		done += to - from
	}
	w.own = nil
}

// drain works on the wanted batch until all its rows are claimed.
func (w *worker) drain(j *job) {
	done := 0
	defer func() { w.finished(j, done) }()
	chunk := w.chunk(j.size())
	for !w.run.stopped.Load() {
		from, to := j.claim(chunk)
		if from == to {
			w.run.wanted.CompareAndSwap(j, nil)
			return
		}
		w.fill(j, from, to)
		done += to - from
	}
}

func (w *worker) finished(j *job, rows int) {
	if j.finished(rows) && w.run.finish(j) {
		// Where workers keep all processors busy, the loop would wait for the end of
		// a worker's time slice, 10 ms or more. It takes this worker's place.
		w.giveWay()
	}
}

// chunk is how many of a batch's rows to claim at once: one, so that no row
// waits for another, unless the reader places several at once anyway.
func (w *worker) chunk(rows int) int {
	switch {
	case w.batch == nil:
		return 1
	case !w.l.cfg.help:
		return max(1, rows)
	}
	// Beyond a few workers per processor, smaller calls cost more than they help.
	sharers := min(len(w.l.workers), 4*runtime.GOMAXPROCS(0))
	return max(1, (rows+sharers-1)/sharers)
}
