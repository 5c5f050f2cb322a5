package loader

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"runtime"
	"runtime/debug"
	"runtime/pprof"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/penstock-go/penstock/dataset"
)

// A worker assembles batches. It keeps its Reader from loop to loop.
type worker struct {
	l     *Loader
	id    int
	run   *run
	clock *dataset.Clock
	own   *job // being built; outlives a goroutine that user code ends
	ahead readAhead
	draw  *dataset.Draw
	cells []dataset.Cell

	reader dataset.Reader // nil until the worker first runs, and after a panic
	batch  dataset.BatchReader

	busy       atomic.Int64 // nanoseconds
	memoryWait atomic.Int64 // nanoseconds
	sample     atomic.Int64 // being placed, plus one; 0 between samples
	since      atomic.Int64 // when it was begun, after l.made; only with a Timeout
	goroutine  atomic.Int64
}

func newWorker(l *Loader, id int) *worker {
	var labels context.Context
	if l.cfg.workers > 0 { // else the goroutine and its labels are the caller's
		labels = pprof.WithLabels(context.Background(), pprof.Labels("worker", strconv.Itoa(id)))
	}
	w := &worker{l: l, id: id, clock: dataset.NewClock(labels)}
	w.draw = dataset.NewDraw(w.clock)
	w.cells = make([]dataset.Cell, len(l.spec))
	return w
}

// main works for a run until it stops. It is a goroutine.
func (w *worker) main(r *run) {
	exited := true
	defer func() {
		if exited { // user code called runtime.Goexit; place has recorded the sample
			go w.main(r)
			return
		}
		r.group.Done()
	}()
	w.run = r
	w.goroutine.Store(goroutineID())
	if err := w.open(); err != nil {
		r.mu.Lock()
		r.fail(err)
		r.mu.Unlock()
	} else {
		if w.own != nil {
			w.build(w.own)
		}
		for j := r.next(w); j != nil; j = r.next(w) {
			w.build(j)
		}
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
		return errors.New("Open returned no Reader")
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
	chunk := w.chunk(j)
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
	chunk := w.chunk(j)
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
	if j.finished(rows) {
		w.run.finish(j)
	}
}

// chunk is how many rows of j to claim at once: one, so that no row waits for
// another, unless the reader places several at once anyway.
func (w *worker) chunk(j *job) int {
	switch {
	case w.batch == nil:
		return 1
	case !w.l.cfg.help:
		return len(j.indices)
	}
	sharers := max(1, len(w.l.workers))
	return (len(j.indices) + sharers - 1) / sharers
}

// fill places the rows from up to to.
func (w *worker) fill(j *job, from, to int) {
	row := from
	defer func() {
		if row == to {
			return
		}
		for ; row < to; row++ { // the goroutine ends here, at the wish of user code
			w.failed(j, row, ErrGoexit)
		}
		w.finished(j, to-from)
	}()
	if w.batch != nil && w.placeRows(j, from, to) == nil {
		row = to
		return
	}
	for ; row < to; row++ {
		if err := w.place(j, row, 0, j.indices[row]); err != nil {
			w.failed(j, row, err)
		}
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
	returned := false
	defer func() {
		w.clock.Stop()
		if !returned {
			err = w.interrupted(recover())
		}
	}()
	w.enter(j.indices[from])
	err = w.batch.PlaceBatch(w.run.ctx, j.indices[from:to:to], &rowSlots{w, j, from, to})
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
			return err
		}
	}
	returned := false
	defer func() {
		w.clock.Stop()
		if !returned {
			err = w.interrupted(recover())
		}
	}()
	w.enter(index)
	err = w.reader.Place(w.run.ctx, index, w.slot(j, row, attempt))
	w.sample.Store(0)
	returned = true
	return err
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

// slot is the place of a row, with the random numbers of its draw. Another
// attempt at the row has others.
func (w *worker) slot(j *job, row, attempt int) dataset.Slot {
	j.slab.cells(row, w.cells)
	w.draw.Reset(w.l.cfg.seed+uint64(attempt)<<32, j.plan.epoch, j.draws[row])
	return dataset.NewSlot(w.cells, w.draw)
}

// maxReplacements bounds how often a sample's replacement is replaced.
const maxReplacements = 10

// failed records that a row could not be placed, and replaces it if it should be.
func (w *worker) failed(j *job, row int, err error) {
	failure := w.failure(j, row, j.indices[row], err)
	if w.l.cfg.policy == Replace && err != ErrGoexit && w.run.ctx.Err() == nil {
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
			again.lost = false
			j.fail(again)
		}
	}
	j.fail(failure)
}

func (w *worker) failure(j *job, row, index int, err error) failure {
	e := &SampleError{Index: index, Name: w.l.name(index), Epoch: j.plan.epoch, Batch: j.plan.number(j.k), Err: err}
	if hook := w.l.cfg.trace.SampleFailed; hook != nil && w.run.ctx.Err() == nil {
		hook(e)
	}
	return failure{row: row, lost: true, err: e}
}

func (w *worker) replacement(j *job, row, attempt int) (index int, err error) {
	defer recovered(&err)
	w.draw.Reset(w.l.cfg.seed+uint64(attempt)<<32, j.plan.epoch, j.draws[row])
	return j.plan.replacement(j, w.draw.Rand().IntN), nil
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

// stuck says what the worker has been placing.
func (w *worker) stuck() (Stuck, bool) {
	index := int(w.sample.Load()) - 1
	if index < 0 {
		return Stuck{}, false
	}
	return Stuck{
		Worker: w.id,
		Index:  index,
		Name:   w.l.name(index),
		Stage:  w.clock.Current(),
		For:    time.Since(w.l.made) - time.Duration(w.since.Load()),
	}, true
}

// stack is the worker's call stack.
func (w *worker) stack() string {
	all := make([]byte, 1<<20)
	all = all[:runtime.Stack(all, true)]
	header := fmt.Appendf(nil, "goroutine %d ", w.goroutine.Load())
	for block := range bytes.SplitSeq(all, []byte("\n\n")) {
		if bytes.HasPrefix(block, header) {
			return string(block)
		}
	}
	return ""
}

// goroutineID is the number under which stack dumps show this goroutine.
func goroutineID() int64 {
	var buf [64]byte
	fields := bytes.Fields(buf[:runtime.Stack(buf[:], false)])
	if len(fields) < 2 {
		return 0
	}
	id, _ := strconv.ParseInt(string(fields[1]), 10, 64)
	return id
}
