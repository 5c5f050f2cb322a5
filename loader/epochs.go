package loader

import (
	"context"
	"fmt"
	"iter"
	"runtime/trace"
	"slices"
	"time"

	"github.com/penstock-go/penstock/internal/figures"
	"github.com/penstock-go/penstock/loader/internal/plan"
)

// Epoch loops over the batches of one epoch.
//
// A batch, with its tensors and slices, belongs to the loop body. After that its
// memory is reused, unless [Batch.Keep] was called.
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
	l.aim()
	if err := l.pool.Shrink(); err != nil {
		l.fails(err)
	}
}

// loop delivers batches to the loop body, until there are no more or the body or an
// error ends the loop.
func (r *run) loop(yield func(*Batch, error) bool) {
	since := r.begun // the first wait includes the start
	r.l.counts.loops(since)
	defer r.l.counts.loops(time.Time{})
	r.l.meter.begin()
	defer r.l.meter.end()
	r.start()
	for {
		j, err := r.take()
		if j == nil {
			if err != nil {
				yield(nil, err)
			} else {
				r.l.counts.vacant(r.vacancy())
			}
			return
		}
		r.endForesights()
		at := r.ledger.Deliver(j.Ref, r.first())
		waited := time.Since(since)
		emptied, err := r.outcome(j)
		if emptied {
			r.l.release(j)
			continue // without resetting since: the loop still waits
		}
		r.l.counts.waited(waited, since == r.begun)
		begun := since.Add(waited)
		goesOn, ended := r.deliver(j, at, err, waited, begun, yield)
		r.l.counts.bodyTook(ended.Sub(begun))
		r.delivered(begun, ended)
		if !goesOn {
			return
		}
		since = ended
	}
}

// outcome counts the failures of a batch. It returns the error that takes the
// batch's place, if any, or reports that [Skip] has emptied the batch, which is
// then not delivered.
func (r *run) outcome(j *job) (emptied bool, err error) {
	r.failed += len(j.failed)
	r.l.counts.failed(j.failed, j.dropped)
	switch limit := r.l.cfg.limit; {
	case j.err != nil && j.err == j.passing():
		return false, j.err
	case r.l.cfg.policy != Stop && r.failed > limit:
		return false, fmt.Errorf("loader: %d samples failed, OnError allows %d; the last: %w", r.failed, limit, j.failed[len(j.failed)-1].err)
	case j.rows == 0 && j.err == nil:
		r.l.counts.emptied()
		return true, nil
	}
	return false, j.err
}

// deliver gives the loop body a batch, or the error in its place. It reports whether
// the loop continues, and when the body that has begun at begun ended.
func (r *run) deliver(j *job, at plan.Mark, err error, waited time.Duration, begun time.Time, yield func(*Batch, error) bool) (goesOn bool, ended time.Time) {
	b := &Batch{l: r.l, job: j, ref: j.Ref, rows: j.rows, at: at}
	b.holders.Store(1)
	defer b.release()
	r.l.cfg.trace.batchDelivered(j, waited)
	if err != nil {
		b = nil
	} else {
		r.batches++
		r.l.counts.delivered(j.rows)
	}
	goesOn, ended = r.l.cfg.trace.body(j, b, err, begun, yield)
	return goesOn && err == nil, ended
}

// take waits for the batch that is to be delivered next and removes it from those in
// flight. It returns nil after the last batch.
func (r *run) take() (*job, error) {
	defer r.unwant()
	region := trace.StartRegion(r.ctx, "loader.wait")
	defer region.End()
	var timeout <-chan time.Time
	for {
		j, over, err := r.look()
		switch {
		case j != nil || over || err != nil:
			return j, err
		case r.l.cfg.workers == 0 && r.workInline():
			continue
		}
		if timeout == nil && r.l.cfg.timeout > 0 {
			timer := time.NewTimer(r.l.cfg.timeout)
			defer timer.Stop()
			timeout = timer.C
		}
		select {
		case <-r.arrived:
		case <-r.gauge.ticks():
			r.tune()
		case <-r.ctx.Done():
		case <-timeout:
			return r.expired()
		}
	}
}

