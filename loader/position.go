package loader

import (
	"errors"
	"fmt"
	"math"

	"github.com/penstock-go/penstock/internal/oneline"
)

// A Position is a place between two batches of an epoch, where a run can resume.
// Save it as JSON, which is short. [Loader.From] refuses a position that belongs to
// another order of samples, another seed or another number of samples. Its error
// says which.
//
// A position does not depend on the number of workers, the prefetch, the memory or
// the error policy. It does not depend on the batch size and the number of ranks
// either, so the rest of the same global order can be read with others. After
// [Unordered] delivery, however, these two must stay the same. Where an int has 32
// bits, it is an error to decode a position with larger numbers.
//
// # What stays the same across versions
//
// Every later version reads the positions that a released version has written, and
// resumes with the same samples in the same order and with the same random
// numbers. For this, the following never change for given arguments:
//
//   - the orders of all samplers and batch samplers of package sampler,
//   - the numbers that [dataset.Slot.Rand] gives for a seed, an epoch and a draw,
//   - the replacements that [Replace] chooses,
//   - the names and meanings of this type's fields in JSON, and the texts in Order.
//
// An algorithm that has to change gets a new constructor, or a new name in Order,
// and the old one stays. The content of a sample may change, because a decoder or a
// transform may be corrected. So a run that must repeat bit for bit needs the same
// version of the program.
type Position struct {
	// Version is the version of this format: 1.
	Version int `json:"version"`

	Epoch int `json:"epoch"`
	// Draw is the number of draws before the position in the epoch's global order,
	// over all ranks. Without a [BatchSampler] a draw is one sample. With one, a
	// draw is what its [sampler.BatchPart] counts as a draw, or one batch if its
	// Batches are not a BatchPart.
	Draw int `json:"draw"`

	Seed    uint64 `json:"seed"`    // of the loader
	Samples int    `json:"samples"` // in the dataset, or [dataset.Unknown]

	// Order describes the global order in words: it is the identity of the sampler
	// or batch sampler (see [sampler.Identified]). If there is no identity, Order is
	// a hash over some places of the epoch's order. Without an identity it is empty
	// in a position from [Loader.Position], and if only one rank's share of the order
	// is known.
	Order string `json:"order,omitempty"`

	// Ahead lists the batches after the position that [Unordered] has delivered
	// already. They are counted from the position: 0 is the batch right after it.
	Ahead []int `json:"ahead,omitempty"`
	// Step is the number of draws from the global order for one batch on every
	// rank. It is set only with Ahead, whose numbers depend on it.
	Step int `json:"step,omitempty"`
}

// version is the format of positions.
const version = 1

// Position is the place before the first batch of an epoch.
func (l *Loader) Position(epoch int) Position {
	p := l.start(epoch, l.ds.Len())
	p.Order = l.identity()
	return p
}

// start is the beginning of an epoch, without its order.
func (l *Loader) start(epoch, samples int) Position {
	return Position{Version: version, Epoch: epoch, Seed: l.cfg.seed, Samples: samples}
}

// check reports why the loader cannot resume at p. It calls no sampler, so it does
// not compare p with the epoch's order.
func (l *Loader) check(p Position) error {
	switch {
	case p.Version == 0:
		return errors.New("loader: From: not a position of a loader: it has no version")
	case p.Version != version:
		return fmt.Errorf("loader: From: the position has version %d, this program reads %d", p.Version, version)
	case p.Epoch < 0 || p.Draw < 0:
		return fmt.Errorf("loader: From: not a position: epoch %d, draw %d", p.Epoch, p.Draw)
	case p.Epoch == math.MaxInt: // the end of a loop, from+1, could not be told
		return fmt.Errorf("loader: From: not a position: epoch %d, want %d at most", p.Epoch, math.MaxInt-1)
	case !ascending(p.Ahead):
		return fmt.Errorf("loader: From: not a position: ahead is %v", p.Ahead)
	case p.Step < 0 || (p.Step == 0) != (len(p.Ahead) == 0):
		return fmt.Errorf("loader: From: not a position: %d batches ahead in steps of %d draws", len(p.Ahead), p.Step)
	case p.Seed != l.cfg.seed:
		return fmt.Errorf("loader: From: the position was taken with Seed(%d), this loader has Seed(%d)", p.Seed, l.cfg.seed)
	case p.Samples != l.ds.Len():
		return fmt.Errorf("loader: From: the position was taken with %d samples, this dataset has %d", p.Samples, l.ds.Len())
	}
	if order := l.identity(); p.Order != "" && order != "" && p.Order != order {
		return otherOrder(p.Order, order)
	}
	return nil
}

func otherOrder(position, loader string) error {
	return fmt.Errorf("loader: From: the position was taken in the order %s, this loader's is %s", oneline.Text(position), oneline.Text(loader))
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

// resumes reports why a run cannot resume at position from. p is the plan of the
// rest of the epoch.
func (p *plan) resumes(from Position) error {
	if from.Order != "" {
		if order := p.orders(); from.Order != order {
			return otherOrder(from.Order, order)
		}
	}
	if from.Draw != p.drawn(0) {
		return fmt.Errorf("loader: From: the position lies at draw %d of epoch %d, which has %d draws", from.Draw, from.Epoch, p.drawn(0))
	}
	if step := p.step(); from.Step != 0 && from.Step != step {
		return fmt.Errorf("loader: From: a position of unordered delivery needs the same batch size and number of ranks: it has %d draws per step, this loader has %d", from.Step, step)
	}
	return nil
}
