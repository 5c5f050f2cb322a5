package loader

import (
	"maps"
	"slices"
)

// A ledger knows which batches have been delivered. It belongs to the loop. For
// ordered delivery a number is enough. For unordered delivery there is a set too. A
// batch does not copy this set, because most positions are never used. It keeps a
// prefix of a log instead.
type ledger struct {
	plan  *plan        // the plan of head, or the one that ends right before it
	later []*plan      // plans after it that have delivered batches, in order
	head  int          // seq of the first batch that is not delivered
	ahead map[int]bool // seqs of delivered batches after head
	log   []int        // the same in order of delivery; some may lie before head
}

// newLedger begins with the batches that an earlier run has delivered.
func newLedger(from Position) ledger {
	l := ledger{ahead: map[int]bool{}, log: slices.Clone(from.Ahead)}
	for _, seq := range from.Ahead {
		l.ahead[seq] = true
	}
	return l
}

// A mark is the state of the ledger after a batch.
type mark struct {
	plan *plan
	head int
	log  []int
}

// deliver notes that batch j is delivered, in a run whose first plan is first.
func (l *ledger) deliver(j *job, first *plan) mark {
	switch {
	case len(l.ahead) == 0 && j.seq == l.head:
		l.plan, l.later = j.plan, nil
		l.head++
	default:
		l.note(j, first)
	}
	return mark{l.plan, l.head, l.log}
}

// note is deliver for a batch that is not the next one in order, or while others are
// ahead.
func (l *ledger) note(j *job, first *plan) {
	if l.plan == nil {
		l.plan = first
	}
	if j.plan.base > l.plan.base && !slices.Contains(l.later, j.plan) {
		l.later = append(l.later, j.plan)
		slices.SortFunc(l.later, func(a, b *plan) int { return a.base - b.base })
	}
	l.ahead[j.seq] = true
	l.log = append(l.log, j.seq)
	l.advance()
	switch n := len(l.ahead); {
	case n == 0:
		l.log = nil
	case len(l.log) > 2*n+16: // most of it lies before head
		l.log = slices.Collect(maps.Keys(l.ahead))
	}
}

// advance moves head over the delivered batches, as far as plans are known.
func (l *ledger) advance() {
	for {
		end := l.plan.base + l.plan.count()
		for ; l.head < end && l.ahead[l.head]; l.head++ {
			delete(l.ahead, l.head)
		}
		if l.head < end || len(l.later) == 0 {
			return
		}
		next := l.later[0]
		for seq := end; seq < next.base; seq++ { // of epochs between the two plans, which may have been delivered by an earlier run
			if !l.ahead[seq] {
				return
			}
		}
		for ; l.head < next.base; l.head++ {
			delete(l.ahead, l.head)
		}
		l.plan, l.later = next, l.later[1:]
	}
}

// position is the place after the batches that were delivered up to the mark.
func (m mark) position(seed uint64) Position {
	p := Position{
		Version: version,
		Epoch:   m.plan.epoch,
		Draw:    m.plan.drawn(m.head - m.plan.base),
		Seed:    seed,
		Samples: m.plan.samples,
		Order:   m.plan.orders(),
	}
	for _, seq := range m.log {
		if seq >= m.head {
			p.Ahead = append(p.Ahead, seq-m.head)
			p.Step = m.plan.step()
		}
	}
	slices.Sort(p.Ahead)
	return p
}
