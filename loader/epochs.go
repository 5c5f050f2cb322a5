package loader

import (
	"context"
	"iter"

	"github.com/penstock-go/penstock/loader/internal/plan"
)

// Epoch loops over the batches of one epoch.
//
// A batch, with its tensors and slices, belongs to the loop body. After that its
// memory is reused, unless [Batch.Keep] or [Batch.Detach] was called.
//
// An error comes with a nil batch and ends the loop. A loop that asks for the batch
// alone, for batch := range, does not see it. It comes in the place of its
// batch, after all earlier batches. A sample that cannot be placed gives a
// [SampleError], unless [OnError] says otherwise. If ctx is done, the loop ends with
// an error that wraps the cause, even after the last batch.
//
// When the loop has ended, by break, error, cancelled context or panic, all its
// workers have ended too. Only calls of user code that last longer than a
// [Timeout] may still run, and a sampler that plans the next epoch.
// [Loader.Close] waits for both.
//
// Epochs count from 0 to [math.MaxInt]-1. Another number is an error.
func (l *Loader) Epoch(ctx context.Context, epoch int) iter.Seq2[*Batch, error] {
	return l.Epochs(ctx, epoch, epoch+1) // From refuses epoch math.MaxInt, for which this overflows
}

// Epochs loops over the batches of several epochs: from, from+1 and so on up to,
// but not including, to. There is no gap between them: the first batches of an
// epoch are assembled while the last ones of the epoch before are consumed.
// Otherwise it is like [Loader.Epoch].
func (l *Loader) Epochs(ctx context.Context, from, to int) iter.Seq2[*Batch, error] {
	return l.From(ctx, Position(l.plans.Start(from)), to)
}

// From resumes at a position and loops up to, but not including, epoch until. The
// batches are the same as without an interruption, for any number of workers. With
// another number of ranks or another batch size, the samples are the same, in the
// same global order. If the position is in epoch until or later, there are no
// batches. Otherwise it is like [Loader.Epoch].
//
// It is an error if the position was taken with another order, seed or number of
// samples (see [Position]), or if it lies after the end of its epoch.
func (l *Loader) From(ctx context.Context, p Position, until int) iter.Seq2[*Batch, error] {
	return func(yield func(*Batch, error) bool) {
		from := plan.Position(p)
		err := l.plans.Check(from)
		var r *run
		if err == nil {
			r, err = l.begin(ctx, from, until)
		}
		if err != nil {
			yield(nil, err)
			return
		}
		defer l.end(r)
		r.loop(yield)
	}
}

// begin makes a run. It is an error if one is under way. It calls no user code.
func (l *Loader) begin(ctx context.Context, p plan.Position, until int) (*run, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case l.closed:
		return nil, ErrClosed
	case l.run != nil:
		return nil, ErrBusy
	}
	l.run = newRun(l, ctx, p, until)
	return l.run, nil
}

// end ends a run.
func (l *Loader) end(r *run) {
	defer func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.run = nil
	}()
	r.stop()
	l.shrink()
}
