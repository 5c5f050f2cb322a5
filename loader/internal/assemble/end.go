package assemble

import (
	"fmt"
	"slices"
	"time"
)

// A loop ends when its workers have. With a Timeout it does not wait for those whose calls of user code last longer: it
// leaves them behind, with their Readers and the slabs that they fill, and no other loop begins until these calls have
// returned. Close waits for them for at most the Timeout again.

// Stop ends the loop. When it returns, all its workers have ended, but for those that are left behind, and its slabs
// are free, but for theirs and those of batches that are not released.
func (l *Loop) Stop() {
	l.halt(nil)
	l.join()
	l.awaitGrowth()
	left := l.vacate()
	l.endForesights()
	if left {
		l.t.outlive(l.end)
		return
	}
	l.end()
}

// join waits until all workers of the loop have ended, or the calls of those that have not last longer than the Timeout.
func (l *Loop) join() {
	for {
		gone, wait := l.gone(), l.patience()
		if wait == 0 {
			return
		}
		var timeout <-chan time.Time
		if wait > 0 {
			timeout = time.After(wait)
		}
		select {
		case <-gone:
			return
		case <-timeout:
		}
	}
}

// gone is closed when all workers of the loop have ended.
func (l *Loop) gone() <-chan struct{} {
	l.t.mu.Lock()
	defer l.t.mu.Unlock()
	return l.running.wait()
}

// patience is how long it takes until all workers are in calls that last longer than the Timeout: 0 if they are. Those
// that are in no call end now, or begin one. Without a Timeout it is negative.
func (l *Loop) patience() (wait time.Duration) {
	t := l.t
	if t.cfg.Timeout == 0 {
		return -1
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, w := range t.workers {
		switch lasts := w.callTime(); {
		case !w.running:
		case lasts == 0:
			wait = max(wait, min(time.Millisecond, t.cfg.Timeout))
		default:
			wait = max(wait, t.cfg.Timeout-lasts)
		}
	}
	return wait
}

// vacate releases the batches in flight, but for those of workers that have not ended: these are in calls.
// It reports whether there are such workers.
func (l *Loop) vacate() (left bool) {
	t := l.t
	t.mu.Lock()
	held := map[*Job]bool{}
	for _, w := range t.workers {
		if w.running {
			held[w.at.Load()] = true
			left, l.left = true, true
		}
	}
	free := slices.DeleteFunc(slices.Clone(l.inFlight), func(j *Job) bool { return held[j] })
	l.inFlight = slices.DeleteFunc(l.inFlight, func(j *Job) bool { return !held[j] })
	t.mu.Unlock()
	for _, j := range free {
		t.Release(j)
	}
	return left
}

// end lets another loop begin when all workers have ended.
func (l *Loop) end() {
	<-l.gone()
	l.t.mu.Lock()
	defer l.t.mu.Unlock()
	l.t.loop = nil
}

// leave is called at the end of a worker's goroutine.
func (w *worker) leave(l *Loop) {
	if w.ends(l) {
		l.vacate()
	}
	w.t.mu.Lock()
	defer w.t.mu.Unlock()
	close(w.ended)
	l.running.leave()
}

// ends notes that the worker has ended, and reports whether it was left behind.
func (w *worker) ends(l *Loop) (left bool) {
	w.t.mu.Lock()
	defer w.t.mu.Unlock()
	w.running = false
	return l.left
}

// outlive calls f in a goroutine that Close waits for.
func (t *Team) outlive(f func()) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.outside.enter()
	go func() {
		defer t.leaveOutside()
		f()
	}()
}

func (t *Team) leaveOutside() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.outside.leave()
}

// retire closes the Readers of all workers at the same time. It waits for that, for workers that were left behind and for
// errands, at most for the Timeout if there is one, and returns the calls that have not returned.
func (t *Team) retire() []Activity {
	for _, w := range t.workers { // there are no more, because the Team is closed
		t.outlive(func() {
			if w.ended != nil {
				<-w.ended
			}
			w.at.Store(nil)
			clear(w.cells) // these have the memory of a slab
			w.src, w.dst = nil, nil
			if err := w.close(); err != nil {
				t.keepError(fmt.Errorf("loader: close dataset: %w", err))
			}
		})
	}
	t.mu.Lock()
	gone := t.outside.wait()
	t.mu.Unlock()
	if t.waitFor(gone) {
		return nil
	}
	t.mu.Lock()
	left := activities(t.workers, t.errands)
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
