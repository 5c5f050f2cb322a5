package loader

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"
)

// A run is one loop over a loader: the batches in flight and who works on them.
type run struct {
	l      *Loader
	begun  time.Time
	ctx    context.Context // cancelled when the loop ends
	cancel context.CancelCauseFunc
	group  sync.WaitGroup // workers
	inline sync.Mutex     // held while the loop's own goroutine works

	stopped atomic.Bool
	wanted  atomic.Pointer[job] // what the loop waits for, to be helped
	arrived chan struct{}       // holds a token when a wanted batch may be complete

	mu       sync.Mutex
	work     sync.Cond // for idle workers
	idle     int       // workers waiting on work
	waiting  bool      // the loop waits
	free     []*job
	inFlight []*job // begun and not delivered, in order
	cursor   cursor
	ahead    *ahead // behind cursor, if it is being planned
	fatal    error  // ends the run once what is complete has been delivered

	failed int // samples in delivered batches; belongs to the loop

	delivered map[int]bool // by their seq, those ahead of an undelivered one; for Unordered, and resuming after it
}

func newRun(l *Loader, ctx context.Context) *run {
	r := &run{l: l, begun: time.Now(), arrived: make(chan struct{}, 1), delivered: map[int]bool{}}
	r.ctx, r.cancel = context.WithCancelCause(ctx)
	r.work.L = &r.mu
	return r
}

// begin plans the first epoch. It runs the sampler's code.
func (r *run) begin(from Position, until int) (err error) {
	r.cursor.until = until
	for _, seq := range from.Ahead {
		r.delivered[seq] = true
	}
	if from.Epoch < until {
		r.cursor.plan, err = r.l.planFrom(from)
	}
	return err
}

// start starts the workers.
func (r *run) start() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.l.cfg.workers == 0 || r.stopped.Load() {
		return
	}
	r.group.Add(len(r.l.workers))
	for _, w := range r.l.workers {
		go w.main(r)
	}
	if r.cursor.plan != nil {
		r.planAhead()
	}
}

// opens opens a worker's reader. If that fails, the run ends.
func (r *run) opens(w *worker) bool {
	err := fmt.Errorf("loader: worker %d: open dataset: %w", w.id, ErrGoexit) // unless open returns
	defer func() {
		if err != nil {
			r.mu.Lock()
			defer r.mu.Unlock()
			r.fail(err)
		}
	}()
	err = w.open()
	return err == nil
}

// join waits until nobody works for a run that was told to stop.
func (r *run) join() {
	r.group.Wait()
	r.inline.Lock()
	defer r.inline.Unlock()
}

// stop ends the run: every goroutine of it has ended when stop returns.
func (r *run) stop() {
	r.halt(nil)
	r.join()
	r.mu.Lock()
	jobs := append(r.inFlight, r.free...)
	r.inFlight, r.free = nil, nil
	r.mu.Unlock()
	for _, j := range jobs {
		j.claims.Store(0) // rows of an unfinished batch
		r.l.recycle(j)
	}
}

// halt tells everyone to stop.
func (r *run) halt(cause error) {
	r.cancel(cause)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.stopped.Store(true)
	r.work.Broadcast()
	r.notify()
}

// next gives worker w a job: to help the wanted batch, or to begin one of its
// own, or to help the oldest one where all slabs are taken. It waits until there
// is something to do and returns nil when the run stops.
func (r *run) next(w *worker) *job {
	r.mu.Lock()
	defer r.mu.Unlock()
	for {
		if r.stopped.Load() {
			return nil
		}
		if j := r.toHelp(); j != nil && j == r.wanted.Load() {
			r.wakeAnother()
			return j
		}
		if j := r.open(w); j != nil {
			if !r.prepare(j) {
				continue
			}
			if r.waiting {
				r.want()
			}
			r.wakeAnother()
			return j
		}
		if j := r.toHelp(); j != nil {
			r.wakeAnother()
			return j
		}
		r.sleep(w)
	}
}

// sleep waits for work. Where the reason is that all slabs are taken, the time counts.
func (r *run) sleep(w *worker) {
	short := r.cursor.more() && len(r.free) == 0
	begun := time.Now()
	r.idle++
	r.work.Wait()
	r.idle--
	if short {
		w.memoryWait.Add(int64(time.Since(begun)))
	}
}

