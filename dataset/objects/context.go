package objects

import "context"

// join is a context that is done when one of the two is, and that of [Once] if one of the two
// is. more may be nil. The returned function must be called.
func join(ctx, more context.Context) (context.Context, func()) {
	switch {
	case more == nil || more == ctx:
		return ctx, func() {}
	case more.Done() == nil:
		return onceLike(ctx, more), func() {}
	case ctx.Done() == nil:
		return onceLike(more, ctx), func() {}
	}
	joined, cancel := context.WithCancel(onceLike(more, ctx))
	stop := context.AfterFunc(ctx, cancel)
	return joined, func() {
		stop()
		cancel()
	}
}

// onceLike is ctx, and that of [Once] if other is.
func onceLike(ctx, other context.Context) context.Context {
	if IsOnce(other) {
		return Once(ctx)
	}
	return ctx
}
