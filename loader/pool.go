package loader

import "errors"

// room reports whether there is a slab for another batch. Where the number of slabs
// follows from their size, ragged fields count too, as far as their sizes are known:
// some slabs stay empty while the others hold large batches. The caller holds the
// mutex.
func (l *Loader) room() bool {
	taken := len(l.jobs) - len(l.free)
	switch {
	case len(l.free) == 0:
		return false
	case !l.ragged || taken < fewest || !l.cfg.bounded():
		return true
	}
	typical := l.stocks.values.typical()
	if typical == 0 && !l.stocks.values.noted() {
		return false // before the first batch is complete nobody knows how large they are
	}
	// A batch that has just been taken will need what others need.
	return l.fixed+max(l.stocks.used(), taken*typical)+typical <= l.cfg.budget
}

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
	j.spoil()
	err := j.slab.vacate()
	if !l.reuse(j) {
		err = errors.Join(err, j.slab.free())
	}
	if err != nil {
		l.fails(err)
	}
}

// fails notes an error for Close to report.
func (l *Loader) fails(err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.late = errors.Join(l.late, err)
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
