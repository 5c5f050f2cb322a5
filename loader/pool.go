package loader

import "errors"

// room reports whether there is a slab for another batch. If the number of slabs is
// bounded by their size, ragged fields count too, as soon as their sizes are known:
// some slabs then stay empty while others hold large batches. The caller holds the
// mutex.
func (l *Loader) room() bool {
	taken := len(l.jobs) - len(l.free)
	switch {
	case len(l.free) == 0:
		return false
	case l.tuning != nil && l.run != nil && len(l.run.inFlight) >= max(1, l.tuning.slabs-1): // one is in the loop body
		return false
	case l.ragged && l.stocks.bounded:
		return l.fits()
	case !l.ragged || taken < fewest || !l.cfg.bounded():
		return true
	}
	typical := l.stocks.values.typical()
	if typical == 0 && !l.stocks.values.noted() {
		return false // the size of batches is not known before the first one is complete
	}
	// Taken slabs count with typical bytes at least, because a new batch has not
	// used its memory yet.
	return max(l.stocks.used(), saturated(taken, typical)) <= l.cfg.budget-l.fixed-typical
}

// fits reports whether the budget has room for another batch as large as the largest so
// far, or nothing is being assembled. The caller holds the mutex.
func (l *Loader) fits() bool {
	open := 0
	if l.run != nil {
		for _, j := range l.run.inFlight {
			if !j.complete {
				open++
			}
		}
		if len(l.run.inFlight) == 0 {
			return true
		}
	}
	largest := int(l.stocks.largest.Load())
	if largest == 0 {
		return open == 0 // the size of batches is not known before the first one is complete
	}
	largest += largest / 8 // later ones may be a little larger
	used := int(l.stocks.slabs.Load()) + l.stocks.values.used() + max(l.stocks.padded.used(), l.stocks.padded.typical())
	return saturated(open+1, largest) <= l.cfg.budget-used
}

// take takes a free slab. There must be one. The caller holds the mutex.
func (l *Loader) take() *job {
	last := len(l.free) - 1
	j := l.free[last]
	l.free = l.free[:last]
	return j
}

// release makes a slab free for another batch, of this run or of a later one. If the
// loader is closed, it frees the slab's memory.
func (l *Loader) release(j *job) {
	j.claims.Store(0) // an unfinished batch may have unclaimed rows
	j.spoil()
	j.endTask()
	err := j.slab.vacate()
	defer l.putBack(j, err) // also if a hook ends the goroutine
	l.freed(j)
}

// putBack makes a slab free, or frees its memory if the loader is closed. err is an
// error from before.
func (l *Loader) putBack(j *job, err error) {
	if !l.reuse(j) {
		err = errors.Join(err, j.slab.free())
	} else if l.excessive() {
		l.shrink()
	}
	if err != nil {
		l.fails(err)
	}
}

// fails notes an error for Close to return.
func (l *Loader) fails(err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.late = errors.Join(l.late, err)
}

// reuse makes a slab free and wakes a worker that waits for one. It reports false if
// the loader is closed.
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
