package loader

import (
	"fmt"
	"runtime"
	"time"

	"github.com/penstock-go/penstock/internal/figures"
	"github.com/penstock-go/penstock/loader/internal/slab"
	"github.com/penstock-go/penstock/loader/internal/tune"
)

func newTuning(l *Loader) *tuning {
	t := &tuning{Tuner: tune.New(l.cfg.workers)}
	t.active.Store(int32(t.Workers))
	return t
}

// active is the number of workers that are to work. Those with higher numbers park.
func (l *Loader) active() int {
	if l.tuning == nil {
		return l.cfg.workers
	}
	return int(l.tuning.active.Load())
}

// slabs is the number of slabs for so many workers, if a slab has that many bytes.
func (l *Loader) slabs(workers, bytes int) int {
	c, t := &l.cfg, l.tuning
	if t == nil || c.set.inFlight {
		return c.slabs(bytes)
	}
	n, rows := prefetch*workers+1, l.pool.Rows()
	if c.help && workers > runtime.GOMAXPROCS(0) && !t.Tiny { // then workers share batches, and need few
		n = min(n, max(2*runtime.GOMAXPROCS(0)+1, slab.Fewest+2*((workers+rows-1)/rows)))
	}
	n = max(slab.Product(t.Depth, n), t.begun) // a loop may keep so many batches at any time
	return min(n, max(c.least(), c.budget/max(bytes, 1)))
}

// deeper reports whether there may be more slabs for the same number of workers.
func (l *Loader) deeper() bool {
	c := &l.cfg
	target, refused := l.pool.Target()
	return !c.set.inFlight && refused == nil && target < c.budget/max(l.pool.Bytes(), 1)
}

// most is the number of samples of all batches that there may be, but for the one in the
// loop body. If there may be one batch only, it is that of this one.
func (l *Loader) most() int {
	slabs := l.slabs(tune.Most, l.pool.Bytes())
	if target, refused := l.pool.Target(); refused != nil {
		slabs = target
	}
	return slab.Product(max(1, slabs-1), l.pool.Rows())
}

// aim tells the pool how many slabs there are to be.
func (l *Loader) aim() {
	workers := l.cfg.workers
	if t := l.tuning; t != nil {
		workers = t.Workers
	}
	l.pool.Aim(l.slabs(workers, l.pool.Bytes()), workers)
}

// apply makes the run follow the tuner. The caller holds the mutex.
func (r *run) apply() {
	l, t := r.l, r.l.tuning
	if r.stopped.Load() {
		return
	}
	if t.Workers < r.l.active() {
		r.work.Broadcast() // so that those that are idle park
	}
	t.active.Store(int32(t.Workers))
	for id := len(l.workers); id < t.Workers; id++ {
		l.workers = append(l.workers, newWorker(l, id))
	}
	l.aim()
	r.staff()
	r.parked.Broadcast()
	r.wakeAnother()
}

// surplus reports whether the worker is to park, and may leave its batch to others.
func (w *worker) surplus() bool {
	return w.l.tuning != nil && w.l.cfg.help && w.id >= w.l.active()
}

// park waits until the worker may be active again. Another worker takes the work for
// which this one was woken. The caller holds the mutex.
func (r *run) park(w *worker) {
	r.wakeAnother()
	w.idle, w.slept = parked, time.Now()
	r.parked.Wait()
	w.idle = ""
}

// lacks reports whether a worker is to allocate a slab. The caller holds the mutex.
func (r *run) lacks() bool { return r.cursor.More() && r.fatal == nil && r.l.pool.Lacks() }

// addSlab allocates a slab. If the Allocator refuses, there are no more from then on. The
// caller holds the mutex, which is not held meanwhile.
func (r *run) addSlab(w *worker) {
	r.l.mu.Unlock()
	defer r.l.mu.Lock()
	w.at.Store(nil) // it works on no batch
	w.calls(allocating, func() error {
		r.l.pool.Grow()
		return nil
	})
}

// dismiss does without a worker that could not open the dataset, and without those of
// higher numbers, if it is one of those that Auto has added. It reports whether it is.
// The caller holds the mutex.
func (r *run) dismiss(w *worker, err error) bool {
	t := r.l.tuning
	if t == nil || w.id < r.l.cfg.workers {
		return false
	}
	t.Limit(w.id, fmt.Sprintf("there are no more than %s: %v", figures.Count(w.id, "worker", "workers"), err))
	r.apply()
	return true
}

// settings are the number of workers and slabs, and why.
func (l *Loader) settings() (workers, slabs int, t Tuning) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.tuning == nil {
		return l.cfg.workers, l.pool.Len(), Tuning{}
	}
	a := l.tuning
	target, refused := l.pool.Target()
	t = Tuning{Workers: a.Workers, InFlight: target, Budget: int64(l.cfg.budget), Changes: a.Changes, Reason: a.Reason, gained: a.Gained}
	if refused != nil {
		t.Reason += fmt.Sprintf("; there are no more than %d slabs: %v", target, refused)
	}
	switch c := &l.cfg; {
	case c.set.inFlight:
		t.deeper = "a larger InFlight helps"
	case refused != nil:
		t.deeper = "memory for more of them helps, which the Allocator refuses"
	case !l.deeper():
		t.deeper = "a larger Budget helps"
	default:
		t.deeper = "samples of equal times help, and Auto finds the batches"
	}
	return a.Workers, l.pool.Len(), t
}
