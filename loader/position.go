package loader

// A Position is a place between two batches of an epoch, where a run can resume. Save it as JSON, which is short.
// [Loader.From] refuses a position that belongs to another order of samples, another seed or another number of samples.
// Its error says which.
//
// A position does not depend on the number of workers, the prefetch, the memory or the error policy. It does not depend
// on the batch size and the number of ranks either, so the rest of the same global order can be read with others. After
// [Unordered] delivery, however, these two must stay the same. Where an int has 32 bits, it is an error to decode a
// position with larger numbers.
//
// # What stays the same across versions
//
// Every later version reads the positions that a released version has written, and resumes with the same samples in the
// same order and with the same random numbers. For this, the following never change for given arguments:
//
//   - the orders of all samplers and batch samplers of package sampler,
//   - the numbers that [dataset.Slot.Rand] gives for a seed, an epoch and a draw,
//   - the names and meanings of this type's fields in JSON, and the texts in Order.
//
// An algorithm that has to change gets a new constructor, or a new name in Order, and the old one stays. The content of
// a sample may change, because a decoder or a transform may be corrected. So a run that must repeat bit for bit needs
// the same version of the program.
type Position struct {
	// Version is the version of this format: 1.
	Version int `json:"version"`

	Epoch int `json:"epoch"`
	// Draw is the number of draws before the position in the epoch's global order, over all ranks. Without a
	// [BatchSampler] a draw is one sample. With one, a draw is what its [sampler.BatchPart] counts as a draw, or one
	// batch if its Batches are not a BatchPart.
	Draw int `json:"draw"`

	Seed    uint64 `json:"seed"`    // of the loader
	Samples int    `json:"samples"` // in the dataset, or [dataset.Unknown]

	// Order describes the global order in words: it is the identity of the sampler or batch sampler (see
	// [sampler.Identified]). If there is no identity, Order is a hash over some places of the epoch's order. Without an
	// identity it is empty in a position from [Loader.Position], and if only one rank's share of the order is known.
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
