package loader

import (
	"errors"
	"fmt"
	"math"
	"os"
	"runtime"
	"time"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/internal/figures"
	"github.com/penstock-go/penstock/internal/machine"
	"github.com/penstock-go/penstock/loader/internal/assemble"
	"github.com/penstock-go/penstock/loader/internal/plan"
	"github.com/penstock-go/penstock/loader/internal/slab"
	"github.com/penstock-go/penstock/loader/internal/tune"
	"github.com/penstock-go/penstock/sampler"
)

// A config is what the options say.
type config struct {
	workers   int
	auto      bool // whether workers is only the number to begin with
	inFlight  int
	help      bool
	unordered bool
	timeout   time.Duration
	collate   []dataset.BatchStep
	service   assemble.Service // nil if the dataset is none
	skip      bool             // whether samples that fail are left out
	limit     int              // how many may fail
	observers []Trace
	order
	stored
	measured

	set struct {
		batchSize, inFlight, budget, sampler, batchSampler, seed bool
	}
}

// order is which samples batches have.
type order struct {
	batchSize    int
	sampler      sampler.Sampler
	batchSampler sampler.BatchSampler
	shuffle      bool
	seed         uint64
	dropLast     bool
	ranks        *ranks // nil for all samples
}

// stored is where batches lie.
type stored struct {
	memory Allocator
	poison bool
	budget int // bytes of all batches; without Budget it does not bind InFlight
}

// measured is where the loader's measurements come from. Tests set it.
type measured struct {
	processTime   func() (used time.Duration, known bool)
	processorWait func() (waited time.Duration, known bool)
	slice         time.Duration                                    // between two looks of the tuner
	decide        func(*tune.Tuner, tune.Window, tune.Limits) bool // its decision
}

func newConfig(options []Option) config {
	c := config{
		workers: runtime.GOMAXPROCS(0),
		help:    true,
		order:   order{batchSize: 1},
		stored:  stored{memory: Heap{}, budget: bound},
		measured: measured{
			processTime:   machine.ProcessTime,
			processorWait: func() (time.Duration, bool) { return machine.ProcessorWait(os.DirFS("/")) },
			slice:         usualSlice,
			decide:        (*tune.Tuner).Step,
		},
	}
	for _, option := range options {
		if option.set != nil {
			option.set(&c)
		}
	}
	c.automatic(runtime.GOMAXPROCS(0))
	return c
}

// validate reports everything that is wrong with the options.
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
	wrong(c.set.inFlight && c.inFlight < 1, "InFlight(%d): want 1 or more", c.inFlight)
	wrong(c.inFlight > math.MaxInt32, "InFlight(%d): want %d at most", c.inFlight, math.MaxInt32)
	wrong(c.budget < 1, "Budget(%d): want 1 or more", c.budget)
	wrong(c.timeout < 0, "Timeout(%v): want 0 or more", c.timeout)
	wrong(c.limit < 0, "Skip(%d): want 0 or more, or NoLimit", c.limit)
	wrong(c.memory == nil, "Memory(nil): want an Allocator")
	wrong(c.set.sampler && c.sampler == nil, "Sampler(nil): want a Sampler")
	wrong(c.set.sampler && c.shuffle, "Shuffle(true): cannot be given together with Sampler, which sets the order")
	wrong(c.set.batchSampler && c.batchSampler == nil, "BatchSampler(nil): want a BatchSampler")
	if r := c.ranks; r != nil {
		_, err := sampler.Shard(sampler.Sequential(0), r.rank, r.world, r.mode)
		wrong(err != nil, "Ranks(%d, %d, %v): %w", r.rank, r.world, r.mode, err)
	}
	switch {
	case c.service != nil:
		c.checkService(wrong)
	case c.set.batchSampler:
		const batches = "cannot be given together with BatchSampler, which sets the batches"
		wrong(c.set.batchSize, "BatchSize(%d): "+batches, c.batchSize)
		wrong(c.set.sampler, "Sampler: "+batches)
		wrong(c.shuffle, "Shuffle(true): "+batches)
		wrong(c.dropLast, "DropLast(true): "+batches)
	}
	return errors.Join(errs...)
}

// prefetch is how many batches per worker may be ahead of the loop body without InFlight.
const prefetch = 2

// bound is the number of bytes of all slabs if nothing else is given.
const bound = min(2<<30, math.MaxInt)

