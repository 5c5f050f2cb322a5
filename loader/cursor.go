package loader

import "fmt"

// A cursor is the next batch to begin.
type cursor struct {
	seq   int
	plan  *plan
	k     int // in the plan
	until int // epoch
}

// more reports whether batches may be left to begin.
func (c *cursor) more() bool {
	return c.plan != nil && (c.k < c.plan.count || c.plan.epoch+1 < c.until)
}

// advance moves the cursor to a batch that is to be delivered, into another
// epoch if need be, and reports whether there is one.
func (r *run) advance() bool {
	c := &r.cursor
	for c.plan != nil && r.ctx.Err() == nil {
		switch {
		case c.k < c.plan.count && r.delivered[c.seq]:
			c.seq++
			c.k++
		case c.k < c.plan.count:
			return true
		case c.plan.epoch+1 >= c.until:
			return false
		default:
			if !r.enter(c.plan.epoch + 1) {
				return false
			}
		}
	}
	return false
}

// enter moves the cursor to the beginning of another epoch. If it cannot be
// planned, the run ends there.
func (r *run) enter(epoch int) bool {
	err := fmt.Errorf("loader: epoch %d: %w", epoch, ErrGoexit) // unless safePlan returns
	defer func() {
		if err != nil {
			r.fail(err)
		}
	}()
	var p *plan
	if a := r.ahead; a != nil {
		<-a.done
		p, err = a.plan, a.err
	} else {
		p, err = r.l.safePlan(epoch, 0)
	}
	if err == nil {
		r.cursor.plan, r.cursor.k = p, 0
		r.planAhead()
	}
	return err == nil
}

// An ahead is the plan of the next epoch, made while this one is loaded, because
// some samplers take their time.
type ahead struct {
	done chan struct{} // closed when the rest is set
	plan *plan
	err  error
}

// planAhead starts planning the epoch behind the cursor's. The caller holds mu.
func (r *run) planAhead() {
	r.ahead = nil
	epoch := r.cursor.plan.epoch + 1
	if r.l.cfg.workers == 0 || epoch >= r.cursor.until || r.stopped.Load() {
		return
	}
	a := &ahead{done: make(chan struct{}), err: fmt.Errorf("loader: epoch %d: %w", epoch, ErrGoexit)}
	r.ahead = a
	r.group.Go(func() {
		defer close(a.done)
		a.plan, a.err = r.l.safePlan(epoch, 0)
	})
}

// safePlan is newPlan with the sampler's panics as errors.
func (l *Loader) safePlan(epoch, drawn int) (p *plan, err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("loader: epoch %d: %w", epoch, err)
		}
	}()
	defer recovered(&err)
	return l.newPlan(epoch, drawn), nil
}

// planFrom plans what remains of a position's epoch.
func (l *Loader) planFrom(from Position) (p *plan, err error) {
	if p, err = l.safePlan(from.Epoch, from.Draw); err != nil {
		return nil, err
	}
	defer recovered(&err)
	return p, p.resumes(from)
}
