package loader

import (
	"fmt"
	"runtime"
	"slices"
	"time"

	"github.com/penstock-go/penstock/internal/figures"
	"github.com/penstock-go/penstock/internal/usercode"
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
	n := prefetch*workers + 1
	if c.help && workers > runtime.GOMAXPROCS(0) && !t.Tiny { // then workers share batches, and need few
		n = min(n, max(2*runtime.GOMAXPROCS(0)+1, fewest+2*((workers+l.rows-1)/l.rows)))
	}
	n = max(saturated(t.Depth, n), t.begun) // a loop may keep so many batches at any time
	return min(n, max(c.least(), c.budget/max(bytes, 1)))
}

// deeper reports whether there may be more slabs for the same number of workers.
func (l *Loader) deeper() bool {
	c, t := &l.cfg, l.tuning
	return !c.set.inFlight && !t.frozen && t.slabs < c.budget/max(l.slabSize(), 1)
}

// most is the number of samples of all batches that there may be, but for the one in the
// loop body. If there may be one batch only, it is that of this one.
func (l *Loader) most() int {
	slabs := l.slabs(tune.Most, l.slabSize())
	if l.tuning.frozen {
		slabs = l.tuning.slabs
	}
	return saturated(max(1, slabs-1), l.rows)
}

func (l *Loader) slabSize() int { return slabBytes(l.collation.columns, l.rows) }

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
	if !t.frozen {
		t.slabs = l.slabs(t.Workers, l.slabSize())
	}
	l.stocks.serve(max(t.slabs, len(l.jobs)), t.Workers)
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

// lacks reports whether there is work for one slab more than there are, and there are to
// be more. The caller holds the mutex.
func (r *run) lacks() bool {
	l, t := r.l, r.l.tuning
	if t == nil || t.frozen || t.making > 0 || len(l.free) > 0 || len(l.jobs) >= t.slabs || !r.cursor.More() || r.fatal != nil {
		return false
	}
	return len(l.jobs) < l.cfg.least() || l.slabSize() <= l.cfg.budget-int(l.stocks.slabs.Load())
}

// addSlab allocates a slab. If the Allocator refuses, there are no more from then on. The
// caller holds the mutex, which is not held meanwhile.
func (r *run) addSlab(w *worker) {
	l, rows := r.l, r.l.rows
	l.tuning.making++
	l.mu.Unlock()
	defer l.mu.Lock()
	w.at.Store(nil) // it works on no batch
	var j *job
	err := w.calls(allocating, func() (err error) {
		j, err = l.newJob(rows)
		return err
	})
	if l.added(j, err) {
		l.release(j)
	}
}

// added notes a slab that is new, or why there is none.
func (l *Loader) added(j *job, err error) (ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	t := l.tuning
	t.making--
	if err != nil {
		t.frozen, t.slabs = true, len(l.jobs)
		t.refusal = fmt.Sprintf("; there are no more than %d slabs: %v", len(l.jobs), err)
		return false
	}
	l.jobs = append(l.jobs, j)
	return true
}

func (l *Loader) newJob(rows int) (j *job, err error) {
	defer usercode.Recover(&err)
	s, err := newSlab(l.collation.columns, rows, &l.stocks)
	if err != nil {
		return nil, err
	}
	return &job{slab: s}, nil
}

// shrink frees the slabs that are not needed: after a loop, or if batches larger than
// those of the first epoch have made the slabs grow beyond the budget.
func (l *Loader) shrink() {
	for j := l.unneeded(); j != nil; j = l.unneeded() {
		if err := j.slab.free(); err != nil {
			l.fails(err)
		}
	}
}

// excessive reports whether the slabs exceed the budget, or will when all of them have
// had the largest batch.
func (l *Loader) excessive() bool {
	if l.tuning == nil && !l.cfg.bounded() {
		return false
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return saturated(len(l.jobs), l.slabSize()) > l.cfg.budget
}

// unneeded removes a free slab that is not needed, or returns nil.
func (l *Loader) unneeded() *job {
	l.mu.Lock()
	defer l.mu.Unlock()
	needed := l.slabs(l.cfg.workers, l.slabSize())
	if t := l.tuning; t != nil {
		t.active.Store(int32(t.Workers))
		if !t.frozen {
			t.slabs = l.slabs(t.Workers, l.slabSize())
		}
		needed = t.slabs
	}
	if l.closed || len(l.jobs) <= needed || len(l.free) == 0 {
		return nil
	}
	j := l.take()
	l.jobs = slices.DeleteFunc(l.jobs, func(k *job) bool { return k == j })
	return j
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
		return l.cfg.workers, len(l.jobs), Tuning{}
	}
	a := l.tuning
	t = Tuning{Workers: a.Workers, InFlight: a.slabs, Budget: int64(l.cfg.budget), Changes: a.Changes, Reason: a.Reason + a.refusal, gained: a.Gained}
	switch c := &l.cfg; {
	case c.set.inFlight:
		t.deeper = "a larger InFlight helps"
	case a.frozen:
		t.deeper = "memory for more of them helps, which the Allocator refuses"
	case !l.deeper():
		t.deeper = "a larger Budget helps"
	default:
		t.deeper = "samples of equal times help, and Auto finds the batches"
	}
	return a.Workers, len(l.jobs), t
}
