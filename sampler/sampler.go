// Package sampler decides which samples an epoch takes and in which order.
//
// A [Sampler] gives every epoch an [Order]: the indices of its samples, with
// random access. An order can be read from any place, shared by any number of
// goroutines, and computed again later with the same result. Orders from
// [Sequential], [Shuffle], [Random] and [Grouped] take no memory that grows with
// the number of samples. A [BatchSampler] gives every epoch its [Batches] in the
// same way.
//
// A constructor takes what to sample, then a seed if it draws at random, then
// options. Equal arguments give the same orders on every machine, and in every
// version from the first tagged one on. An algorithm that has to change gets a new
// constructor. So a later version can repeat a run, or resume it from a saved
// position.
//
// Where an int has 32 bits, all this holds for up to 2³¹-1 samples.
//
// Constructors that take weights or ranks return an error if these are wrong. A
// negative count or size is a mistake in the program and panics, and so does a
// place outside an order.
package sampler

// A Sampler gives every epoch its order. The same epoch always has the same
// order. Epochs count from 0. A Sampler is safe for concurrent use.
type Sampler interface{ Epoch(epoch int) Order }

// An Order is a sequence of sample indices with random access, so that resuming
// in the middle costs nothing. It is safe for concurrent use.
type Order interface {
	Len() int
	At(k int) int // the sample index at place k, from 0 to Len()-1
}

// A Part is one rank's share of a global order. [Shard] makes them.
type Part interface {
	Order

	// Global is the order that is shared.
	Global() Order

	// World is the number of ranks that share it.
	World() int

	// Draw is the place of At(k) in the global order. Samples that [PadToEven]
	// repeats get places from Global().Len() on, so that all draws of the epoch
	// have different places. It has 64 bits also where an int has 32.
	Draw(k int) int64

	// Consumed is how many draws of the global order are consumed after every
	// rank has taken k of its own, or all of them where a rank has fewer. So k may
	// be greater than Len: with [KeepExact], another rank may have one sample more.
	Consumed(k int) int

	// From is this rank's share of the rest of the global order, from place draw
	// on. The [Mode] applies to this rest as if it were a whole order.
	From(draw int) Part
}

// A BatchSampler gives every epoch its batches. The same epoch always has the
// same batches. Epochs count from 0. A BatchSampler is safe for concurrent use.
type BatchSampler interface{ Epoch(epoch int) Batches }

// Batches is a sequence of batches with random access. It is safe for concurrent
// use.
type Batches interface {
	Len() int
	At(k int, dst []int) []int // appends the sample indices of batch k, at least one, to dst
}

// A BatchPart is one rank's share of a global sequence of batches. [Fixed] and
// [ShardBatches] make them.
//
// Places in the global sequence are counted in draws. If the batches are cut from
// an order, as [Fixed] does, a draw is one sample, so that batches of another size
// can continue the epoch. Otherwise a draw is one batch.
type BatchPart interface {
	Batches

	// Draw is a number for a row of batch k. No other row of the epoch has this
	// number, on any rank, and it does not depend on the number of ranks. It is
	// also defined for k from Len() on, for batches that [PadToEven] repeats.
	Draw(k, row int) int64

	// Consumed is how many draws of the global sequence are consumed after every
	// rank has taken k of its own batches.
	Consumed(k int) int

	// Step is the number by which Consumed grows when every rank takes one more
	// batch. At the end of the epoch Consumed may grow by less.
	Step() int

	// From is this rank's share of the rest of the global sequence, from place
	// draw on. The [Mode] applies to this rest as if it were a whole sequence.
	From(draw int) BatchPart
}
