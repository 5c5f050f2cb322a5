package loader

// A Position is a place between two batches of an epoch, where a run can resume. Save it as JSON, which is short.
// [Loader.From] refuses a position that belongs to another order of samples, another seed or another number of samples.
// Its error says which.
//
// The rest of the same global order may be read with another number of workers or ranks, and with another batch size. Only
// after [Unordered] delivery the last two must stay the same.
//
// Every later version reads the positions that a released version has written, and resumes with the same samples in the
// same order and with the same random numbers: the orders of package sampler, the numbers of [dataset.Slot.Rand], and
// this type's JSON never change. The content of a sample may change, because a decoder may be corrected.
type Position struct {
	// Version is the version of this format: 1.
	Version int `json:"version"`

	Epoch int `json:"epoch"`
	// Draw is the number of draws before the position in the epoch's global order, over all ranks: samples, or with a
	// [BatchSampler] batches, or what its [sampler.BatchPart] counts.
	Draw int `json:"draw"`

	Seed    uint64 `json:"seed"`    // of the loader
	Samples int    `json:"samples"` // in the dataset, or [dataset.Unknown]

	// Order describes the global order: it is the sampler's identity (see [sampler.Identified]), or else a hash over some
	// places of the epoch's order, if that is known.
	Order string `json:"order,omitempty"`

	// Ahead lists the batches after the position that [Unordered] has delivered already. They are counted from the
	// position: 0 is the batch right after it.
	Ahead []int `json:"ahead,omitempty"`
	// Step is the number of draws from the global order for one batch on every rank. It is set only with Ahead, whose
	// numbers depend on it.
	Step int `json:"step,omitempty"`
}

// Position is the place before the first batch of an epoch.
func (l *Loader) Position(epoch int) Position { return Position(l.plans.Position(epoch)) }