// wakeAnother wakes one more worker if there is more to do. That one does the
// same, so that as many wake as find work.
func (r *run) wakeAnother() {
	if r.idle > 0 && (r.cursor.more() && len(r.free) > 0 || r.toHelp() != nil) {
		r.work.Signal()
	}
}

// toHelp is the oldest batch with rows that nobody works on.
func (r *run) toHelp() *job {
	if !r.l.cfg.help {
		return nil
	}
	for _, j := range r.inFlight {
		if j.unclaimed() > 0 {
			return j
		}
	}
	return nil
}

// open takes a slab for the next batch, if there are both.
func (r *run) open(w *worker) *job {
	if r.fatal != nil || len(r.free) == 0 || !r.advance() {
		return nil
	}
	j := r.free[len(r.free)-1]
	r.free = r.free[:len(r.free)-1]
	j.seq, j.plan, j.k, j.worker, j.complete = r.cursor.seq, r.cursor.plan, r.cursor.k, w.id, false
	r.cursor.seq++
	r.cursor.k++
	r.inFlight = append(r.inFlight, j)
	return j
}

// prepare finds out which samples the batch consists of and opens its rows. If
// that fails, the run ends in the place of the batch. The caller holds mu.
func (r *run) prepare(j *job) (ok bool) {
	err := ErrGoexit // unless draw returns
	defer func() {
		if err == nil {
			j.publish()
			ok = true
			return
		}
		j.indices, j.failed, j.rows = j.indices[:0], j.failed[:0], 0
		j.err = fmt.Errorf("loader: epoch %d, batch %d: %w", j.plan.epoch, j.plan.number(j.k), err)
		r.fail(j.err)
		j.complete = true
	}()
	err = r.draw(j)
	return
}

// draw calls the sampler and hooks, without mu.
func (r *run) draw(j *job) (err error) {
	r.mu.Unlock()
	defer r.mu.Lock()
	defer recovered(&err)
	j.begun = time.Now()
	j.indices, j.draws = j.plan.rows(j.k, j.indices[:0], j.draws[:0])
	if len(j.indices) == 0 {
		return errors.New("the batch sampler gave an empty batch")
	}
	r.l.workers[j.worker].readAhead(j)
	if err := j.slab.reserve(len(j.indices)); err != nil {
		return err
	}
	r.l.cfg.trace.batchBegun(j)
	return nil
}

// fail ends the run after what is complete. The caller holds mu.
func (r *run) fail(err error) {
	if r.fatal == nil {
		r.fatal = err
	}
	r.notify()
}

// notify wakes the loop to look again.
func (r *run) notify() {
	select {
	case r.arrived <- struct{}{}:
	default: // it will look anyway
	}
}

// finish puts a batch, whose last row is done, up for delivery, and reports
// whether the loop waits for it.
func (r *run) finish(j *job) (awaited bool) {
	defer func() { // even if a hook calls runtime.Goexit
		r.mu.Lock()
		j.complete = true
		awaited = r.waiting && (r.l.cfg.unordered || r.inFlight[0] == j)
		if awaited {
			r.notify()
		}
		r.mu.Unlock()
	}()
	if err := r.seal(j); err != nil {
		j.err = fmt.Errorf("loader: epoch %d, batch %d: %w", j.plan.epoch, j.plan.number(j.k), err)
	}
	return false // the deferred function knows
}

// seal seals the batch. A panic of the Allocator or a hook is an error.
func (r *run) seal(j *job) (err error) {
	defer recovered(&err)
	j.seal(r.l.cfg.policy)
	r.l.cfg.trace.batchReady(j)
	return nil
}

// release takes a job's slab back for another batch.
func (r *run) release(j *job) {
	r.mu.Lock()
	if r.stopped.Load() {
		r.mu.Unlock()
		r.l.recycle(j)
		return
	}
	defer r.mu.Unlock()
	r.free = append(r.free, j)
	r.work.Signal()
	if r.l.cfg.workers == 0 {
		r.notify()
	}
}

// recovered turns a panic into an error.
func recovered(err *error) {
	if v := recover(); v != nil {
		*err = &PanicError{Value: v, Stack: debug.Stack()}
	}
}
