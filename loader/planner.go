package loader

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"time"
)

// A planning is a call of the sampler for an epoch, which may take long. It runs in
// a goroutine of its own: the next epoch is planned while the current one is
// loaded. The goroutine belongs to the loader rather than to the run, so that a
// loop can end before it. Close waits for it. The wait for more samples is one, too,
// and so is the end of a foresight.
type planning struct {
	doing     string // what the goroutine does, in words
	begun     time.Time
	goroutine atomic.Int64
}

// startPlanning calls f in a goroutine of its own. ended is closed when f has returned. The
// caller holds the mutex.
func (l *Loader) startPlanning(doing string, f func()) (ended <-chan struct{}) {
	p := &planning{doing: doing, begun: time.Now()}
	over := make(chan struct{})
	l.plannings = append(l.plannings, p)
	l.outside.enter()
	go func() {
		defer close(over)
		defer l.endPlanning(p)
		p.goroutine.Store(goroutineID())
		f()
	}()
	return over
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
	r.l.startPlanning(fmt.Sprintf("planning epoch %d", from.Epoch), func() { r.plan(from) })
}

// plan plans the first epoch with batches, from a position on.
func (r *run) plan(from Position) {
	p, err := (*plan)(nil), fmt.Errorf("loader: epoch %d: %w", from.Epoch, ErrGoexit)
	f := (*foresight)(nil)
	defer func() { // also if the sampler or the dataset calls runtime.Goexit
		if !r.planned(p, f, err) {
			f.end()
		}
	}()
	p, err = r.l.safePlan(r.ctx, from)
	for err == nil && p.empty() && p.epoch+1 < r.cursor.until && r.ctx.Err() == nil {
		p, err = r.l.safePlan(r.ctx, r.l.start(p.epoch+1, r.samples))
	}
	if err == nil && !p.empty() {
		f, err = r.foresee(p)
	}
}

// planned gives a plan, or the error in its place, to the cursor, and keeps what the
// dataset was told of it. It reports false if the run no longer ends f.
func (r *run) planned(p *plan, f *foresight, err error) (kept bool) {
	r.l.mu.Lock()
	defer r.l.mu.Unlock()
	if kept = f == nil || !r.stopped.Load(); kept && f != nil {
		r.foresights = append(r.foresights, f)
	}
	r.cursor.planning = false
	if err != nil {
		r.cursor.err = err
	} else {
		r.cursor.next = p
	}
	r.wakeAnother()
	r.notify()
	return kept
}

// planInline makes the next plan in the loop's own goroutine. It reports false if no
// plan is needed.
func (r *run) planInline() bool {
	r.l.mu.Lock()
	wanted, from := !r.advance() && r.cursor.planning, r.cursor.due
	r.l.mu.Unlock()
	if wanted {
		r.plan(from)
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
