package loader

import (
	"errors"
	"fmt"
	"slices"
	"time"
)

// A stray is a worker whose call of user code lasts longer than [Timeout] when its
// run ends. The run does not wait for it, and another worker takes its place. Until
// the call returns, the stray keeps its Reader and the slab that it works on. Close
// waits for strays, for at most the Timeout again.

// join waits until all workers of the run have ended or are strays.
func (r *run) join() {
	for {
		gone, wait := r.overdue()
		var timeout <-chan time.Time
		if wait > 0 {
			timer := time.NewTimer(wait)
			defer timer.Stop()
			timeout = timer.C
		}
		select {
		case <-gone:
			return
		case <-timeout:
		}
	}
}

// overdue makes strays of the workers whose calls last longer than Timeout. It
// returns a channel that is closed when the others have ended, and the time until
// one of them may become a stray. Without a Timeout this time is 0.
func (r *run) overdue() (gone <-chan struct{}, wait time.Duration) {
	l := r.l
	l.mu.Lock()
	defer l.mu.Unlock()
	if limit := l.cfg.timeout; limit > 0 && l.cfg.workers > 0 {
		wait = limit
		for _, w := range l.workers {
			switch lasts := w.lasts(); {
			case w.run != r || lasts == 0:
			case lasts >= limit:
				l.leaveBehind(w, r)
			default:
				wait = min(wait, limit-lasts)
			}
		}
	}
	return r.crew.wait(), wait
}

// leaveBehind makes a worker a stray. The caller holds the mutex.
func (l *Loader) leaveBehind(w *worker, r *run) {
	w.stray = true
	if w.lost = w.at.Load(); w.lost != nil {
		w.lost.strays++
	}
	l.strays = append(l.strays, w)
	l.workers[w.id] = newWorker(l, w.id)
	l.outside.enter()
	r.crew.leave()
}

// leave is called at the end of a worker's goroutine.
func (l *Loader) leave(w *worker, r *run) {
	if l.leaves(w, r) {
		return
	}
	defer l.leaveCrew(&l.outside)
	l.retire(w)
}

// retire closes the Reader of a stray, whose last call has returned, and gives back its slab.
func (l *Loader) retire(w *worker) {
	w.at.Store(nil)
	var err error
	defer func() {
		if j := l.returned(w, err); j != nil {
			l.release(j)
		}
	}()
	err = w.close()
}

// leaves removes a worker from its run. It reports false for a stray, which has been
// removed already.
func (l *Loader) leaves(w *worker, r *run) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !w.stray {
		r.crew.leave()
	}
	return !w.stray
}

// returned removes a stray from the list. err is the error of closing its Reader. It
// returns the slab that the stray worked on, if it must be given back now.
func (l *Loader) returned(w *worker, err error) *job {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.strays = slices.DeleteFunc(l.strays, func(s *worker) bool { return s == w })
	l.past.add(w)
	if err != nil {
		l.late = errors.Join(l.late, fmt.Errorf("loader: close dataset: %w", err))
	}
	j := w.lost
	if j == nil {
		return nil
	}
	if j.strays--; j.strays > 0 || !j.orphan {
		return nil
	}
	j.orphan = false
	return j
}

// orphans are the batches that strays hold. The caller holds the mutex.
func (l *Loader) orphans() map[*job]bool {
	all := map[*job]bool{}
	for _, w := range l.strays {
		if w.lost != nil && w.lost.orphan {
			all[w.lost] = true
		}
	}
	return all
}

func (l *Loader) leaveCrew(c *crew) {
	l.mu.Lock()
	defer l.mu.Unlock()
	c.leave()
}

// waitOutside waits for strays and plannings, at most for the Timeout if there is
// one. Its error lists those that are left.
func (l *Loader) waitOutside() error {
	l.mu.Lock()
	gone := l.outside.wait()
	l.mu.Unlock()
	if l.waitFor(gone) {
		return nil
	}
	l.mu.Lock()
	left := activities(l.strays, l.plannings)
	l.mu.Unlock()
	return l.closeTimedOut(left)
}

// waitFor waits until gone is closed, at most for the Timeout if there is one. It reports
// whether gone is closed.
func (l *Loader) waitFor(gone <-chan struct{}) bool {
	var timeout <-chan time.Time
	if l.cfg.timeout > 0 {
		timer := time.NewTimer(l.cfg.timeout)
		defer timer.Stop()
		timeout = timer.C
	}
	select {
	case <-gone:
		return true
	case <-timeout:
		return false
	}
}

// closeTimedOut is the error of a Close that does not wait any longer. It is nil if nothing
// is left to wait for.
func (l *Loader) closeTimedOut(left []activity) error {
	if len(left) == 0 {
		return nil
	}
	return &TimeoutError{after: l.cfg.timeout, Epoch: -1, Batch: -1, Stuck: l.stuck(left)}
}
