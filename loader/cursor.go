package loader

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
			p, err := r.l.safePlan(c.plan.epoch + 1)
			if err != nil {
				r.fail(err)
				return false
			}
			c.plan, c.k = p, 0
		}
	}
	return false
}

func (l *Loader) safePlan(epoch int) (p *plan, err error) {
	defer recovered(&err)
	return l.newPlan(epoch, 0), nil
}
