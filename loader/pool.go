package loader

import "errors"

// take takes a free slab, of which there is one. The caller holds the mutex.
func (l *Loader) take() *job {
	last := len(l.free) - 1
	j := l.free[last]
	l.free = l.free[:last]
	return j
}

// release takes a slab back for another batch: of this run, or of a later one. A
// closed loader frees it.
func (l *Loader) release(j *job) {
	j.claims.Store(0) // rows of an unfinished batch
	if l.reuse(j) {
		return
	}
	if err := j.slab.free(); err != nil {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.late = errors.Join(l.late, err)
	}
}

// reuse makes a slab free and wakes who waits for one, unless the loader is closed.
func (l *Loader) reuse(j *job) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return false
	}
	l.free = append(l.free, j)
	if r := l.run; r != nil {
		r.work.Signal()
		if l.cfg.workers == 0 {
			r.notify()
		}
	}
	return true
}
