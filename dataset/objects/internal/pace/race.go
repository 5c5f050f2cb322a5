package pace

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"github.com/penstock-go/penstock/dataset"
)

// errOvertaken ends the first request if the second one was faster.
var errOvertaken = errors.New("the second request was faster")

// Race sends the first request and waits for its answer: the first byte, or whatever the
// service is slow with. If that takes longer than it usually does, and the budget allows it,
// Race sends the second request too. It returns the answer that comes first, and gives the
// other one, if it comes at all, to drop. The other request's context is cancelled.
//
// The context of a request lives as long as its answer: the caller calls end when it has
// used the answer. Then no goroutine is left. If there is an error, end is nil.
//
// An error of the first request is that of Race, and ends the second one. An error of the
// second one alone is none: then Race waits for the first. If both fail, errors.Is and
// errors.As see only the first error, and the text has both.
//
// A panic of the second request is one of Race, with a [dataset.PanicError] as its value, so that
// whoever recovers panics of the first recovers it, too. If the first answer is in use already, it is
// one of end.
func Race[T any](ctx context.Context, p *Pace, first, second func(context.Context) (T, error), drop func(T)) (answer T, end func(), err error) {
	delay := p.begin()
	if delay == 0 {
		if answer, err = timed(ctx, p, first); err != nil {
			return answer, nil, err
		}
		return answer, func() {}, nil
	}
	var (
		one, overtake = context.WithCancelCause(ctx)
		two, stop     = context.WithCancel(ctx)
		decided       atomic.Bool // by the request that sets it
		other         T
		otherErr      error
		panicked      *dataset.PanicError
		group         sync.WaitGroup
	)
	group.Go(func() {
		defer func() {
			if v := recover(); v != nil {
				panicked = &dataset.PanicError{Value: v, Stack: debug.Stack()}
				if decided.CompareAndSwap(false, true) {
					overtake(errOvertaken)
				}
			}
		}()
		if !p.turn(two, delay) {
			return
		}
		a, err := timed(two, p, second)
		switch {
		case err != nil && two.Err() == nil: // the first request goes on
			otherErr = err
		case err != nil:
		case decided.CompareAndSwap(false, true):
			other = a
			overtake(errOvertaken)
		default:
			drop(a)
		}
	})
	end = func() {
		stop()
		overtake(nil)
		if group.Wait(); panicked != nil {
			panic(panicked)
		}
	}
	returned := false // whether first has, and did not panic
	defer func() {
		if returned {
			return
		}
		won := !decided.CompareAndSwap(false, true)
		if end(); won {
			drop(other)
		}
	}()
	answer, err = timed(one, p, first)
	returned = true
	if !decided.CompareAndSwap(false, true) {
		if err == nil {
			drop(answer) // both came at once
		}
		if group.Wait(); panicked != nil {
			end()
		}
		return other, end, nil // which is set
	}
	stop()
	if err == nil {
		return answer, end, nil
	}
	if end(); otherErr != nil {
		err = fmt.Errorf("%w; the second request: %v", err, otherErr)
	}
	return answer, nil, err
}

// timed sends a request and observes how long its answer takes.
func timed[T any](ctx context.Context, p *Pace, send func(context.Context) (T, error)) (T, error) {
	begun := time.Now()
	answer, err := send(ctx)
	if err == nil || context.Cause(ctx) == errOvertaken { // which takes at least as long
		p.observe(time.Since(begun))
	}
	return answer, err
}
