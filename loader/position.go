package loader

import (
	"errors"
	"fmt"
)

// A Position is a place between two batches of an epoch, to resume from: a short
// piece of JSON. [Loader.From] refuses one that belongs to another order of
// samples, another seed or another number of samples, and says which.
//
// It does not depend on the number of workers, the prefetch, the memory or the
// error policy. Except after [Unordered] delivery it does not depend on the batch
// size and the number of ranks either: a run may go on with others, over what
// remains of the same global order.
//
// # What stays the same across versions
//
// A position that a released version has written is read by all later ones, and
// goes on with the same samples in the same order and with the same random
// numbers. For that, these never change for given arguments:
//
//   - the orders of all samplers and batch samplers of package sampler,
//   - the numbers that [dataset.Slot.Rand] gives for a seed, an epoch and a draw,
//   - the replacements that [Replace] chooses,
//   - the names and meanings of this type's fields in JSON, and the texts in Order.
//
// An algorithm that has to change gets a new constructor, or a new name in Order,
// and the old one stays. What a sample holds is not promised: a decoder or a
// transform may be corrected, so a run that must repeat bit for bit stays on one
// version of the program.
type Position struct {
	// Version is that of the format: 1.
	Version int `json:"version"`

	Epoch int `json:"epoch"`
	// Draw counts the draws of the epoch's global order that lie before the
	// position, over all ranks. With a [BatchSampler] it counts what the draws of a
	// [sampler.BatchPart] count, else batches.
	Draw int `json:"draw"`

	Seed    uint64 `json:"seed"`    // of the loader
	Samples int    `json:"samples"` // in the dataset

	// Order is what the global order depends on, in words: the identity of the
	// sampler or batch sampler (see [sampler.Identified]). For one without, it is a
	// probe, a hash over some places of the epoch's order, or it is empty where
	// nothing of the epoch has been drawn.
	Order string `json:"order,omitempty"`

	// Ahead holds, after unordered delivery, the batches after the position that
	// were delivered already, counted from it: 0 is the next one in order.
	Ahead []int `json:"ahead,omitempty"`
	// Step is how many draws a batch takes from the global order, over all
	// ranks. It is set with Ahead, whose numbers depend on it.
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

// start is the beginning of an epoch in whatever order.
func (l *Loader) start(epoch, samples int) Position {
	return Position{Version: version, Epoch: epoch, Seed: l.cfg.seed, Samples: samples}
}

// check reports why the loader cannot resume at p, as far as can be told without
// an order of the epoch.
func (l *Loader) check(p Position) error {
	switch {
	case p.Version == 0:
		return errors.New("loader: From: not a position of a loader: it has no version")
	case p.Version != version:
		return fmt.Errorf("loader: From: the position has version %d, this program reads %d", p.Version, version)
	case p.Epoch < 0 || p.Draw < 0:
		return fmt.Errorf("loader: From: not a position: epoch %d, draw %d", p.Epoch, p.Draw)
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
	return fmt.Errorf("loader: From: the position was taken in the order %s, this loader's is %s", position, loader)
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

// resumes reports why a run cannot resume at position from, with the plan of what
// remains of its epoch.
func (p *plan) resumes(from Position) error {
	if from.Order != "" {
		if order := p.orders(); from.Order != order {
			return otherOrder(from.Order, order)
		}
	}
	if from.Draw != p.drawn(0) {
		return fmt.Errorf("loader: From: the position lies at draw %d of epoch %d, which has %d", from.Draw, from.Epoch, p.drawn(0))
	}
	if step := p.step(); from.Step != 0 && from.Step != step {
		return fmt.Errorf("loader: From: a position of unordered delivery resumes with the same batch size and number of ranks only: it has %d draws per step, this loader %d", from.Step, step)
	}
	return nil
}
