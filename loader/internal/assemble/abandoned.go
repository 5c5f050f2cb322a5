package assemble

import (
	"errors"
	"fmt"
	"slices"
	"time"
)

// A worker is abandoned if its call of user code lasts longer than the Timeout when its loop ends. The loop does not
// wait for it, and another worker takes its place. Until the call returns, it keeps its Reader and the slab that it
// works on. Close waits for abandoned workers, for at most the Timeout again.

// join waits until all workers of the loop have ended or are abandoned.
func (l *Loop) join() {
	for {
		gone, wait := l.overdue()
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

// overdue abandons the workers whose calls last longer than the Timeout. It returns a channel that is closed when the
// others have ended, and the time until one of them may be abandoned. Without a Timeout this time is 0.
func (l *Loop) overdue() (gone <-chan struct{}, wait time.Duration) {
	t := l.t
	t.mu.Lock()
	defer t.mu.Unlock()
	if limit := t.cfg.Timeout; limit > 0 && t.cfg.Workers > 0 {
		wait = limit
		for _, w := range t.workers {
			switch lasts := w.callTime(); {
			case w.loop != l || lasts == 0:
			case lasts >= limit:
				t.abandon(w, l)
			default:
				wait = min(wait, limit-lasts)
			}
		}
	}
	return l.running.wait(), wait
}

// abandon leaves a worker behind. The Team's mutex is held.
func (t *Team) abandon(w *worker, l *Loop) {
	w.abandoned = true
	if w.lost = w.at.Load(); w.lost != nil {
		w.lost.holders++
	}
	t.abandoned = append(t.abandoned, w)
	t.workers[w.id] = newWorker(t, w.id)
	t.outside.enter()
	l.running.leave()
}

// leave is called at the end of a worker's goroutine.
func (t *Team) leave(w *worker, l *Loop) {
	if t.leaveLoop(w, l) {
		return
	}
	defer t.leaveOutside()
	t.retire(w)
}

// retire closes the Reader of an abandoned worker, whose last call has returned, and gives back its slab.
func (t *Team) retire(w *worker) {
	w.at.Store(nil)
	var err error
	defer func() {
		if j := t.returned(w, err); j != nil {
			t.Release(j)
		}
	}()
	err = w.close()
}

// leaveLoop removes a worker from its loop. It reports false for an abandoned one, which has been removed already.
func (t *Team) leaveLoop(w *worker, l *Loop) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !w.abandoned {
		l.running.leave()
	}
	return !w.abandoned
}

// returned removes an abandoned worker from the list. err is the error of closing its Reader. It returns the batch that
// it worked on, if its slab must be given back now.
func (t *Team) returned(w *worker, err error) *Job {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.abandoned = slices.DeleteFunc(t.abandoned, func(s *worker) bool { return s == w })
	t.past.add(w)
	if err != nil {
		t.late = errors.Join(t.late, fmt.Errorf("loader: close dataset: %w", err))
	}
	j := w.lost
	if j == nil {
		return nil
	}
	if j.holders--; j.holders > 0 || !j.orphan {
		return nil
	}
	j.orphan = false
	return j
}

// orphans are the batches that abandoned workers hold. The Team's mutex is held.
func (t *Team) orphans() map[*Job]bool {
	all := map[*Job]bool{}
	for _, w := range t.abandoned {
		if w.lost != nil && w.lost.orphan {
			all[w.lost] = true
		}
	}
	return all
}

func (t *Team) leaveOutside() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.outside.leave()
}

// retireAll closes the Readers of all workers at the same time. It waits for that, for abandoned workers and for
// errands, at most for the Timeout if there is one, and returns the calls that have not returned.
func (t *Team) retireAll() []Activity {
	t.mu.Lock()
	for id, w := range t.workers {
		if w.reader == nil {
			continue
		}
		// As if it were abandoned, so that a loop that still ends does not take it for one of its own.
		t.workers[id] = newWorker(t, id)
		t.abandoned = append(t.abandoned, w)
		t.outside.enter()
		go func() {
			defer t.leaveOutside()
			t.retire(w)
		}()
	}
	gone := t.outside.wait()
	t.mu.Unlock()
	if t.waitFor(gone) {
		return nil
	}
	t.mu.Lock()
	left := activities(t.abandoned, t.errands)
	t.mu.Unlock()
	return t.stuck(left)
}

// waitFor waits until gone is closed, at most for the Timeout if there is one. It reports whether gone is closed.
func (t *Team) waitFor(gone <-chan struct{}) bool {
	var timeout <-chan time.Time
	if t.cfg.Timeout > 0 {
		timer := time.NewTimer(t.cfg.Timeout)
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
