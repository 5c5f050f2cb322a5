package loader

import (
	"errors"
	"fmt"
	"math"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/sampler"
)

// A growth is the loader's wait for more samples of a dataset whose length is unknown.
// A run begins one when all batches of its plan that are known have been begun. The
// loader's mutex guards it.
type growth struct {
	plan   *plan           // the plan that waits for its next batch, or nil
	idle   chan struct{}   // closed when the loop has nothing else to wait for
	closed bool            // whether idle is
	done   <-chan struct{} // closed when the wait is over; nil if the loop itself waits
	err    error           // of the dataset
}

// demand begins a growth, unless there is one. Without workers the loop does the waiting
// later. The caller holds the mutex.
func (r *run) demand() {
	g := &r.growth
	switch {
	case g.err != nil:
		r.fail(g.err)
		return
	case g.plan != nil || r.stopped.Load():
		return
	}
	*g = growth{plan: r.cursor.plan, idle: make(chan struct{})}
	if r.l.cfg.workers == 0 {
		r.starve()
		return
	}
	n, plan, idle := g.plan.needs(), g.plan, g.idle
	wait, done := r.grow(plan, n, idle)
	g.done = r.l.background(fmt.Sprintf("waiting for %d samples of a dataset of unknown length", n), wait, done)
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
	plan, idle := r.growth.plan, r.growth.idle
	r.l.mu.Unlock()
	if wanted {
		wait, done := r.grow(plan, plan.needs(), idle)
		done(protected(wait))
	}
	return wanted
}

// needs is how many samples there must be for one more batch.
func (p *plan) needs() int {
	if draws := p.drawn(p.count()); draws <= math.MaxInt-p.step() {
		return draws + p.step()
	}
	return math.MaxInt
}

// grow is the wait for n samples, and what adds the batches of all that there are to the plan.
func (r *run) grow(p *plan, n int, idle <-chan struct{}) (wait func() error, done func(error)) {
	have, ended := 0, false
	wait = func() (err error) {
		have, ended, err = dataset.Await(r.ctx, r.l.ds, n, idle)
		return err
	}
	return wait, func(err error) { r.grown(p, n, have, ended, err) }
}

// grown ends a growth.
func (r *run) grown(p *plan, n, have int, ended bool, err error) {
	r.l.mu.Lock()
	defer r.l.mu.Unlock()
	r.growth = growth{}
	switch {
	case err != nil:
	case ended:
		err = r.l.endsAt(p, have)
	case have < n:
		err = fmt.Errorf("the dataset's Await(%d) returned %d samples, and not that it has ended", n, have)
	default:
		e := *p.extent.Load()
		e.count = (have - p.drawn(0)) / p.step()
		p.extent.Store(&e)
	}
	if err != nil {
		r.growth.err = fmt.Errorf("loader: epoch %d: %w", p.epoch, err)
	}
	r.wakeAnother()
	r.notify()
}

// endsAt gives the plan its last batches, when it is known that there are n samples.
func (l *Loader) endsAt(p *plan, n int) error {
	if begin := p.drawn(0); n < begin {
		return fmt.Errorf("the position lies at draw %d, and the dataset has ended after %d samples", begin, n)
	}
	known := p.count()
	e := l.newExtent(p.extent.Load().order.(sampler.EndlessOrder).Until(n), p.first)
	if e.count < known {
		return fmt.Errorf("the dataset has ended after %d samples, although more were there before", n)
	}
	p.extent.Store(e)
	return nil
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

// endless reports an error if the order of a dataset of unknown length has an end.
func (p *plan) endless() error {
	e := p.extent.Load()
	if _, ok := e.order.(sampler.EndlessOrder); !ok && e.growing {
		return fmt.Errorf("loader: epoch %d: the length of the dataset is unknown: want sampler.Endless as Sampler, or a Shard of it", p.epoch)
	}
	return nil
}

// errLength is the error of what the loader cannot know before the epoch ends.
var errLength = errors.New("the length of the dataset is unknown")