// least is the number of slabs that there are even if they exceed the budget. A slab that exceeds a budget that is
// given is an error.
func (c *config) least() int {
	if c.set.budget {
		return 1
	}
	return slab.Fewest
}

// slabs is the number of slabs, if one has that many bytes.
func (c *config) slabs(bytes int) int {
	if c.set.inFlight {
		return c.inFlight
	}
	return min(prefetch*c.workers+1, max(c.least(), c.budget/max(bytes, 1)))
}

// bytes is how many bytes the batches may take. InFlight alone bounds their number.
func (c *config) bytes() int {
	if c.set.inFlight && !c.set.budget {
		return math.MaxInt
	}
	return c.budget
}

// affordable reports an error if the slabs take more than the budget that is given, or more than the machine has. Go
// ends a program that allocates them.
func (c *config) affordable(slabs, bytes int) error {
	all := slab.Product(slabs, bytes)
	if c.set.budget && all > c.budget {
		return fmt.Errorf("loader: Budget(%d): too little for %s of %s", c.budget, figures.Count(slabs, "slab", "slabs"), figures.Bytes(int64(bytes)))
	}
	if _, heap := c.memory.(Heap); !heap || slab.CheckMachine(bytes) != nil { // otherwise the Allocator reports it
		return nil
	}
	if err := slab.CheckMachine(all); err != nil {
		return fmt.Errorf("loader: %d slabs of %s are %w", slabs, figures.Bytes(int64(bytes)), err)
	}
	return nil
}

// chosen fills in the sampler that the other options imply.
func (c *config) chosen(ds dataset.Dataset) {
	switch {
	case c.sampler != nil || c.batchSampler != nil || c.service != nil:
	case ds.Len() == dataset.Unknown:
		c.sampler = sampler.Endless()
	case c.shuffle:
		c.sampler = sampler.Shuffle(ds.Len(), c.seed)
	default:
		c.sampler = sampler.Sequential(ds.Len())
	}
	if c.service != nil {
		c.seed = c.service.Seed()
	}
	switch r := c.ranks; {
	case r == nil:
	case c.batchSampler != nil:
		c.batchSampler, _ = sampler.ShardBatches(c.batchSampler, r.rank, r.world, r.mode) // validate has checked the ranks
	default:
		c.sampler, _ = sampler.Shard(c.sampler, r.rank, r.world, r.mode)
	}
}

// planned is what plans are made of.
func (c *config) planned(ds dataset.Dataset) plan.Options {
	o := plan.Options{Len: ds.Len, Sampler: c.sampler, Size: c.batchSize, DropLast: c.dropLast, Batches: c.batchSampler, Seed: c.seed}
	if c.service != nil { // a nil assemble.Service is not a nil plan.Service
		o.Service = c.service
	}
	return o
}

// streams reports what the options have that needs a known length.
func (c *config) streams(ds dataset.Dataset) error {
	var errs []error
	wrong := func(is bool, text string) {
		if is {
			errs = append(errs, fmt.Errorf("loader: %s, and the length of the dataset is unknown", text))
		}
	}
	_, ok := ds.(dataset.Awaiter)
	wrong(!ok, fmt.Sprintf("New: %T is not a dataset.Awaiter", ds))
	wrong(c.shuffle, "Shuffle(true): needs to know all samples")
	wrong(c.set.batchSampler, "BatchSampler: needs to know all samples")
	return errors.Join(errs...)
}

// checkService reports each option that sets what the service has decided.
func (c *config) checkService(wrong func(is bool, format string, args ...any)) {
	const belongs = "belongs to the service, which decides what batches have"
	wrong(c.set.batchSize, "BatchSize(%d): "+belongs, c.batchSize)
	wrong(c.set.batchSampler, "BatchSampler: "+belongs)
	wrong(c.set.sampler, "Sampler: "+belongs)
	wrong(c.shuffle, "Shuffle(true): "+belongs)
	wrong(c.set.seed, "Seed(%d): "+belongs, c.seed)
	wrong(c.dropLast, "DropLast(true): "+belongs)
	wrong(c.skip, "Skip(%d): "+belongs, c.limit)
	wrong(len(c.collate) > 0, "Collate: "+belongs)
	wrong(c.ranks != nil, "Ranks: belongs to the service, which is told the rank with every request")
}
