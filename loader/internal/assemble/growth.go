package assemble

import (
	"fmt"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/loader/internal/plan"
)

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
	}, func(err error) { l.grown(p, n, have, ended, err) })
}

// starve tells the dataset that the loop waits for its samples and has no batch left. The Team's mutex is held.
func (l *Loop) starve() {
	if g := &l.growth; g.plan != nil && !g.closed {
		close(g.idle)
		g.closed = true
	}
}

// grown ends a growth: it adds the batches of all samples that there are to the plan.
func (l *Loop) grown(p *plan.Plan, n, have int, ended bool, err error) {
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
