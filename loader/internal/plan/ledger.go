package plan

import (
	"maps"
	"slices"
)

// A Ledger knows which batches of a loop have been delivered. For ordered delivery a number is enough. For unordered
// delivery there is a set too. A [Mark] does not copy this set, because most positions are never used. It keeps a
// prefix of a log instead.
type Ledger struct {
	seed  uint64
	plan  *Plan        // the plan of head, or the one that ends right before it
	later []*Plan      // plans after it that have delivered batches, in order
	head  int          // the first batch that is not delivered
	ahead map[int]bool // delivered batches after head
	log   []int        // the same in order of delivery; some may lie before head
}

// NewLedger begins with the batches that an earlier loop has delivered.
func NewLedger(from Position) *Ledger {
	l := &Ledger{seed: from.Seed, ahead: map[int]bool{}, log: slices.Clone(from.Ahead)}
	for _, n := range from.Ahead {
		l.ahead[n] = true
	}
	return l
}

// A Mark is the state of a Ledger after a batch.
type Mark struct {
	seed uint64
	plan *Plan
	head int
	log  []int
}

// Deliver notes that a batch is delivered, in a loop whose first plan with batches is first.
func (l *Ledger) Deliver(b Ref, first *Plan) Mark {
	if len(l.ahead) == 0 && b.N == l.head {
		l.plan, l.later = b.Plan, nil
		l.head++
	} else {
		l.note(b, first)
	}
	return Mark{l.seed, l.plan, l.head, l.log}
}

// note is Deliver for a batch that is not the next one in order, or while others are ahead.
func (l *Ledger) note(b Ref, first *Plan) {
	if l.plan == nil {
		l.plan = first
	}
	if b.Plan.base > l.plan.base && !slices.Contains(l.later, b.Plan) {
		l.later = append(l.later, b.Plan)
		slices.SortFunc(l.later, func(a, b *Plan) int { return a.base - b.base })
	}
	l.ahead[b.N] = true
	l.log = append(l.log, b.N)
	l.advance()
	switch n := len(l.ahead); {
	case n == 0:
		l.log = nil
	case len(l.log) > 2*n+16: // most of it lies before head
		l.log = slices.Collect(maps.Keys(l.ahead))
	}
}

// advance moves head over the delivered batches, as far as plans are known.
func (l *Ledger) advance() {
	for {
		end := l.plan.base + l.plan.Len()
		for ; l.head < end && l.ahead[l.head]; l.head++ {
			delete(l.ahead, l.head)
		}
		if l.head < end || len(l.later) == 0 {
			return
		}
		next := l.later[0]
		for n := end; n < next.base; n++ { // of epochs between the two plans, which may have been delivered by an earlier loop
			if !l.ahead[n] {
				return
			}
		}
		for ; l.head < next.base; l.head++ {
			delete(l.ahead, l.head)
		}
		l.plan, l.later = next, l.later[1:]
	}
}

// Position is the place after the batches that were delivered up to the mark.
func (m Mark) Position() Position {
	p := Position{
		Version: version,
		Epoch:   m.plan.Epoch,
		Draw:    m.plan.drawn(m.head - m.plan.base),
		Seed:    m.seed,
		Samples: m.plan.Samples,
		Order:   m.plan.Order(),
	}
	for _, n := range m.log {
		if n >= m.head {
			p.Ahead = append(p.Ahead, n-m.head)
			p.Step = m.plan.Step()
		}
	}
	slices.Sort(p.Ahead)
	return p
}
