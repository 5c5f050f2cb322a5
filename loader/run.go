package loader

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/penstock-go/penstock/loader/internal/plan"
)

// A run is one loop over a loader, with its batches in flight and its workers.
type run struct {
	l      *Loader
	gauge  *gauge // nil without Auto
	from   plan.Position
	until  int // the epoch before which it ends
	begun  time.Time
	ctx    context.Context // cancelled when the loop ends
	cancel context.CancelCauseFunc

	stopped atomic.Bool
	wanted  atomic.Pointer[job] // the batch that the loop waits for and workers help with
	arrived chan struct{}       // holds a token if the loop must look again

	// The loader's mutex guards these.
	crew     crew      // workers, and the loop's own goroutine while it assembles a batch
	work     sync.Cond // signalled when there is work for idle workers
	idle     int       // workers that wait for work
	parked   sync.Cond // signalled when parked workers become active
	waiting  bool      // whether the loop waits for a batch
	inFlight []*job    // batches that are begun and not delivered, in order
	cursor   *plan.Cursor
	growth   growth
	fatal    error // ends the run after the complete batches are delivered

	foresights []*foresight // that have not ended, in the order of their epochs

	assembled int           // rows of batches that are complete
	slowest   time.Duration // what one of them took, since the gauge's last reading; only with Auto
	idling    idleness      // of workers that wait for work

	// Only the loop uses these.
	failed  int // samples that failed in batches that the loop has reached
	batches int // delivered
	ledger  *plan.Ledger
}

func newRun(l *Loader, ctx context.Context, from plan.Position, until int) *run {
	r := &run{l: l, from: from, until: until, cursor: l.plans.NewCursor(from, until), ledger: plan.NewLedger(from), begun: time.Now(), arrived: make(chan struct{}, 1)}
	r.ctx, r.cancel = context.WithCancelCause(ctx)
	r.work.L, r.parked.L = &l.mu, &l.mu
	r.idling.at, r.gauge = r.begun, newGauge(l)
	return r
}

// start starts planning the first epoch, and the workers.
func (r *run) start() {
	r.l.mu.Lock()
	defer r.l.mu.Unlock()
	if r.stopped.Load() || r.cursor.Over() {
		return
	}
	r.supply()
	if r.l.cfg.workers == 0 {
		r.l.workers[0].run = r
		return
	}
	r.staff()
}

// staff starts the workers that are to be active and have not been started. The caller
// holds the mutex.
func (r *run) staff() {
	for _, w := range r.l.workers[:r.l.active()] {
		if w.run != r {
			w.run = r
			r.crew.enter()
			go w.main(r)
		}
	}
}

// next gives worker w a batch: the wanted one to help with, or a fresh one to
// prepare, or, if all slabs are taken, the oldest one to help with. It waits until
// there is one, and returns nil when the run stops.
func (r *run) next(w *worker) (j *job, fresh bool) {
	r.l.mu.Lock()
	defer r.l.mu.Unlock()
	for !r.stopped.Load() {
		if w.id >= r.l.active() {
			r.park(w)
			continue
		}
		if j := r.toHelp(); j != nil && j == r.wanted.Load() {
			r.wakeAnother()
			return j, false
		}
		if j := r.open(w); j != nil {
			r.wakeAnother()
			return j, true
		}
		if r.lacks() {
			r.addSlab(w)
			continue
		}
		if j := r.toHelp(); j != nil {
			r.wakeAnother()
			return j, false
		}
		r.sleep(w)
	}
	return nil, false
}

