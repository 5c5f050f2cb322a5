package assemble

import (
	"fmt"
	"slices"
	"time"

	"github.com/penstock-go/penstock/internal/usercode"
	"github.com/penstock-go/penstock/loader/internal/plan"
)

// An errand is a call of user code in a goroutine of its own, which may take long: of the sampler, which plans the next
// epoch while the current one is loaded; a wait for more samples; or the end of a foresight. The goroutine belongs to
// the Team, so that a loop can end before it. Close waits for it.
type errand struct {
	doing string // in words
	begun time.Time
}

// background calls f in a goroutine of its own, and then done with its error, which may be that of a panic or of
// runtime.Goexit. ended is closed when both have returned. The Team's mutex is held.
func (t *Team) background(doing string, f func() error, done func(error)) (ended <-chan struct{}) {
	p := &errand{doing: doing, begun: time.Now()}
	over := make(chan struct{})
	t.errands = append(t.errands, p)
	t.outside.enter()
	go func() {
		defer close(over)
		defer t.endErrand(p)
		err := errGoexit // unless f returns or panics
		defer func() { done(err) }()
		err = usercode.Call(f)
	}()
	return over
}

func (t *Team) endErrand(p *errand) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.errands = slices.DeleteFunc(t.errands, func(q *errand) bool { return q == p })
	t.outside.leave()
}

// advance moves the cursor to a batch that is to be delivered. It reports whether there is one now. The Team's mutex is
// held.
func (l *Loop) advance() bool {
	ready := l.cursor.Ready()
	l.supply()
	return ready
}

// supply begins what the cursor needs: the plan of the next epoch, or more samples. Without workers the loop does that
// later. The Team's mutex is held.
func (l *Loop) supply() {
	if err := l.cursor.Err(); err != nil {
		l.fail(err)
		return
	}
	if l.cursor.Lacks() > 0 {
		l.demand()
	}
	if l.t.cfg.Workers == 0 || l.stopped.Load() {
		return
	}
	if from, ok := l.cursor.Due(); ok {
		u := &upcoming{}
		l.t.background(fmt.Sprintf("planning epoch %d", from.Epoch), func() error { return l.plan(from, u) }, func(err error) { l.planned(from, u, err) })
	}
}

// An upcoming epoch is one that is being planned.
type upcoming struct {
	plan      *plan.Plan
	foresight *foresight // nil if the dataset does not use it
}

// plan plans the first epoch with batches, from a position on, and tells the dataset of it.
func (l *Loop) plan(from plan.Position, next *upcoming) (err error) {
	if next.plan, err = l.t.cfg.Plans.Next(l.ctx, from, l.until); err == nil && !next.plan.Empty() {
		next.foresight, err = l.foresee(next.plan)
	}
	return err
}

// planned gives a plan, or the error in its place, to the cursor, and keeps what the dataset was told of it.
func (l *Loop) planned(from plan.Position, next *upcoming, err error) {
	if err == errGoexit {
		err = fmt.Errorf("loader: epoch %d: %w", from.Epoch, err)
	}
	if !l.keep(next, err) {
		next.foresight.end()
	}
}

// keep reports false if the loop has stopped, and does not end the foresight any more.
func (l *Loop) keep(next *upcoming, err error) bool {
	l.t.mu.Lock()
	defer l.t.mu.Unlock()
	l.cursor.Planned(next.plan, err)
	l.wakeAnother()
	l.notify()
	if next.foresight != nil && !l.stopped.Load() {
		l.foresights = append(l.foresights, next.foresight)
		return true
	}
	return next.foresight == nil
}

// planInline makes the next plan in the loop's own goroutine. It reports false if no plan is needed.
func (l *Loop) planInline() bool {
	l.t.mu.Lock()
	wanted := !l.advance()
	var from plan.Position
	if wanted {
		from, wanted = l.cursor.Due()
	}
	l.t.mu.Unlock()
	if wanted {
		next := &upcoming{}
		l.planned(from, next, usercode.Call(func() error { return l.plan(from, next) }))
	}
	return wanted
}
