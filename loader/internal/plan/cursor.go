package plan

import (
	"context"
	"slices"
)

// A Ref names a batch: the K-th of a plan, and the N-th of its loop, where batches that an earlier loop has delivered
// count too.
type Ref struct {
	Plan *Plan
	K    int
	N    int
}

// A Cursor goes over the batches of several epochs, without those that an earlier loop has delivered. It does not wait:
// it says what it needs first, a plan ([Cursor.Due]) or samples ([Cursor.Lacks]), and is told when that is there.
type Cursor struct {
	planner *Planner
	samples int
	until   int   // the epoch before which the loop ends
	skip    []int // batches that an earlier loop has delivered, ascending

	at Ref // the next batch; Plan is nil until the first epoch is planned

	state  progress
	due    Position // where the epoch to plan begins
	next   *Plan    // the plan that was made last, until its first batch
	err    error    // why there is no next batch
	halted bool     // whether no samples are awaited any more
}

// A progress is how far the plan has come of the epoch after the cursor's.
type progress int

const (
	none    progress = iota // there is none, or its plan is made
	wanted                  // it is to be planned
	pending                 // it is being planned
)

// NewCursor begins at a position.
func (p *Planner) NewCursor(from Position, until int) *Cursor {
	c := &Cursor{planner: p, samples: from.Samples, until: until, skip: from.Ahead, due: from}
	if from.Epoch < until {
		c.state = wanted
	}
	return c
}

// At is the next batch. Its Plan is nil before the first one.
func (c *Cursor) At() Ref { return c.at }

// Ready moves to the next batch that is to be delivered, if need be into the next epoch. It reports whether it is
// known.
func (c *Cursor) Ready() bool {
	for {
		p := c.at.Plan
		switch {
		case p != nil && c.at.K < p.Len():
			if len(c.skip) == 0 || c.skip[0] != c.at.N {
				return true
			}
			c.skip = c.skip[1:]
			c.at.K++
			c.at.N++
		case p != nil && p.Growing(), c.next == nil:
			return false
		default:
			c.enter()
		}
	}
}

// enter moves to the first batch of the next plan.
func (c *Cursor) enter() {
	p := c.next
	p.base, p.entered = c.at.N, true
	c.at.Plan, c.at.K, c.next = p, 0, nil
	if p.Epoch+1 < c.until {
		c.state, c.due = wanted, c.planner.start(p.Epoch+1, c.samples)
	}
}

// Take takes the next batch. Ready must be true.
func (c *Cursor) Take() Ref {
	at := c.at
	c.at.K++
	c.at.N++
	return at
}

// More reports whether there may be a batch to take without waiting for a plan or samples. Batches that an earlier loop
// has delivered may count.
func (c *Cursor) More() bool {
	p := c.at.Plan
	switch {
	case p != nil && c.at.K < p.Len():
		return true
	case p != nil && p.Growing():
		return false
	}
	return c.next != nil
}

// Due says from where on the next epoch is to be planned, by [Planner.Next], if it is and nobody does it. The caller
// tells the result by [Cursor.SetPlan].
func (c *Cursor) Due() (from Position, ok bool) {
	if c.state != wanted {
		return from, false
	}
	c.state = pending
	return c.due, true
}

// SetPlan gives the cursor the plan that was due, or why there is none.
func (c *Cursor) SetPlan(p *Plan, err error) {
	c.state, c.err = none, err
	if err == nil {
		c.next = p
	}
}

// Upcoming is the epoch that is being planned, or is to be, if one is.
func (c *Cursor) Upcoming() (epoch int, is bool) { return c.due.Epoch, c.state != none }

// Lacks is how many samples the dataset must have before there is a next batch; 0 if that is not what is missing.
func (c *Cursor) Lacks() int {
	if p := c.at.Plan; p != nil && !c.halted && c.at.K == p.Len() && p.Growing() {
		return p.Needs()
	}
	return 0
}

// Halt says why there will be no more samples.
func (c *Cursor) Halt(err error) { c.halted, c.err = true, err }

// Err is why the cursor cannot go on, if it cannot.
func (c *Cursor) Err() error {
	if c.Ready() || c.state != none || c.Lacks() > 0 {
		return nil
	}
	return c.err
}

// Over reports whether no batch is left.
func (c *Cursor) Over() bool { return !c.Ready() && c.state == none && c.Lacks() == 0 }

// Begun is how many batches of a plan were taken.
func (c *Cursor) Begun(p *Plan) int {
	switch {
	case !p.entered:
		return 0
	case p == c.at.Plan:
		return c.at.K
	}
	return p.Len()
}

// Ahead is the number of the batch after the last one that is planned.
func (c *Cursor) Ahead() int {
	if p := c.at.Plan; p != nil {
		return p.base + p.Len()
	}
	return 0
}

// Delivered reports whether an earlier loop has delivered batch n of the loop.
func (p Position) Delivered(n int) bool {
	_, delivered := slices.BinarySearch(p.Ahead, n)
	return delivered
}

// Next plans the first epoch with batches, from a position on and before epoch until. If there is none, the plan is
// that of the last epoch. It calls the sampler, so it may take long.
func (p *Planner) Next(ctx context.Context, from Position, until int) (*Plan, error) {
	for ; ; from = p.start(from.Epoch+1, from.Samples) {
		plan, err := p.Plan(ctx, from)
		if err != nil || !plan.Empty() || from.Epoch+1 >= until || ctx.Err() != nil {
			return plan, err
		}
	}
}