// sleep waits for work. If all slabs are taken, the time counts as
// [Stats.MemoryWait]. The caller holds the mutex, which is free while a hook is called.
func (r *run) sleep(w *worker) {
	short := r.cursor.More() && !r.l.pool.Room()
	begun := time.Now()
	w.idle, w.slept = awaitsWork, begun
	if short {
		w.idle = awaitsMemory
	}
	if r.gauge != nil {
		r.idling.count(begun, 1, short)
	}
	r.idle++
	r.work.Wait()
	r.idle--
	if r.gauge != nil {
		r.idling.count(time.Now(), -1, short)
	}
	w.idle = ""
	if !short {
		return
	}
	took := time.Since(begun)
	w.memoryWait.Add(int64(took))
	if r.l.cfg.trace.MemoryWaited != nil {
		r.l.mu.Unlock()
		defer r.l.mu.Lock()
		w.waitedForMemory(took)
	}
}

// wakeAnother wakes one idle worker if there is work for it. That worker wakes the
// next one, so that as many wake as there is work for. The caller holds the mutex.
func (r *run) wakeAnother() {
	if r.idle > 0 && (r.cursor.More() && r.l.pool.Room() || r.lacks() || r.toHelp() != nil) {
		r.work.Signal()
	}
}

// toHelp is the oldest batch with unclaimed rows, or nil. The caller holds the mutex.
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

// open takes a slab for the next batch, or returns nil if there is no slab or no
// batch. The caller holds the mutex.
func (r *run) open(w *worker) *job {
	if r.fatal != nil || r.ctx.Err() != nil || !r.l.pool.Room() || !r.advance() {
		return nil
	}
	s := r.l.pool.Take()
	if s == nil {
		return nil
	}
	j := &job{Ref: r.cursor.Take(), slab: s, id: r.l.begun, ctx: r.ctx, worker: w.id, finisher: -1}
	r.l.begun++
	r.inFlight = append(r.inFlight, j)
	r.supply() // not only when a worker looks for a batch, because it needs a free slab then
	return j
}

// prepared publishes the rows of a batch, or ends the run with an error in its
// place. It reports whether there are rows to place.
func (r *run) prepared(j *job, err error) bool {
	r.l.mu.Lock()
	defer r.l.mu.Unlock()
	if err != nil {
		r.l.pool.Filled(j.slab)
		j.refuse(err)
		r.fail(err)
		return false
	}
	j.publish()
	if r.waiting {
		r.want()
	}
	r.wakeAnother()
	return true
}

// finish marks a batch as complete and reports whether the loop waits for it.
func (r *run) finish(j *job) (awaited bool) {
	r.l.mu.Lock()
	defer r.l.mu.Unlock()
	j.complete = true
	r.l.pool.Filled(j.slab)
	r.assembled += len(j.slab.Indices)
	if r.gauge != nil {
		r.slowest = max(r.slowest, time.Since(j.begun))
	}
	awaited = r.waiting && (r.l.cfg.unordered || len(r.inFlight) > 0 && r.inFlight[0] == j)
	if awaited {
		r.notify()
	}
	return awaited
}

// fail ends the run with an error, after the batches that are complete. The caller
// holds the mutex.
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
	default: // there is a token already
	}
}

// halt tells the loop and its workers to stop.
func (r *run) halt(cause error) {
	r.cancel(cause)
	r.l.mu.Lock()
	defer r.l.mu.Unlock()
	r.stopped.Store(true)
	r.work.Broadcast()
	r.parked.Broadcast()
	r.notify()
}

// stop ends the run. When it returns, all workers of the run have ended or are
// strays.
func (r *run) stop() {
	r.halt(nil)
	r.gauge.stop()
	r.join()
	r.awaitGrowth()
	for _, j := range r.abandon() {
		r.l.release(j)
	}
	r.endForesights()
}

// abandon removes all batches from those in flight and returns the ones that no stray
// works on. The slabs of the others are given back by their last stray.
func (r *run) abandon() (jobs []*job) {
	r.l.mu.Lock()
	defer r.l.mu.Unlock()
	for _, j := range r.inFlight {
		if j.strays > 0 {
			j.orphan = true
			r.l.pool.Delivered(j.slab)
			continue
		}
		jobs = append(jobs, j)
	}
	r.inFlight = nil
	return jobs
}