// expired is the end of a wait that has taken as long as the Timeout. The batch may have come
// just then, as it may if the system lets this goroutine run late.
func (r *run) expired() (*job, error) {
	if j, over, err := r.look(); j != nil || over || err != nil {
		return j, err
	}
	return nil, r.timedOut()
}

// look takes the batch to be delivered if it is complete, or reports that the loop is
// over. Otherwise it tells the workers which batch the loop waits for.
func (r *run) look() (j *job, over bool, err error) {
	r.l.mu.Lock()
	defer r.l.mu.Unlock()
	// This is under the mutex, because samples that see the context done complete
	// their batch. Such a batch must not be delivered.
	if err := context.Cause(r.ctx); err != nil {
		return nil, true, ended(err)
	}
	if j = r.complete(); j != nil {
		r.wakeAnother() // with a bound on the batches in flight there may be room for one more now
		return j, false, nil
	}
	if len(r.inFlight) == 0 && r.over() {
		return nil, true, r.fatal
	}
	if len(r.inFlight) == 0 {
		r.starve()
	}
	r.waiting = true
	r.want()
	r.wakeAnother()
	return nil, false, nil
}

// ended is the error of a loop whose context is done.
func ended(cause error) error {
	if cause == ErrClosed {
		return cause
	}
	return fmt.Errorf("loader: epoch loop: %w", cause)
}

// complete removes the batch to be delivered from those in flight, if it is complete,
// and returns it. The caller holds the mutex.
func (r *run) complete() *job {
	for i, j := range r.inFlight {
		if j.complete {
			r.inFlight = slices.Delete(r.inFlight, i, i+1)
			r.l.pool.Delivered(j.slab)
			return j
		}
		if !r.l.cfg.unordered {
			break
		}
	}
	return nil
}

// want tells the workers which batch the loop waits for. The caller holds the mutex.
func (r *run) want() {
	if !r.l.cfg.help || len(r.inFlight) == 0 {
		return
	}
	head := r.inFlight[0]
	if r.l.cfg.unordered {
		head = r.toHelp()
	}
	if head != nil && head.unclaimed() > 0 {
		r.wanted.Store(head)
	}
}

func (r *run) unwant() {
	r.wanted.Store(nil)
	r.l.mu.Lock()
	defer r.l.mu.Unlock()
	r.waiting = false
}

// workInline assembles the next batch or plans the next epoch in the loop's own
// goroutine. It reports false if there is no slab for a batch.
func (r *run) workInline() bool {
	if !r.enterInline() {
		return false
	}
	defer r.leaveInline()
	if r.planInline() || r.growInline() {
		return true
	}
	w := r.l.workers[0]
	if !w.begin(r) {
		return true // the run has failed
	}
	j := r.nextInline(w)
	if j != nil && w.prepare(j) {
		w.build(j)
	}
	return j != nil
}

// enterInline makes Close wait for the loop's goroutine. It reports false if the run
// has been stopped.
func (r *run) enterInline() bool {
	r.l.mu.Lock()
	defer r.l.mu.Unlock()
	if r.stopped.Load() {
		return false
	}
	r.crew.enter()
	return true
}

func (r *run) leaveInline() {
	r.l.mu.Lock()
	defer r.l.mu.Unlock()
	r.crew.leave()
}

func (r *run) nextInline(w *worker) *job {
	r.l.mu.Lock()
	defer r.l.mu.Unlock()
	return r.open(w)
}

// vacancy says why the run, which has ended by itself, had no batch. It is empty if the run
// had one, or none to look for.
func (r *run) vacancy() string {
	first := r.first()
	switch {
	case r.batches > 0 || r.from.Draw > 0:
		return ""
	case r.failed > 0:
		return fmt.Sprintf("no batch: %s failed, and Skip left them out: look at Failures", figures.Count(r.failed, "sample", "samples"))
	case first == nil:
		return ""
	}
	return r.l.plans.Vacancy(first)
}
