package loader

import (
	"context"
	"iter"
)

// Epoch loops over the batches of one epoch.
//
// A batch, and every tensor over it, belongs to the loop body: its memory is
// reused afterwards, unless [Batch.Keep] says otherwise. After an error the loop
// ends, except as [OnError] says; a context that is done ends it with an error,
// even after the last batch. However the loop ends, by break, error, cancelled
// context or panic, all its workers have ended then, but for those in calls that
// last longer than a [Timeout]. A sampler that is still planning the next epoch is
// left to finish; [Loader.Close] waits for it.
func (l *Loader) Epoch(ctx context.Context, epoch int) iter.Seq2[*Batch, error] {
	return l.Epochs(ctx, epoch, epoch+1)
}

// Epochs loops over the batches of the epochs from up to, but not including,
// to, without a gap: the first batches of an epoch are assembled while the last
// ones before it are consumed.
func (l *Loader) Epochs(ctx context.Context, from, to int) iter.Seq2[*Batch, error] {
	return l.From(ctx, l.start(from, l.ds.Len()), to)
}

// From loops over what comes after a position, up to, but not including, epoch
// until: the same batches as without an interruption, whatever the number of
// workers. On another number of ranks, or in another batch size, it is the same
// samples in the same global order. There is nothing after a position in epoch
// until or a later one.
//
// It is an error if the position does not belong to the loader's order, seed or
// number of samples (see [Position]), or lies after its epoch's end.
func (l *Loader) From(ctx context.Context, p Position, until int) iter.Seq2[*Batch, error] {
	return func(yield func(*Batch, error) bool) {
		err := l.check(p)
		var r *run
		if err == nil {
			r, err = l.begin(ctx, p, until)
		}
		if err != nil {
			yield(nil, err)
			return
		}
		defer l.end(r)
		r.start(p)
		r.loop(yield)
	}
}

// begin makes a run, if none is under way. It calls no user code.
func (l *Loader) begin(ctx context.Context, p Position, until int) (*run, error) {
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
	l.advise()
}
