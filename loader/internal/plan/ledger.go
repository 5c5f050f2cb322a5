package plan

import "slices"

// A Ledger knows which batches of a loop have been delivered before earlier ones: by an earlier loop, or by unordered
// delivery.
type Ledger struct {
	seed  uint64
	ahead []int // numbers of such batches, and perhaps of others, in order of delivery; Marks have beginnings of it
}

// NewLedger begins with the batches that an earlier loop has delivered.
func NewLedger(from Position) *Ledger { return &Ledger{from.Seed, slices.Clone(from.Ahead)} }

// A Mark is the state of a Ledger after a batch. It copies nothing, because most positions are never used.
type Mark struct {
	seed  uint64
	next  Ref // the first batch that is not delivered; K may be the Len of its Plan
	ahead []int
}

// Deliver notes that a batch is delivered. next is the first one of the loop that is not.
func (l *Ledger) Deliver(b, next Ref) Mark {
	switch {
	case b.N > next.N:
		l.ahead = append(l.ahead, b.N)
	case len(l.ahead) > 0:
		l.ahead = slices.DeleteFunc(slices.Clone(l.ahead), func(n int) bool { return n < next.N })
	}
	if next.N == b.N+1 {
		next = Ref{b.Plan, b.K + 1, next.N} // in the batch's epoch, even after its last batch
	}
	return Mark{l.seed, next, l.ahead}
}

// Position is the place after the batches that were delivered up to the mark.
func (m Mark) Position() Position {
	p := m.next.Plan
	at := Position{Version: version, Epoch: p.Epoch, Draw: p.drawn(m.next.K), Seed: m.seed, Samples: p.Samples, Order: p.Order()}
	for _, n := range m.ahead {
		if n >= m.next.N {
			at.Ahead = append(at.Ahead, n-m.next.N)
			at.Step = p.Step()
		}
	}
	slices.Sort(at.Ahead)
	return at
}
