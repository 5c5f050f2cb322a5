package gpu

import (
	"context"
	"runtime"
)

// A thread makes calls of the driver, one after the other, on an operating system's
// thread that a context is bound to.
type thread struct {
	calls chan func()
	ended chan struct{} // closed after the last call
}

// start begins a thread. It ends when begin fails or calls is closed, and the
// operating system's thread with it: it stays locked, because one that a context is
// bound to is of no use to other goroutines.
func start(begin func() error) (*thread, error) {
	t := &thread{calls: make(chan func()), ended: make(chan struct{})}
	begun := make(chan error)
	go func() {
		runtime.LockOSThread()
		defer close(t.ended)
		err := begin()
		begun <- err
		if err != nil {
			return
		}
		for call := range t.calls {
			call()
		}
	}()
	if err := <-begun; err != nil {
		<-t.ended
		return nil, err
	}
	return t, nil
}

// do runs f on the thread. It waits for as long as the driver does.
func (t *thread) do(f func() error) error { return t.try(context.Background(), f) }

// try is do for those who need not wait: when ctx is done before f has ended it
// returns the context's error. f may run later then, and must write to nothing that
// its caller reads without asking the thread.
func (t *thread) try(ctx context.Context, f func() error) error {
	result := make(chan error, 1)
	select {
	case t.calls <- func() { result <- f() }:
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	select {
	case err := <-result:
		return err
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// end ends the thread after the calls that it has been given.
func (t *thread) end() {
	close(t.calls)
	<-t.ended
}
