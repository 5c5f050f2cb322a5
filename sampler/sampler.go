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

import (
	"math/bits"
	"sync"

	"github.com/penstock-go/penstock/internal/prng"
)

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

// recent keeps what was computed for the last two epochs, so that a loop, which
// needs the current epoch and the next one, computes each of them once.
type recent[T any] struct {
	mu     sync.Mutex // not held while computing: who needs another epoch does not wait
	epochs [2]int
	values [2]func() T // of those who need the same epoch, one computes and the others wait
	filled int         // entries; the newest is the first
}

func (r *recent[T]) of(epoch int, compute func(epoch int) T) T { return r.value(epoch, compute)() }

// value is what computes or has computed the value of an epoch.
func (r *recent[T]) value(epoch int, compute func(epoch int) T) func() T {
	r.mu.Lock()
	defer r.mu.Unlock()
	for i := range r.filled {
		if r.epochs[i] == epoch {
			return r.values[i]
		}
	}
	v := sync.OnceValue(func() T { return compute(epoch) })
	r.epochs[1], r.values[1] = r.epochs[0], r.values[0]
	r.epochs[0], r.values[0] = epoch, v
	r.filled = min(r.filled+1, len(r.epochs))
	return v
}

// written is an order in memory.
type written []int

func (l written) Len() int     { return len(l) }
func (l written) At(k int) int { return l[k] }

// Every use of a seed has its own random numbers. Orders depend on these constants,
// so a new one goes at the end.
const (
	forShuffle uint64 = iota + 1
	forRandom
	forWeighted
	forWithoutReplacement
	forLength
	forGroups
	forTokens
)

func epochKey(use, seed uint64, epoch int) uint64 {
	return prng.Mix(prng.Mix(prng.Mix(use)^seed) ^ uint64(epoch))
}

// below turns the random bits h into a number from 0 to n-1, all equally likely.
// Source: Lemire, "Fast random integer generation in an interval", 2019.
func below(h, n uint64) uint64 {
	high, low := bits.Mul64(h, n)
	if low < n {
		for reject := -n % n; low < reject; {
			h = prng.Mix(h)
			high, low = bits.Mul64(h, n)
		}
	}
	return high
}

// stream is a sequence of random numbers, for what is computed in sequence.
type stream uint64

func (s *stream) next() uint64 {
	h := prng.Mix(uint64(*s))
	*s += prng.Gamma
	return h
}

// shuffle is the shuffle of Fisher and Yates.
func shuffle[T any](s *stream, list []T) {
	for i := len(list) - 1; i > 0; i-- {
		j := below(s.next(), uint64(i)+1)
		list[i], list[j] = list[j], list[i]
	}
}
