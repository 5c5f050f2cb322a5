package loader

import (
	"errors"
	"slices"
)

// Close ends the loop that runs, if any, and waits for its workers. Then it frees
// the loader's memory and closes the dataset's Readers. The loop that it ends and
// all later ones get [ErrClosed]. Calling Close again does nothing.
//
// A batch that the loop body uses or that is kept stays valid. Its memory is freed
// when the batch is no longer used.
//
// Close waits for the samples that are being placed, so Place must not call it.
// Calls of user code may still run after their loop has ended. With a [Timeout],
// Close waits no longer than that for them, and then no longer than that again for the
// Close of all other Readers, which it calls at the same time. If some of these calls
// have not returned by then, it returns a [TimeoutError]. The memory that they use is
// freed when they return, so the [Allocator] must outlive them.
func (l *Loader) Close() error {
	r, ok := l.close()
	if !ok {
		return nil
	}
	if r != nil {
		r.halt(ErrClosed)
		r.join()
	}
	errs := []error{l.waitOutside(), l.closeReaders(), l.pool.Close(), l.farewell()}
	l.mu.Lock()
	defer l.mu.Unlock()
	return errors.Join(append(errs, l.late)...)
}

// close marks the loader as closed and returns the run under way, if any. ok is
// false if the loader was closed already.
func (l *Loader) close() (r *run, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return nil, false
	}
	l.closed = true
	l.pool.Shut()
	return l.run, true
}

// closeReaders closes the Readers of all workers at the same time. It waits for that, at
// most for the Timeout if there is one. Its error lists the calls that have not returned.
// Those that return give their errors to late.
func (l *Loader) closeReaders() error {
	l.mu.Lock()
	closing := new(crew)
	var workers []*worker
	for id, w := range l.workers {
		if w.reader == nil {
			continue
		}
		// As with a stray, so that a loop that still ends does not take it for one of its own.
		l.workers[id] = newWorker(l, id)
		l.strays = append(l.strays, w)
		workers = append(workers, w)
		closing.enter()
		go func() {
			defer l.leaveCrew(closing)
			l.retire(w)
		}()
	}
	gone := closing.wait()
	l.mu.Unlock()
	if l.waitFor(gone) {
		return nil
	}
	l.mu.Lock()
	left := slices.DeleteFunc(workers, func(w *worker) bool { return !slices.Contains(l.strays, w) })
	calls := activities(left, nil)
	l.mu.Unlock()
	return l.closeTimedOut(calls)
}
