package sampler

import "math"

// Endless takes the samples 0, 1, 2 and so on, in every epoch. It is the order of a
// dataset whose length is not known (see dataset.Unknown), and the default of a loader
// for one. [Shard] divides it among ranks.
func Endless() Sampler { return endless{} }

// An EndlessOrder is an Order whose Len is [math.MaxInt], because its end is not known
// yet. [Endless] makes one, and so does a [Shard] of it.
type EndlessOrder interface {
	Order

	// Until is the order if there are n samples. It is the same as before, except for the
	// last draws, which depend on the [Mode] of a Shard.
	Until(n int) Order
}

type endless struct{}

func (endless) Epoch(int) Order   { return endless{} }
func (endless) Len() int          { return math.MaxInt }
func (endless) Until(n int) Order { return sequential(n) }

func (endless) At(k int) int {
	mustPlace(k, math.MaxInt)
	return k
}

// Identity does not name a length, so it is the same where an int has 32 bits.
func (endless) Identity() string { return "Endless()" }

// endlessPart is one rank's share of an order without a known end.
type endlessPart struct {
	*shardOrder
	global EndlessOrder
}

func (p endlessPart) From(draw int) Part {
	mustDraw(draw)
	return endlessPart{newPart(p.global, p.share, draw), p.global}
}

func (p endlessPart) Until(n int) Order { return newPart(p.global.Until(n), p.share, p.start) }
