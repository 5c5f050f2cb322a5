package loader

import (
	"errors"
	"fmt"
	"log/slog"
	"math"
	"math/bits"
	"runtime"
	"time"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/internal/figures"
	"github.com/penstock-go/penstock/sampler"
)

// An Option configures a [Loader]. [New] checks all options together. The zero
// Option sets nothing.
type Option struct{ set func(*config) }

// Workers sets how many goroutines assemble batches. The default is
// runtime.GOMAXPROCS(0). More than processors make sense where samples wait
// for I/O. With Workers(0) the loop's own goroutine does the work, without any
// prefetching, which is what one wants under a debugger. There is one slab then:
// a loop that keeps a batch needs InFlight(2).
func Workers(n int) Option { return Option{func(c *config) { c.workers = n }} }

// BatchSize sets the samples per batch. The default is 1.
func BatchSize(n int) Option {
	return Option{func(c *config) { c.batchSize = n; c.set.batchSize = true }}
}

// Prefetch sets how many batches per worker may be ahead of the loop body. The
// default is 2, or less where that would take more than 2 GiB, also while batches
// of ragged fields turn out to.
//
// Together with the batch in the loop body that makes k·Workers+1 slabs of memory.
func Prefetch(k int) Option { return Option{func(c *config) { c.prefetch = k; c.set.prefetch = true }} }

// InFlight sets the number of batches in memory, the one in the loop body
// included, in place of [Prefetch]: with InFlight(3) there are exactly three
// slabs, however many workers share them.
func InFlight(n int) Option { return Option{func(c *config) { c.inFlight = n; c.set.inFlight = true }} }

// Sampler sets the order of the samples. The default is from 0 to Len()-1.
func Sampler(s sampler.Sampler) Option {
	return Option{func(c *config) { c.sampler = s; c.set.sampler = true }}
}

// BatchSampler sets which samples make up every batch. It goes without
// BatchSize, Sampler, Shuffle and DropLast.
func BatchSampler(s sampler.BatchSampler) Option {
	return Option{func(c *config) { c.batchSampler = s; c.set.batchSampler = true }}
}

// Shuffle sets whether every epoch has a random order of its own, given by
// [Seed]: that of [sampler.Shuffle].
func Shuffle(on bool) Option { return Option{func(c *config) { c.shuffle = on }} }

// Seed sets the seed of Shuffle and of the samples' random numbers. The default
// is 0: runs repeat each other unless told otherwise.
func Seed(s uint64) Option { return Option{func(c *config) { c.seed = s }} }

// DropLast sets whether a last batch of fewer than BatchSize samples is left out.
func DropLast(on bool) Option { return Option{func(c *config) { c.dropLast = on }} }

// Unordered sets whether batches are delivered as they are completed. Their
// content stays the same.
func Unordered(on bool) Option { return Option{func(c *config) { c.unordered = on }} }

// Help sets whether workers leave their own batches to help with the one the
// loop waits for. It is on by default, brings the first batch sooner and
// delivers batches evenly. Help(false) is PyTorch's behaviour.
func Help(on bool) Option { return Option{func(c *config) { c.help = on }} }

// Timeout sets how long the loop waits for a batch until it gets a
// [TimeoutError], and ends. The default, 0, is for ever. With Workers(0) it only
// bounds the wait for a batch that is kept.
//
// However a loop ends, it does not wait for calls of the dataset, an order or a
// hook that last longer than the Timeout. A worker in such a call is left behind:
// it keeps its Reader and its slab until the call returns, and another worker
// with a Reader of its own takes its place in the next loop. [Loader.Close] waits
// for it, no longer than the Timeout again. Without a Timeout loops wait until
// calls return, which Readers that honour their context do soon.
func Timeout(d time.Duration) Option { return Option{func(c *config) { c.timeout = d }} }

// A Policy is what a loader does about a sample that cannot be placed.
type Policy int

const (
	// Stop ends the loop with the error, in the place of the sample's batch.
	Stop Policy = iota
	// Skip leaves the sample out: its batch is shorter. A batch of which nothing
	// remains is left out as a whole and counted in [Stats].
	Skip
	// Replace takes another sample of the epoch, the same one in every run. If
	// ten of them fail one after the other, the loop ends with the error.
	Replace
)

// OnError sets what happens to samples that cannot be placed: [Stop], the
// default, [Skip] or [Replace]. A loop in which more than limit samples fail,
// replacements that fail included, ends with a [LimitError] in the place of the
// batch with the first one too many; [NoLimit] allows any number. Stop has no
// limit. What was left out is counted and listed in [Stats].
func OnError(p Policy, limit int) Option {
	return Option{func(c *config) { c.policy, c.limit = p, limit }}
}

// NoLimit disables the limit of [OnError].
const NoLimit = -1

// Memory sets where slabs come from. The default is [Heap].
func Memory(a Allocator) Option { return Option{func(c *config) { c.memory = a }} }

// ReadAhead sets how many batches beyond those in flight a dataset that is a
// [dataset.ReadAheader] is told of. The default is 1; 0 turns it off. It is off
// automatically while reads come from memory, faster than from any device.
func ReadAhead(batches int) Option { return Option{func(c *config) { c.readAhead = batches }} }

// Observe sets hooks into the loader's work.
func Observe(t Trace) Option { return Option{func(c *config) { c.trace = t }} }

