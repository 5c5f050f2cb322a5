package loader

import (
	"math"
	"slices"
	"time"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/sampler"
)

// An Option configures a [Loader]. [New] checks all options together. The zero Option sets nothing.
type Option struct{ set func(*config) }

// Workers sets how many goroutines assemble batches. The default is runtime.GOMAXPROCS(0). More workers than processors
// help if samples wait for I/O. With [Auto] the loader finds the number itself.
//
// Workers(0) is one worker and one slab: nothing is loaded ahead, and a loop that keeps a batch needs InFlight(2).
func Workers(n int) Option { return Option{func(c *config) { c.workers = n }} }

// BatchSize sets the number of samples per batch. The default is 1.
func BatchSize(n int) Option {
	return Option{func(c *config) { c.batchSize = n; c.set.batchSize = true }}
}

// InFlight sets the number of batches in memory, including the one in the loop body: with InFlight(3) there are exactly
// three slabs, each the memory of one batch, shared by any number of workers. The default is 2·Workers+1, as with
// PyTorch's prefetch_factor of 2, or as many as the [Budget] has room for.
func InFlight(n int) Option { return Option{func(c *config) { c.inFlight = n; c.set.inFlight = true }} }

// Sampler sets which samples an epoch takes, and in which order. The default is all samples of the dataset in ascending
// order.
func Sampler(s sampler.Sampler) Option {
	return Option{func(c *config) { c.sampler = s; c.set.sampler = true }}
}

// BatchSampler sets which samples each batch has. It cannot be combined with BatchSize, Sampler, Shuffle and DropLast.
func BatchSampler(s sampler.BatchSampler) Option {
	return Option{func(c *config) { c.batchSampler = s; c.set.batchSampler = true }}
}

// Shuffle sets whether every epoch has a random order of its own. The order is that of [sampler.Shuffle] with the seed
// that [Seed] sets. The default is false. Shuffle(true) cannot be combined with [Sampler], which sets the order.
func Shuffle(on bool) Option { return Option{func(c *config) { c.shuffle = on }} }

// Seed sets the seed of Shuffle and of the samples' random numbers (see [dataset.Slot.Rand]). The default is 0. Runs
// with the same seed give the same batches.
func Seed(s uint64) Option { return Option{func(c *config) { c.seed = s; c.set.seed = true }} }

// DropLast sets whether to leave out a last batch of fewer than BatchSize samples. The default is false. An epoch of
// fewer samples than that has no batch then, as in PyTorch, and [Stats.Verdict] says so.
func DropLast(on bool) Option { return Option{func(c *config) { c.dropLast = on }} }

// Ranks gives the loader one rank's share of the samples, as [sampler.Shard] does, or with a [BatchSampler] one rank's
// share of the batches, as [sampler.ShardBatches] does. The other options set the global order, of all ranks together.
// mode says what happens to the last samples if their number does not divide evenly among the ranks. The default is
// rank 0 of 1.
func Ranks(rank, world int, mode sampler.Mode) Option {
	return Option{func(c *config) { c.ranks = &ranks{rank, world, mode} }}
}

// ranks are the arguments of Ranks.
type ranks struct {
	rank, world int
	mode        sampler.Mode
}

// Unordered sets whether a batch is delivered as soon as it is complete, before earlier ones that are not. The content
// of every batch stays the same. The default is false.
func Unordered(on bool) Option { return Option{func(c *config) { c.unordered = on }} }

// Help sets whether workers interrupt their own batches to help with the one that the loop waits for. Then the first
// batch comes sooner, and batches come at even intervals. The default is true. Help(false) is PyTorch's behaviour.
func Help(on bool) Option { return Option{func(c *config) { c.help = on }} }

// Timeout sets how long the loop waits for a batch before it ends with a [TimeoutError]; the default, 0, is no limit.
// A worker whose call lasts longer than that when a loop ends is left behind: until the call has returned, other loops
// over the loader end at once with a [TimeoutError] that names it.
func Timeout(d time.Duration) Option { return Option{func(c *config) { c.timeout = d }} }

// Skip leaves samples out that cannot be placed, so that their batches are shorter, or not delivered if no sample is
// left. [Stats] counts and lists them. If more than limit samples fail in a loop, it ends with an error that wraps the
// last one, in the place of the batch that exceeds the limit; [NoLimit] allows any number. Without Skip the first
// failure ends the loop.
//
// An error that says nothing about the sample ends the loop in any case, such as that of a server that does not answer:
// see [dataset.MayPass]. Otherwise the batches would depend on the time.
func Skip(limit int) Option { return Option{func(c *config) { c.skip, c.limit = true, limit }} }

// NoLimit allows any number of failures: see [Skip].
const NoLimit = math.MaxInt

// Collate sets steps that change every batch once its samples are placed, such as transform.MixUp and
// [dataset.BatchFunc]. The worker that completes the batch runs them in the given order. The batch has the fields that
// the last step leaves: see [Loader.Spec]. An error of a step ends the loop in the place of the batch, also with [Skip].
// [Stats] counts their time as stage "collate".
func Collate(steps ...dataset.BatchStep) Option {
	return Option{func(c *config) { c.collate = slices.Clone(steps) }}
}
