// Package sampler decides which samples an epoch takes and in which order.
//
// Every order is a random-access function of the epoch: it can be entered
// anywhere, shared by any number of goroutines, and computed again later with
// the same result. Orders from [Sequential], [Shuffle], [Random] and [Grouped]
// take no memory that grows with the number of samples.
//
// A constructor takes what is to be sampled, then a seed where it draws at random,
// then options. Samplers of equal arguments give equal orders.
//
// What an order is for given arguments never changes once a version is tagged, on
// any machine: an algorithm that has to change gets a constructor of its own. So
// runs can be repeated, and go on from a position, with later versions.
//
// Constructors that take data (weights, lists, ranks) return an error when it is
// wrong. A negative count or size is wrong use by the program and panics, as
// does a place outside an order.
package sampler

// A Sampler gives every epoch its order. The same epoch always has the same
// order. Safe for concurrent use.
type Sampler interface{ Epoch(epoch int) Order }

// An Order is a random-access sequence of sample indices, so that resuming in
// the middle costs nothing. Safe for concurrent use.
type Order interface {
	Len() int
	At(k int) int // k from 0 to Len()-1
}

// A Part is one rank's share of a global order. [Shard] makes them.
type Part interface {
	Order

	// Global is the order that is shared.
	Global() Order

	// World is the number of ranks that share it.
	World() int

	// Draw is the place of At(k) in the global order. Padding repeats get
	// places from Global().Len() on, so that every draw has its own.
	Draw(k int) int

	// Consumed is how many draws of the global order are consumed once every
	// rank has taken k of its own.
	Consumed(k int) int

	// From is this rank's share of what remains of the global order after its
	// first draw draws. The mode applies to what remains.
	From(draw int) Part
}

// A BatchSampler gives every epoch its batches. The same epoch always has the
// same batches. Safe for concurrent use.
type BatchSampler interface{ Epoch(epoch int) Batches }

// Batches is a random-access sequence of batches. Safe for concurrent use.
type Batches interface {
	Len() int
	At(k int, dst []int) []int // appends the sample indices of batch k to dst; at least one
}

// A BatchPart is batches that know their places in a global sequence of draws,
// from which other ranks take their share too. [Fixed] and [ShardBatches] make
// them. Draws are counted in samples where batches are cut from an order, as
// Fixed does, so that batches of another size can go on; they are counted in
// batches where batches come from elsewhere.
type BatchPart interface {
	Batches

	// Draw is a number for a row of batch k that no other row of the epoch has, on
	// any rank, and that does not depend on the number of ranks. It is defined
	// beyond Len too, for padding.
	Draw(k, row int) int

	// Consumed is how many draws of the global sequence are consumed once every
	// rank has taken k of its own batches.
	Consumed(k int) int

	// Step is by how much a batch of every rank lets Consumed grow, unless it is
	// the last one.
	Step() int

	// From is this rank's share of what remains of the global sequence after its
	// first draw draws. The mode applies to what remains.
	From(draw int) BatchPart
}
