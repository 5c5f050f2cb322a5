package loader

import (
	"errors"
	"fmt"
	"slices"
	"time"
)

// A worker whose call of user code does not return within [Timeout], although the
// run has ended, is a stray: the run does not wait for it, another worker takes its
// place, and it keeps its Reader and the slab that it works on until the call
// returns. Close waits for strays, as long as Timeout again.

// join waits until the run's workers have ended or are strays.
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

// overdue makes strays of the workers that are overdue. It returns a channel that
// is closed once the others have ended, and how long they may take until one of
// them is overdue; 0 is for ever.
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

// leave is the end of a worker's goroutine.
func (l *Loader) leave(w *worker, r *run) {
	if l.leaves(w, r) {
		return
	}
	defer l.leaveOutside()
	err := w.close()
	if j := l.returned(w, err); j != nil {
		l.release(j)
	}
}

// leaves takes a worker from its run, unless it is a stray.
func (l *Loader) leaves(w *worker, r *run) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !w.stray {
		r.crew.leave()
	}
	return !w.stray
}

// returned takes a stray off the list, with the error of its Reader's end. It
// returns the slab that it worked on, if nobody else has use for it.
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

func (l *Loader) leaveOutside() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.outside.leave()
}

// waitOutside waits for strays and planning samplers, with a Timeout for as long as
// that, and reports those that are left.
func (l *Loader) waitOutside() error {
	l.mu.Lock()
	gone := l.outside.wait()
	l.mu.Unlock()
	var timeout <-chan time.Time
	if l.cfg.timeout > 0 {
		timer := time.NewTimer(l.cfg.timeout)
		defer timer.Stop()
		timeout = timer.C
	}
	select {
	case <-gone:
		return nil
	case <-timeout:
		l.mu.Lock()
		strays, plannings := slices.Clone(l.strays), slices.Clone(l.plannings)
		l.mu.Unlock()
		return &TimeoutError{After: l.cfg.timeout, Epoch: -1, Batch: -1, Stuck: stuck(strays, plannings)}
	}
}
