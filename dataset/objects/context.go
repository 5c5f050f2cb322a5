package objects

import "context"

// join is a context that is done when one of the two is. more may be nil. The returned
// function must be called.
func join(ctx, more context.Context) (context.Context, func()) {
	switch {
	case more == nil || more.Done() == nil || more == ctx:
		return ctx, func() {}
	case ctx.Done() == nil:
		return more, func() {}
	}
	joined, cancel := context.WithCancel(more)
	stop := context.AfterFunc(ctx, cancel)
	return joined, func() {
		stop()
		cancel()
	}
}
