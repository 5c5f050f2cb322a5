package loader

// A cursor is at the next batch to begin. The loader's mutex guards it. The mutex is
// not held while a sampler plans an epoch.
type cursor struct {
	seq   int   // the batch's number in the run; batches that are skipped count too
	plan  *plan // the plan of the batch's epoch; nil until the first epoch is planned
	k     int   // the batch's number in the plan
	until int   // the epoch before which the run ends
	skip  []int // seqs of batches that an earlier run has delivered, ascending

	planning bool     // whether an epoch is being planned: the first one, or the one after plan's
	due      Position // where that epoch begins
	next     *plan    // the plan of that epoch, when it is made
	err      error    // why it could not be made
}

// more reports whether there is a batch to begin. Skipped batches may count.
func (c *cursor) more() bool {
	switch {
	case c.plan != nil && c.k < c.plan.count():
		return true
	case c.plan != nil && c.plan.growing():
		return false
	}
	return c.next != nil
}

// advance moves the cursor to a batch that is to be delivered, if need be into the
// next epoch. It reports whether there is one now. The caller holds the mutex.
func (r *run) advance() bool {
	c := &r.cursor
	for {
		switch {
		case c.plan != nil && c.k == c.plan.count() && c.plan.growing():
			r.demand()
			return false
		case c.plan == nil || c.k == c.plan.count():
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
			c.plan.reached = true
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
	return r.fatal != nil || !r.advance() && !r.cursor.planning && r.growth.plan == nil
}
