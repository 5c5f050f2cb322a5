package loader

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"
)

// A planning is a call of the sampler for an epoch, which may take long. It runs in
// a goroutine of its own: the next epoch is planned while the current one is
// loaded. The goroutine belongs to the loader rather than to the run, so that a
// loop can end before it. Close waits for it. The wait for more samples is one, too,
// and so is the end of a foresight.
type planning struct {
	doing string // what the goroutine does, in words
	begun time.Time
}

// background calls f in a goroutine of its own, and then done with its error, which may be that of a panic or
// of runtime.Goexit. ended is closed when both have returned. The caller holds the mutex.
func (l *Loader) background(doing string, f func() error, done func(error)) (ended <-chan struct{}) {
	p := &planning{doing: doing, begun: time.Now()}
	over := make(chan struct{})
	l.plannings = append(l.plannings, p)
	l.outside.enter()
	go func() {
		defer close(over)
		defer l.endPlanning(p)
		err := errGoexit // unless f returns or panics
		defer func() { done(err) }()
		err = protected(f)
	}()
	return over
}

// protected calls f. A panic becomes an error.
func protected(f func() error) (err error) {
	defer recovered(&err)
	return f()
}

func (l *Loader) endPlanning(p *planning) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.plannings = slices.DeleteFunc(l.plannings, func(q *planning) bool { return q == p })
	l.outside.leave()
}

// planNext starts planning the epoch after the cursor's. The caller holds the mutex.
func (r *run) planNext() {
	if epoch := r.cursor.plan.epoch + 1; epoch < r.cursor.until {
		r.planFrom(r.l.start(epoch, r.samples))
	}
}

// planFrom starts planning the rest of an epoch. Without workers the loop does it
// later. The caller holds the mutex.
func (r *run) planFrom(from Position) {
	r.cursor.due, r.cursor.planning = from, true
	if r.l.cfg.workers == 0 || r.stopped.Load() {
		return
	}
	next := &upcoming{}
	r.l.background(fmt.Sprintf("planning epoch %d", from.Epoch), func() error { return r.plan(from, next) }, func(err error) { r.setNext(next, err) })
}

// An upcoming epoch is one that is being planned.
type upcoming struct {
	epoch     int
	plan      *plan
	foresight *foresight // nil if the dataset does not use it
}

// plan plans the first epoch with batches, from a position on, and tells the dataset of it.
func (r *run) plan(from Position, next *upcoming) (err error) {
	for ; ; from = r.l.start(next.epoch+1, r.samples) {
		next.epoch = from.Epoch
		next.plan, err = r.l.safePlan(r.ctx, from)
		switch {
		case err != nil:
			return err
		case !next.plan.empty():
			next.foresight, err = r.foresee(next.plan)
			return err
		case next.epoch+1 >= r.cursor.until || r.ctx.Err() != nil:
			return nil
		}
	}
}

// setNext gives a plan, or the error in its place, to the cursor, and keeps what the
// dataset was told of it.
func (r *run) setNext(next *upcoming, err error) {
	if err == errGoexit {
		err = fmt.Errorf("loader: epoch %d: %w", next.epoch, err)
	}
	if !r.keep(next, err) {
		next.foresight.end()
	}
}

// keep reports false if the run has stopped, and does not end the foresight any more.
func (r *run) keep(next *upcoming, err error) bool {
	r.l.mu.Lock()
	defer r.l.mu.Unlock()
	r.cursor.planning = false
	if err != nil {
		r.cursor.err = err
	} else {
		r.cursor.next = next.plan
	}
	r.wakeAnother()
	r.notify()
	if next.foresight != nil && !r.stopped.Load() {
		r.foresights = append(r.foresights, next.foresight)
		return true
	}
	return next.foresight == nil
}

// planInline makes the next plan in the loop's own goroutine. It reports false if no
// plan is needed.
func (r *run) planInline() bool {
	r.l.mu.Lock()
	wanted, from := !r.advance() && r.cursor.planning, r.cursor.due
	r.l.mu.Unlock()
	if wanted {
		next := &upcoming{}
		r.setNext(next, protected(func() error { return r.plan(from, next) }))
	}
	return wanted
}

// safePlan plans the rest of an epoch from a position on. A panic of the sampler
// becomes an error.
func (l *Loader) safePlan(ctx context.Context, from Position) (p *plan, err error) {
	defer func() {
		if _, panicked := err.(*PanicError); panicked {
			err = fmt.Errorf("loader: epoch %d: %w", from.Epoch, err)
		}
	}()
	defer recovered(&err)
	if p, err = l.newPlan(ctx, from); err != nil {
		return nil, err
	}
	return p, errors.Join(p.endless(), p.resumes(from))
}
