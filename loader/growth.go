package loader

import (
	"errors"
	"fmt"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/internal/usercode"
	"github.com/penstock-go/penstock/loader/internal/plan"
)

// A growth is the loader's wait for more samples of a dataset whose length is unknown.
// A run begins one when all batches of its plan that are known have been begun. The
// loader's mutex guards it.
type growth struct {
	plan   *plan.Plan      // the plan that waits for its next batch, or nil
	idle   chan struct{}   // closed when the loop has nothing else to wait for
	closed bool            // whether idle is
	done   <-chan struct{} // closed when the wait is over; nil if the loop itself waits
}

// demand begins a growth, unless there is one. Without workers the loop does the waiting
// later. The caller holds the mutex.
func (r *run) demand() {
	if r.growth.plan != nil || r.stopped.Load() {
		return
	}
	p, idle := r.cursor.At().Plan, make(chan struct{})
	r.growth = growth{plan: p, idle: idle}
	if r.l.cfg.workers == 0 {
		r.starve()
		return
	}
	n := p.Needs()
	wait, done := r.grow(p, n, idle)
	r.growth.done = r.l.background(fmt.Sprintf("waiting for %d samples of a dataset of unknown length", n), wait, done)
}

// starve tells the dataset that the loop waits for its samples and has no batch left. The
// caller holds the mutex.
func (r *run) starve() {
	if g := &r.growth; g.plan != nil && !g.closed {
		close(g.idle)
		g.closed = true
	}
}

// growInline waits for samples in the loop's own goroutine. It reports false if none are
// needed.
func (r *run) growInline() bool {
	r.l.mu.Lock()
	wanted := !r.advance() && r.growth.plan != nil
	p, idle := r.growth.plan, r.growth.idle
	r.l.mu.Unlock()
	if wanted {
		wait, done := r.grow(p, p.Needs(), idle)
		done(usercode.Call(wait))
	}
	return wanted
}

// grow is the wait for n samples, and what adds the batches of all that there are to the plan.
func (r *run) grow(p *plan.Plan, n int, idle <-chan struct{}) (wait func() error, done func(error)) {
	have, ended := 0, false
	wait = func() (err error) {
		have, ended, err = dataset.Await(r.ctx, r.l.ds, n, idle)
		return err
	}
	return wait, func(err error) { r.grown(p, n, have, ended, err) }
}

// grown ends a growth.
func (r *run) grown(p *plan.Plan, n, have int, ended bool, err error) {
	r.l.mu.Lock()
	defer r.l.mu.Unlock()
	r.growth = growth{}
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
		r.cursor.Halt(fmt.Errorf("loader: epoch %d: %w", p.Epoch, err))
	}
	r.wakeAnother()
	r.notify()
}

// awaitGrowth waits until the dataset has noticed that the run has stopped, at most for
// the Timeout if there is one.
func (r *run) awaitGrowth() {
	r.l.mu.Lock()
	done := r.growth.done
	r.l.mu.Unlock()
	if done != nil {
		r.l.waitFor(done)
	}
}

// streams reports what the options have that needs a known length.
func (c *config) streams(ds dataset.Dataset) error {
	var errs []error
	wrong := func(is bool, text string) {
		if is {
			errs = append(errs, fmt.Errorf("loader: %s, and the length of the dataset is unknown", text))
		}
	}
	_, ok := ds.(dataset.Awaiter)
	wrong(!ok, fmt.Sprintf("New: %T is not a dataset.Awaiter", ds))
	wrong(c.shuffle, "Shuffle(true): needs to know all samples")
	wrong(c.set.batchSampler, "BatchSampler: needs to know all samples")
	wrong(c.policy == Replace, "OnError(Replace): takes samples of the whole epoch")
	return errors.Join(errs...)
}
