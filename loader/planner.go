package loader

import (
	"fmt"
	"slices"
	"time"

	"github.com/penstock-go/penstock/internal/usercode"
	"github.com/penstock-go/penstock/loader/internal/plan"
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
		err = usercode.Call(f)
	}()
	return over
}

func (l *Loader) endPlanning(p *planning) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.plannings = slices.DeleteFunc(l.plannings, func(q *planning) bool { return q == p })
	l.outside.leave()
}

// advance moves the cursor to a batch that is to be delivered. It reports whether there is one
// now. The caller holds the mutex.
func (r *run) advance() bool {
	ready := r.cursor.Ready()
	r.supply()
	return ready
}

// supply begins what the cursor needs: the plan of the next epoch, or more samples. Without workers
// the loop does that later. The caller holds the mutex.
func (r *run) supply() {
	if err := r.cursor.Err(); err != nil {
		r.fail(err)
		return
	}
	if r.cursor.Lacks() > 0 {
		r.demand()
	}
	if r.l.cfg.workers == 0 || r.stopped.Load() {
		return
	}
	if from, ok := r.cursor.Due(); ok {
		u := &upcoming{}
		r.l.background(fmt.Sprintf("planning epoch %d", from.Epoch), func() error { return r.plan(from, u) }, func(err error) { r.planned(from, u, err) })
	}
}

// An upcoming epoch is one that is being planned.
type upcoming struct {
	plan      *plan.Plan
	foresight *foresight // nil if the dataset does not use it
}

// plan plans the first epoch with batches, from a position on, and tells the dataset of it.
func (r *run) plan(from plan.Position, next *upcoming) (err error) {
	if next.plan, err = r.l.plans.Next(r.ctx, from, r.until); err == nil && !next.plan.Empty() {
		next.foresight, err = r.foresee(next.plan)
	}
	return err
}

// planned gives a plan, or the error in its place, to the cursor, and keeps what the
// dataset was told of it.
func (r *run) planned(from plan.Position, next *upcoming, err error) {
	if err == errGoexit {
		err = fmt.Errorf("loader: epoch %d: %w", from.Epoch, err)
	}
	if !r.keep(next, err) {
		next.foresight.end()
	}
}

// keep reports false if the run has stopped, and does not end the foresight any more.
func (r *run) keep(next *upcoming, err error) bool {
	r.l.mu.Lock()
	defer r.l.mu.Unlock()
	r.cursor.Planned(next.plan, err)
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
	wanted := !r.advance()
	var from plan.Position
	if wanted {
		from, wanted = r.cursor.Due()
	}
	r.l.mu.Unlock()
	if wanted {
		next := &upcoming{}
		r.planned(from, next, usercode.Call(func() error { return r.plan(from, next) }))
	}
	return wanted
}

// over reports whether no batch is left to begin. The caller holds the mutex.
func (r *run) over() bool {
	r.advance()
	return r.fatal != nil || r.cursor.Over() && r.growth.plan == nil
}

// first is the first plan of the run.
func (r *run) first() *plan.Plan {
	r.l.mu.Lock()
	defer r.l.mu.Unlock()
	return r.cursor.First()
}
