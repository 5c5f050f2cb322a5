package slots

import "context"

type workerKey struct{}

// WithWorker returns a context with the number of the worker that uses it.
func WithWorker(ctx context.Context, id int) context.Context {
	return context.WithValue(ctx, workerKey{}, id)
}

// Worker is the number that WithWorker has put into ctx. ok is false if there is none.
func Worker(ctx context.Context) (id int, ok bool) {
	id, ok = ctx.Value(workerKey{}).(int)
	return id, ok
}
