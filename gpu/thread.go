package gpu

import (
	"context"
	"runtime"
)

// A thread makes driver calls, one after the other, on an operating system thread
// that a context is bound to.
type thread struct {
	calls chan func()
	ended chan struct{} // closed after the last call
}

// start starts a thread with the call begin. It ends when begin fails or calls is
// closed. The operating system thread ends with it, because the goroutine stays
// locked to it: no other goroutine may run on a thread that has a context.
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

// do runs f on the thread and waits until it returns.
func (t *thread) do(f func() error) error { return t.try(context.Background(), f) }

// try is do with a context: if ctx is done before f has returned, try returns the
// context's error. f may then run later. So it must not write to anything that other
// goroutines access, unless that access is synchronized.
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

// end ends the thread after the calls before it.
func (t *thread) end() {
	close(t.calls)
	<-t.ended
}
