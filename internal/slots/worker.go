package slots

import "context"

type workerKey struct{}

// WithWorker is a context that knows the number of the worker it is for.
func WithWorker(ctx context.Context, id int) context.Context {
	return context.WithValue(ctx, workerKey{}, id)
}

// Worker is that number.
func Worker(ctx context.Context) (id int, ok bool) {
	id, ok = ctx.Value(workerKey{}).(int)
	return id, ok
}
