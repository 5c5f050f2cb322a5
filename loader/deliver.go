package loader

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"runtime/trace"
	"slices"
	"time"
)

// loop delivers batches to the loop body until there are no more, the body
// ends the loop or an error does.
func (r *run) loop(yield func(*Batch, error) bool) {
	since := r.begun // the first wait includes the start
	for {
		j, err := r.take()
		if j == nil {
			if err != nil {
				yield(nil, err)
			}
			return
		}
		waited := time.Since(since)
		emptied, err := r.outcome(j)
		if emptied {
			r.release(j)
			continue // the loop goes on waiting
		}
		r.l.counts.waited(waited, since == r.begun)
		if !r.deliver(j, err, waited, yield) {
			return
		}
		since = time.Now()
	}
}

// outcome settles the failures of a batch: an error that takes its place, or that
// it has lost all its samples to [Skip] and is left out.
func (r *run) outcome(j *job) (emptied bool, err error) {
	r.failed += len(j.failed)
	r.l.counts.failed(j.failed)
	switch limit := r.l.cfg.limit; {
	case r.l.cfg.policy != Stop && limit >= 0 && r.failed > limit:
		return false, &LimitError{Failed: r.failed, Limit: limit, Err: j.failed[len(j.failed)-1].err}
	case j.rows == 0 && j.err == nil:
		r.l.counts.emptied()
		r.position(j) // counts it as delivered
		return true, nil
	}
	return false, j.err
}

// deliver gives the loop body a batch, or the error in its place, and reports
// whether to go on.
func (r *run) deliver(j *job, err error, waited time.Duration, yield func(*Batch, error) bool) bool {
	b := &Batch{run: r, job: j, plan: j.plan, k: j.k, rows: j.rows}
	b.holders.Store(1)
	defer b.release()
	b.position, b.in = r.position(j)
	r.l.cfg.trace.batchDelivered(j, waited)
	if err != nil {
		yield(nil, err)
		return false
	}
	r.l.counts.delivered(j.rows)
	return yield(b, nil)
}

// take waits for the batch that is to be delivered next and takes it out of
// flight. It returns nil after the last one.
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
		case <-r.ctx.Done():
		case <-timeout:
			return nil, r.timedOut()
		}
	}
}

// look takes the batch to be delivered, or tells the workers that the loop
// waits for it, or reports that it ends.
func (r *run) look() (j *job, over bool, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	// Under mu, so that no batch is complete only because its samples saw the context done.
	if err := context.Cause(r.ctx); err != nil {
		return nil, true, r.ended(err)
	}
	j, over = r.complete()
	switch {
	case j != nil:
	case over && r.fatal != nil:
		return nil, true, r.fatal
	case over:
		if err := context.Cause(r.ctx); err != nil { // perhaps that is why nothing is left
			return nil, true, r.ended(err)
		}
	default:
		r.waiting = true
		r.want()
		r.wakeAnother()
	}
	return j, over, nil
}

// ended is the error of a loop whose context is done.
func (r *run) ended(cause error) error {
	if cause == ErrClosed {
		return cause
	}
	return fmt.Errorf("loader: epoch loop: %w", cause)
}

// complete takes the batch to be delivered out of flight, if it is complete. It
// also reports whether there is none and will be none. The caller holds mu.
func (r *run) complete() (j *job, over bool) {
	for i, j := range r.inFlight {
		if j.complete {
			r.inFlight = slices.Delete(r.inFlight, i, i+1)
			return j, false
		}
		if !r.l.cfg.unordered {
			return nil, false
		}
	}
	return nil, len(r.inFlight) == 0 && (r.fatal != nil || !r.advance())
}

// want shows the workers which batch the loop waits for. The caller holds mu.
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
	r.mu.Lock()
	defer r.mu.Unlock()
	r.waiting = false
}

// workInline assembles the next batch in the loop's own goroutine. It reports
// false when there is no slab for it.
func (r *run) workInline() bool {
	r.inline.Lock() // Close waits for it
	defer r.inline.Unlock()
	w := r.l.workers[0]
	w.run = r
	j, ok := r.openInline(w)
	if ok {
		w.build(j)
	}
	return j != nil
}

func (r *run) openInline(w *worker) (j *job, ok bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	j = r.open(w)
	return j, j != nil && r.prepare(j)
}

// position is the place after the delivered batch j, but for its order, which is
// that of the plan.
func (r *run) position(j *job) (Position, *plan) {
	p := r.l.start(j.plan.epoch)
	p.Draw, p.Samples = j.plan.drawn(j.k+1), j.plan.samples
	if !r.l.cfg.unordered && len(r.delivered) == 0 { // which belongs to the loop then
		return p, j.plan
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.delivered[j.seq] = true
	next := &job{seq: r.cursor.seq, plan: r.cursor.plan, k: r.cursor.k}
	if len(r.inFlight) > 0 {
		next = r.inFlight[0]
	}
	p.Epoch, p.Draw = next.plan.epoch, next.plan.drawn(next.k)
	maps.DeleteFunc(r.delivered, func(seq int, _ bool) bool { return seq < next.seq })
	for _, seq := range slices.Sorted(maps.Keys(r.delivered)) {
		p.Ahead = append(p.Ahead, seq-next.seq)
		p.Step = next.plan.step()
	}
	return p, next.plan
}

// timedOut says what the workers are doing.
func (r *run) timedOut() error {
	r.mu.Lock()
	e := &TimeoutError{After: r.l.cfg.timeout, Kept: len(r.l.jobs) - len(r.inFlight) - len(r.free)}
	if len(r.inFlight) > 0 {
		j := r.inFlight[0]
		e.Epoch, e.Batch = j.plan.epoch, j.plan.number(j.k)
	} else if r.cursor.plan != nil {
		e.Epoch, e.Batch = r.cursor.plan.epoch, r.cursor.plan.number(r.cursor.k)
	}
	r.mu.Unlock()
	for _, w := range r.l.workers {
		if s, ok := w.stuck(); ok {
			e.Stuck = append(e.Stuck, s)
		}
	}
	slices.SortFunc(e.Stuck, func(a, b Stuck) int { return cmp.Compare(b.For, a.For) })
	if len(e.Stuck) > 0 {
		e.Stuck[0].Stack = r.l.workers[e.Stuck[0].Worker].stack()
	}
	return e
}