// Logger sets where the loader writes its rare advice: that more workers than
// processors do not help samples that compute. Without one it is silent.
func Logger(l *slog.Logger) Option { return Option{func(c *config) { c.logger = l }} }

type config struct {
	workers, batchSize, prefetch, inFlight int

	sampler      sampler.Sampler
	batchSampler sampler.BatchSampler
	shuffle      bool
	seed         uint64
	dropLast     bool
	unordered    bool
	help         bool
	timeout      time.Duration
	policy       Policy
	limit        int
	memory       Allocator
	readAhead    int
	trace        Trace
	logger       *slog.Logger

	budget int // of bytes, for a loader that was not told how many slabs to have

	set struct{ batchSize, prefetch, inFlight, sampler, batchSampler bool }
}

func newConfig(options []Option) config {
	c := config{
		workers:   runtime.GOMAXPROCS(0),
		batchSize: 1,
		prefetch:  2,
		help:      true,
		memory:    Heap{},
		readAhead: 1,
		budget:    min(2<<30, math.MaxInt),
	}
	for _, option := range options {
		if option.set != nil {
			option.set(&c)
		}
	}
	return c
}

// validate reports everything that is wrong with the options together.
func (c *config) validate() error {
	var errs []error
	wrong := func(is bool, format string, args ...any) {
		if is {
			errs = append(errs, fmt.Errorf("loader: "+format, args...))
		}
	}
	wrong(c.workers < 0, "Workers(%d): want 0 or more", c.workers)
	wrong(c.batchSize < 1, "BatchSize(%d): want 1 or more", c.batchSize)
	wrong(c.batchSize > math.MaxInt32, "BatchSize(%d): want %d at most", c.batchSize, math.MaxInt32)
	wrong(c.prefetch < 1, "Prefetch(%d): want 1 or more", c.prefetch)
	wrong(c.prefetch > math.MaxInt32, "Prefetch(%d): want %d at most", c.prefetch, math.MaxInt32)
	wrong(c.set.prefetch && c.workers == 0, "Prefetch(%d): nothing is prefetched with Workers(0)", c.prefetch)
	wrong(c.set.inFlight && c.inFlight < 1, "InFlight(%d): want 1 or more", c.inFlight)
	wrong(c.inFlight > math.MaxInt32, "InFlight(%d): want %d at most", c.inFlight, math.MaxInt32)
	wrong(c.set.inFlight && c.set.prefetch, "InFlight(%d): replaces Prefetch(%d), give one of them", c.inFlight, c.prefetch)
	wrong(c.timeout < 0, "Timeout(%v): want 0 or more", c.timeout)
	wrong(c.readAhead < 0, "ReadAhead(%d): want 0 or more", c.readAhead)
	wrong(c.policy < Stop || c.policy > Replace, "OnError(%d): want Stop, Skip or Replace", c.policy)
	wrong(c.memory == nil, "Memory(nil): want an Allocator")
	wrong(c.set.sampler && c.sampler == nil, "Sampler(nil): want a Sampler")
	wrong(c.set.sampler && c.shuffle, "Shuffle(true): cannot be given together with Sampler, which sets the order")
	wrong(c.set.batchSampler && c.batchSampler == nil, "BatchSampler(nil): want a BatchSampler")
	if c.set.batchSampler {
		const batches = "cannot be given together with BatchSampler, which sets the batches"
		wrong(c.set.batchSize, "BatchSize(%d): "+batches, c.batchSize)
		wrong(c.set.sampler, "Sampler: "+batches)
		wrong(c.shuffle, "Shuffle(true): "+batches)
		wrong(c.dropLast, "DropLast(true): "+batches)
	}
	return errors.Join(errs...)
}

// fewest is how many slabs a loader has that was not told how many to have, however
// large they are: one to be consumed, one that is ready and one to be assembled.
const fewest = 3

// slabs is how many slabs of that many bytes the loader has.
func (c *config) slabs(bytes int) int {
	switch {
	case c.set.inFlight:
		return c.inFlight
	case c.workers == 0:
		return 1
	case c.set.prefetch:
		return c.prefetch*c.workers + 1
	}
	return min(c.prefetch*c.workers+1, max(fewest, c.budget/max(bytes, 1)))
}

// bounded reports whether the number of slabs follows from their size.
func (c *config) bounded() bool { return !c.set.inFlight && !c.set.prefetch && c.workers > 0 }

// affordable reports slabs that the machine cannot hold. Go ends a program that
// asks for them.
func (c *config) affordable(slabs, bytes int) error {
	if _, heap := c.memory.(Heap); !heap || checkMachine(bytes) != nil { // else the Allocator says it
		return nil
	}
	if err := checkMachine(saturated(slabs, bytes)); err != nil {
		return fmt.Errorf("loader: %d slabs of %s are %w", slabs, figures.Bytes(int64(bytes)), err)
	}
	return nil
}

// saturated is the product of two numbers from 0 on, or the largest one.
func saturated(a, b int) int {
	if high, low := bits.Mul(uint(a), uint(b)); high == 0 && low <= math.MaxInt {
		return int(low)
	}
	return math.MaxInt
}

// chosen fills in the sampler that the other options imply.
func (c *config) chosen(ds dataset.Dataset) {
	switch {
	case c.sampler != nil || c.batchSampler != nil:
	case c.shuffle:
		c.sampler = sampler.Shuffle(ds.Len(), c.seed)
	default:
		c.sampler = sampler.Sequential(ds.Len())
	}
}
