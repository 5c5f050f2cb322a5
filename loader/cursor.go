package loader

// A cursor is the next batch to begin. The loader's mutex guards it, and is never
// held while a sampler plans an epoch.
type cursor struct {
	seq   int   // of the batch in the run, also those that are skipped
	plan  *plan // nil until the first epoch is planned
	k     int   // in the plan
	until int   // epoch
	skip  []int // batches that an earlier run has delivered, by their seq

	planning bool     // the epoch after plan's, or the first one
	due      Position // from which it is
	next     *plan    // of that epoch, once it is planned
	err      error    // why there is none
}

// more reports whether there is a batch that can be begun.
func (c *cursor) more() bool {
	return c.plan != nil && c.k < c.plan.count || c.next != nil
}

// advance moves the cursor to a batch that is to be delivered, into another epoch
// if need be, and reports whether there is one now. The caller holds the mutex.
func (r *run) advance() bool {
	c := &r.cursor
	for {
		switch {
		case c.plan == nil || c.k == c.plan.count:
			if c.next == nil {
				if c.err != nil {
					r.fail(c.err)
				}
				return false
			}
			c.next.base = c.seq
			if c.plan == nil {
				r.first = c.next
			}
			c.plan, c.next, c.k = c.next, nil, 0
			r.planNext()
		case len(c.skip) > 0 && c.skip[0] == c.seq:
			c.skip = c.skip[1:]
			c.seq++
			c.k++
		default:
			return true
		}
	}
}

// over reports whether no batch is left to begin. The caller holds the mutex.
func (r *run) over() bool {
	return r.fatal != nil || !r.advance() && !r.cursor.planning
}
