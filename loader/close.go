package loader

import (
	"errors"
	"fmt"
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
// Close waits no longer than that for them. If some have not returned by then, it
// returns a [TimeoutError]. The memory that they use is freed when they return, so
// the [Allocator] must outlive them. Close itself calls Close of the other Readers, and
// waits for that as long as it takes.
func (l *Loader) Close() error {
	r, ok := l.close()
	if !ok {
		return nil
	}
	if r != nil {
		r.halt(ErrClosed)
		r.join()
	}
	errs := []error{l.waitOutside()}
	l.mu.Lock()
	workers := l.workers
	l.mu.Unlock()
	for _, w := range workers {
		if err := w.close(); err != nil {
			errs = append(errs, fmt.Errorf("loader: close dataset: %w", err))
		}
	}
	for j := l.drain(); j != nil; j = l.drain() {
		errs = append(errs, j.slab.free())
	}
	errs = append(errs, l.stocks.close(), l.farewell())
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
	return l.run, true
}

// drain takes a free slab. It returns nil after the last one.
func (l *Loader) drain() *job {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.free) == 0 {
		return nil
	}
	return l.take()
}
