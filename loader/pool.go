package loader

import "errors"

// release makes the slab of a batch free for another one, of this run or of a later one.
func (l *Loader) release(j *job) {
	j.claims.Store(0) // an unfinished batch may have unclaimed rows
	j.slab.Spoil()
	j.endTask()
	err := j.slab.Vacate()
	defer func() { // also if a hook ends the goroutine
		if err := errors.Join(err, l.pool.Put(j.slab)); err != nil {
			l.fails(err)
		}
		l.vacated()
	}()
	l.freed(j)
}

// fails notes an error for Close to return.
func (l *Loader) fails(err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.late = errors.Join(l.late, err)
}

// vacated wakes a worker that waits for a slab.
func (l *Loader) vacated() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if r := l.run; r != nil {
		r.work.Signal()
		if l.cfg.workers == 0 {
			r.notify()
		}
	}
}
