package loader

import (
	"errors"
	"fmt"
)

// Close ends a loop that runs, waits for its workers and frees the memory and
// the dataset's readers. Batches that the loop body or a kept reference still
// holds stay valid and are freed when they are given up. Later loops get
// [ErrClosed]. Close may be called again; it then does nothing. It waits for the
// samples that are being placed, so placing a sample must not call it.
//
// With a [Timeout] Close waits no longer than that for calls that a loop has left
// behind, and reports those that last with a [TimeoutError]. What they use is freed
// when they return, so the Allocator has to outlive them.
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
	errs = append(errs, l.stocks.close())
	l.mu.Lock()
	defer l.mu.Unlock()
	return errors.Join(append(errs, l.late)...)
}

// close marks the loader as closed, unless it is, and returns the run under way.
func (l *Loader) close() (r *run, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return nil, false
	}
	l.closed = true
	return l.run, true
}

// drain takes a slab that nobody uses.
func (l *Loader) drain() *job {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.free) == 0 {
		return nil
	}
	return l.take()
}
