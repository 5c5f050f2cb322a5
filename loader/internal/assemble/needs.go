package assemble

import (
	"fmt"
	"slices"
	"time"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/loader/internal/plan"
	"github.com/penstock-go/penstock/loader/internal/usercode"
)

// An errand is a call of user code that no worker makes and that may take long: of the sampler, which plans the next
// epoch while the current one is loaded; a wait for more samples; the end of a foresight; or of the Allocator, by the
// loop. All but the last have a goroutine of their own, which belongs to the Team, so that a loop can end before it.
// Close waits for errands.
type errand struct {
	doing string // in words
	begun time.Time
}

// background calls f in a goroutine of its own, and then done with its error, which may be that of a panic or of
// runtime.Goexit. ended is closed when both have returned. The Team's mutex is held.
func (t *Team) background(doing string, f func() error, done func(error)) (ended <-chan struct{}) {
	p := t.newErrand(doing)
	over := make(chan struct{})
	go func() {
		defer close(over)
		defer t.endErrand(p)
		err := usercode.ErrGoexit // unless f returns or panics
		defer func() { done(err) }()
		err = usercode.Call(f)
	}()
	return over
}

// newErrand begins an errand, which the caller ends. The Team's mutex is held.
func (t *Team) newErrand(doing string) *errand {
	p := &errand{doing: doing, begun: time.Now()}
	t.errands = append(t.errands, p)
	t.outside.enter()
	return p
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

// supply begins what the cursor needs: the plan of the next epoch, or more samples. The Team's mutex is held.
func (l *Loop) supply() {
	if err := l.cursor.Err(); err != nil {
		l.fail(err)
		return
	}
	if l.cursor.Lacks() > 0 {
		l.demand()
	}
	if l.stopped.Load() {
		return
	}
	from, ok := l.cursor.Due()
	if !ok {
		return
	}
	var p *plan.Plan
	var told *foresight
	l.t.background(fmt.Sprintf("planning epoch %d", from.Epoch), func() (err error) {
		if p, err = l.t.cfg.Plans.Next(l.ctx, from, l.until); err == nil && !p.Empty() {
			told, err = l.foresee(p)
		}
		return err
	}, func(err error) { l.takePlan(from.Epoch, p, told, err) })
}

// takePlan gives a plan, or the error in its place, to the cursor, and keeps what the dataset was told of it. If the
// loop has stopped, it ends that at once.
func (l *Loop) takePlan(epoch int, p *plan.Plan, told *foresight, err error) {
	if err == usercode.ErrGoexit {
		err = fmt.Errorf("loader: epoch %d: %w", epoch, err)
	}
	l.t.mu.Lock()
	l.cursor.SetPlan(p, err)
	l.wakeAnother()
	l.notify()
	stopped := l.stopped.Load()
	if told != nil && !stopped {
		l.foresights = append(l.foresights, told)
	}
	l.t.mu.Unlock()
	if told != nil && stopped {
		told.keepError(usercode.Call(told.end))
	}
}

// A growth is a loop's wait for more samples of a dataset whose length is unknown. A loop begins one when all batches
// of its plan that are known have been begun. The Team's mutex guards it.
type growth struct {
	plan   *plan.Plan      // the plan that waits for its next batch, or nil
	idle   chan struct{}   // closed when the loop has nothing else to wait for
	closed bool            // whether idle is
	done   <-chan struct{} // closed when the wait is over
}

// demand begins a growth, unless there is one. The Team's mutex is held.
func (l *Loop) demand() {
	if l.growth.plan != nil || l.stopped.Load() {
		return
	}
	p, idle := l.cursor.At().Plan, make(chan struct{})
	n, have, ended := p.Needs(), 0, false
	l.growth = growth{plan: p, idle: idle}
	l.growth.done = l.t.background(fmt.Sprintf("waiting for %d samples of a dataset of unknown length", n), func() (err error) {
		have, ended, err = dataset.Await(l.ctx, l.t.cfg.Dataset, n, idle)
		return err
	}, func(err error) { l.takeSamples(p, n, have, ended, err) })
}

// starve tells the dataset that the loop waits for its samples and has no batch left. The Team's mutex is held.
func (l *Loop) starve() {
	if g := &l.growth; g.plan != nil && !g.closed {
		close(g.idle)
		g.closed = true
	}
}

// takeSamples ends a growth: it adds the batches of all samples that there are to the plan.
func (l *Loop) takeSamples(p *plan.Plan, n, have int, ended bool, err error) {
	l.t.mu.Lock()
	defer l.t.mu.Unlock()
	l.growth = growth{}
	switch {
	case err != nil:
	case ended:
		err = p.EndAt(have)
	case have < n:
		err = fmt.Errorf("the dataset's Await(%d) returned %d samples, and not that it has ended", n, have)
	default:
		p.Grow(have)
	}
	if err != nil {
		l.cursor.Halt(fmt.Errorf("loader: epoch %d: %w", p.Epoch, err))
	}
	l.wakeAnother()
	l.notify()
}

// awaitGrowth waits until the dataset has noticed that the loop has stopped, at most for the Timeout if there is one.
func (l *Loop) awaitGrowth() {
	l.t.mu.Lock()
	done := l.growth.done
	l.t.mu.Unlock()
	if done != nil {
		l.t.waitFor(done)
	}
}

// A foresight is the future of an epoch that the dataset was told. It is the [dataset.Future] of a plan.
type foresight struct {
	l    *Loop
	plan *plan.Plan
	base int // the plan's first batch's number in the loop
	stop func()
}

// foresee tells the dataset the batches of a plan. It returns nil if the dataset does not use that. A panic of the
// dataset becomes an error.
func (l *Loop) foresee(p *plan.Plan) (*foresight, error) {
	if p.Samples == dataset.Unknown {
		return nil, nil // the future is not known
	}
	f := &foresight{l: l, plan: p, base: l.nextBase()}
	err := usercode.Call(func() error {
		f.stop = dataset.Foresee(l.t.cfg.Dataset, f)
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("loader: epoch %d: foresee: %w", p.Epoch, err)
	}
	if f.stop == nil {
		return nil, nil
	}
	return f, nil
}

// nextBase is the number after the last batch of the plan that is under way.
func (l *Loop) nextBase() int {
	l.t.mu.Lock()
	defer l.t.mu.Unlock()
	return l.cursor.Ahead()
}

// end tells the dataset that the epoch is over.
func (f *foresight) end() error {
	f.stop()
	return nil
}

// keepError keeps a panic of the dataset for Close to return.
func (f *foresight) keepError(err error) {
	if err != nil {
		f.l.t.keepError(fmt.Errorf("loader: epoch %d: stop of Foresee: %w", f.plan.Epoch, err))
	}
}

// Len is the number of batches of the plan.
func (f *foresight) Len() int { return f.plan.Len() }

// At appends the samples of a batch. Batches that an earlier loop has delivered have none, and neither have those for
// which the sampler panics: the worker that begins such a batch reports that.
func (f *foresight) At(batch int, dst []int) (indices []int) {
	if batch < 0 || batch >= f.plan.Len() {
		return dst
	}
	if f.l.from.Delivered(f.base + batch) {
		return dst
	}
	defer func() {
		if recover() != nil {
			indices = dst
		}
	}()
	return f.plan.AppendSamples(batch, dst)
}

// Begun is the number of batches of the plan that have been begun.
func (f *foresight) Begun() int {
	f.l.t.mu.Lock()
	defer f.l.t.mu.Unlock()
	return f.l.cursor.Begun(f.plan)
}

// Done is the number of the first batch that is not complete.
func (f *foresight) Done() int {
	f.l.t.mu.Lock()
	defer f.l.t.mu.Unlock()
	return f.done()
}

// done is Done. The Team's mutex is held.
func (f *foresight) done() int {
	for _, j := range f.l.inFlight {
		if j.Plan == f.plan && !j.complete {
			return j.K
		}
	}
	return f.l.cursor.Begun(f.plan)
}

// endForesights ends the foresights of epochs whose batches are all complete, or all of them if the loop has stopped.
// It waits for the dataset, at most for the Timeout if there is one.
func (l *Loop) endForesights() {
	var ends []<-chan struct{}
	l.t.mu.Lock()
	l.foresights = slices.DeleteFunc(l.foresights, func(f *foresight) bool {
		over := l.stopped.Load() || f.done() == f.plan.Len()
		if over {
			ends = append(ends, l.t.background(fmt.Sprintf("ending the foresight of epoch %d", f.plan.Epoch), f.end, f.keepError))
		}
		return over
	})
	l.t.mu.Unlock()
	for _, ended := range ends {
		l.t.waitFor(ended)
	}
}
