package plan

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/sampler"
)

// A Position is a place between two batches of an epoch: the public type of package loader, which documents it.
type Position struct {
	Version int
	Epoch   int
	Draw    int
	Seed    uint64
	Samples int
	Order   string
	Ahead   []int
	Step    int
}

// version is the format of positions.
const version = 1

func (p Position) unknown() bool { return p.Samples == dataset.Unknown }

// Position is the place before the first batch of an epoch.
func (p *Planner) Position(epoch int) Position {
	from := p.Start(epoch)
	from.Order = p.identity()
	return from
}

// Start is the beginning of an epoch, without its order.
func (p *Planner) Start(epoch int) Position { return p.start(epoch, p.Len()) }

func (p *Planner) start(epoch, samples int) Position {
	return Position{Version: version, Epoch: epoch, Seed: p.Seed, Samples: samples}
}

// Check reports why a loop cannot resume at a position. It plans no epoch, so it does not compare the position with the
// epoch's order.
func (p *Planner) Check(from Position) error {
	switch {
	case from.Version == 0:
		return errors.New("loader: From: not a position of a loader: it has no version")
	case from.Version != version:
		return fmt.Errorf("loader: From: the position has version %d, this program reads %d", from.Version, version)
	case from.Epoch < 0 || from.Draw < 0:
		return fmt.Errorf("loader: From: not a position: epoch %d, draw %d", from.Epoch, from.Draw)
	case from.Epoch == math.MaxInt: // the end of a loop, from+1, could not be told
		return fmt.Errorf("loader: From: not a position: epoch %d, want %d at most", from.Epoch, math.MaxInt-1)
	case !ascending(from.Ahead):
		return fmt.Errorf("loader: From: not a position: ahead is %v", from.Ahead)
	case from.Step < 0 || (from.Step == 0) != (len(from.Ahead) == 0):
		return fmt.Errorf("loader: From: not a position: %d batches ahead in steps of %d draws", len(from.Ahead), from.Step)
	case from.Seed != p.Seed:
		return fmt.Errorf("loader: From: the position was taken with Seed(%d), this loader has Seed(%d)", from.Seed, p.Seed)
	case from.Samples != p.Len():
		return fmt.Errorf("loader: From: the position was taken with %d samples, this dataset has %d", from.Samples, p.Len())
	}
	if order := p.identity(); from.Order != "" && order != "" && from.Order != order {
		return otherOrder(from.Order, order)
	}
	return nil
}

// ascending reports whether the numbers are 0 or more and increase.
func ascending(numbers []int) bool {
	last := -1
	for _, n := range numbers {
		if n <= last {
			return false
		}
		last = n
	}
	return true
}

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
	at := Position{Version: version, Epoch: p.Epoch, Draw: p.drawsBefore(m.next.K), Seed: m.seed, Samples: p.Samples, Order: p.Order()}
	for _, n := range m.ahead {
		if n >= m.next.N {
			at.Ahead = append(at.Ahead, n-m.next.N)
			at.Step = p.Step()
		}
	}
	slices.Sort(at.Ahead)
	return at
}

// probes is the largest number of places of an order, or of batches, in a probe.
const probes = 64

// probeBatches makes a probe of the batches, or the order, of all ranks.
func probeBatches(epoch int, batches sampler.Batches) string {
	switch b := batches.(type) {
	case interface{ Global() sampler.Order }:
		return probeOrder(epoch, b.Global())
	case interface{ Global() sampler.Batches }:
		return probeBatches(epoch, b.Global())
	case sampler.BatchPart:
		return ""
	}
	return probe(epoch, "batches", batches.Len(), batches.At)
}

func probeOrder(epoch int, o sampler.Order) string {
	if part, ok := o.(sampler.Part); ok {
		o = part.Global()
	}
	return probe(epoch, "samples", o.Len(), func(k int, dst []int) []int { return append(dst, o.At(k)) })
}

// probe hashes the samples at some of n places, which are spread evenly and include both ends.
func probe(epoch int, what string, n int, at func(k int, dst []int) []int) string {
	sum := sha256.New()
	var found []int
	var bytes []byte
	count := min(n, probes)
	for i := range count {
		k := n - 1
		if i < count-1 {
			k = i * ((n - 1) / (count - 1))
		}
		found = at(k, found[:0])
		bytes = binary.LittleEndian.AppendUint64(bytes[:0], uint64(len(found)))
		for _, index := range found {
			bytes = binary.LittleEndian.AppendUint64(bytes, uint64(index))
		}
		sum.Write(bytes)
	}
	return fmt.Sprintf("probe(epoch %d, %d %s %x)", epoch, n, what, sum.Sum(nil)[:8])
}
