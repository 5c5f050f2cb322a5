package loader

import (
	"fmt"
	"slices"
)

// A Position is a place between two batches of a run, to resume from: a few
// bytes of JSON. It does not depend on the number of workers, the prefetch or,
// except after [Unordered] delivery, on the batch size and the number of ranks.
type Position struct {
	Epoch int `json:"epoch"`
	// Draw counts the draws of the epoch's global order that lie before the
	// position, over all ranks. With a [BatchSampler] it counts what the draws of a
	// [sampler.BatchPart] count, else batches.
	Draw int `json:"draw"`
	// Until is the epoch at which the run ends, as given to [Loader.Epochs].
	Until int `json:"until"`

	Seed    uint64 `json:"seed"`    // of the loader
	Samples int    `json:"samples"` // in the dataset

	// Ahead holds, after unordered delivery, the batches behind the position that
	// were delivered already, counted from it: 0 is the next one in order.
	Ahead []int `json:"ahead,omitempty"`
	// Step is how many draws a batch takes from the global order, over all
	// ranks. It is set with Ahead, whose numbers depend on it.
	Step int `json:"step,omitempty"`
}

// check reports why the loader cannot resume at p.
func (l *Loader) check(p Position) error {
	switch {
	case p.Epoch < 0 || p.Draw < 0 || p.Until < p.Epoch || p.Step < 0:
		return fmt.Errorf("loader: From: not a position: %+v", p)
	case p.Seed != l.cfg.seed:
		return fmt.Errorf("loader: From: the position was taken with Seed(%d), this loader has Seed(%d)", p.Seed, l.cfg.seed)
	case p.Samples != l.ds.Len():
		return fmt.Errorf("loader: From: the position was taken with %d samples, this dataset has %d", p.Samples, l.ds.Len())
	case !slices.IsSorted(p.Ahead) || len(p.Ahead) > 0 && p.Ahead[0] < 0:
		return fmt.Errorf("loader: From: not a position: ahead is %v", p.Ahead)
	}
	return nil
}
