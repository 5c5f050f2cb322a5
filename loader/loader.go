// Package loader loads batches of samples with many goroutines at once, as
// PyTorch's DataLoader does with processes.
//
// Every worker assembles a batch of its own, directly in the memory that the loop
// body reads. While the loop waits for a batch, all workers help to complete it.
// The data is the same for any number of workers.
//
//	l, err := loader.New(ds, loader.Workers(12), loader.BatchSize(128))
//	if err != nil {
//		return err
//	}
//	defer l.Close()
//	for batch, err := range l.Epoch(ctx, 0) {
//		if err != nil {
//			return err
//		}
//		x := batch.Tensor("image")
//		…
//	}
//
// # What it does, and how fast
//
// [Loader.Stats] sums up where the time went and ends with the bottleneck in one sentence.
// Hooks see the same as it happens: every sample with its stages, every batch from its
// first sample until its memory is free, and every wait: see [Observe] and [Trace]. Package
// trace draws a timeline of them. Profiles have the labels "worker" and "stage". Execution
// traces, of package runtime/trace, have a task "loader.batch" for every batch, with the
// stages of its samples as regions, and regions for the loop's waits.
//
// # For users of PyTorch
//
//   - Samples are placed in the batch rather than returned, so nothing stacks them.
//     Everything else that a collate_fn does is a step of [Collate]. Fields whose samples
//     differ in size are ragged: see [Batch.Offsets] and [Padded].
//   - num_workers need not be found by trial and error: see [Auto].
//   - For pin_memory, give [Memory] an [Allocator] of page-locked memory. Package
//     gpu has one.
//   - What a worker_init_fn does belongs in the dataset's Open, which makes a Reader
//     for each worker. The worker's number is known only in the Reader's Place: see
//     [dataset.Worker].
//   - An IterableDataset is a dataset of package stream, or another one whose length is
//     [dataset.Unknown]. It is the same for any number of workers, and can resume.
//   - Workers are persistent: their Readers stay open from loop to loop.
package loader

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/loader/internal/plan"
	"github.com/penstock-go/penstock/loader/internal/slab"
)

// A Loader turns a dataset into batches. Only one loop at a time may run over it.
// Its other methods may be called at any time, by any goroutine.
type Loader struct {
	ds        dataset.Dataset
	collation collation
	ragged    bool // whether a field of samples is ragged
	cfg       config
	made      time.Time
	timed     bool // whether calls of user code are timed one by one: with a Timeout, or with hooks

	plans *plan.Planner

	pool   *slab.Pool
	tuning *tuning // nil without Auto

	counts counts
	meter  meter

	mu        sync.Mutex // guards the fields below, and those of runs, jobs and workers that say so; no user code runs under it
	workers   []*worker  // with Workers(0) one, for the loop's own goroutine
	run       *run       // the loop that runs, or nil
	begun     int64      // number of batches that were begun
	closed    bool
	announced int   // number of observers whose LoaderMade has succeeded before parted was set
	parted    bool  // whether Close calls, or has called, LoaderClosed of those
	late      error // errors of freeing slabs and closing Readers, for Close to return

	// Goroutines that may outlive a loop:
	outside   crew // counts strays and plannings
	strays    []*worker
	plannings []*planning
	past      effort // of strays that have returned
}

// New makes a loader. It allocates the memory of all batches in flight, so that
// loops need not. Its error lists everything that is wrong with the options.
// [Loader.Close] frees the memory and closes the dataset's Readers.
func New(ds dataset.Dataset, options ...Option) (*Loader, error) {
	l, err := newLoader(ds, options)
	if err != nil {
		return nil, err
	}
	if l.cfg.auto {
		l.tuning = newTuning(l)
	}
	for id := range max(1, l.cfg.workers) {
		l.workers = append(l.workers, newWorker(l, id))
	}
	if err := l.allocate(); err != nil {
		return nil, err
	}
	if err := l.announce(); err != nil {
		return nil, err
	}
	return l, nil
}

// newLoader makes a loader without workers and slabs.
func newLoader(ds dataset.Dataset, options []Option) (*Loader, error) {
	cfg := newConfig(options)
	cfg.service, _ = ds.(plan.Service)
	err := cfg.validate()
	if ds == nil {
		return nil, errors.Join(errors.New("loader: New: the dataset is nil"), err)
	}
	switch n := ds.Len(); {
	case n == dataset.Unknown:
		err = errors.Join(err, cfg.streams(ds))
	case n < 0:
		err = errors.Join(err, fmt.Errorf("loader: New: the dataset's Len is %d: want 0 or more", n))
	}
	spec := ds.Spec()
	steps, specErr := collation{}, spec.Validate()
	if specErr != nil {
		specErr = fmt.Errorf("loader: %w", specErr)
	} else {
		steps, specErr = newCollation(spec, cfg.collate)
	}
	if err = errors.Join(err, specErr); err != nil {
		return nil, err
	}
	cfg.chosen(ds)
	l := &Loader{ds: ds, collation: steps, cfg: cfg, made: time.Now(), timed: cfg.timeout > 0 || len(cfg.observers) > 0}
	l.meter.used, l.meter.queued, l.meter.slice = cfg.processTime, cfg.processorWait, cfg.slice
	l.plans = plan.New(cfg.planned(ds))
	for _, f := range spec {
		l.ragged = l.ragged || f.Ragged
	}
	return l, nil
}

// allocate makes the slabs and touches their memory, in as many goroutines as there
// are workers. If the first epoch had to touch it, it would take twice as long.
func (l *Loader) allocate() error {
	rows, err := l.plans.Largest()
	if err != nil {
		return err
	}
	c := &l.cfg
	l.pool = slab.NewPool(slab.Config{
		Spec: l.collation.columns, Memory: c.memory, Budget: c.budget, Least: c.least(), Bounded: c.bounded(), Strict: c.auto || c.set.budget,
	}, rows)
	bytes := l.pool.Bytes()
	count := l.slabs(c.workers, bytes)
	if err := c.affordable(count, bytes); err != nil {
		return err
	}
	if l.tuning != nil {
		l.tuning.begun = count
	}
	l.pool.Aim(count, c.workers)
	var group errgroup.Group
	group.SetLimit(len(l.workers))
	for range count {
		s, err := l.pool.Add()
		if err != nil {
			group.Wait()
			return errors.Join(fmt.Errorf("loader: %w", err), l.Close())
		}
		group.Go(func() error {
			s.Touch()
			return nil
		})
	}
	return group.Wait()
}

// Len is the number of batches that remain in the epoch of a position: l.Len(l.Position(0)) is PyTorch's len(loader).
// It calls the sampler. The errors are those of [Loader.From]. It is also an error if the length of the dataset is
// unknown.
func (l *Loader) Len(from Position) (int, error) {
	rest, err := l.plans.Rest(context.Background(), plan.Position(from))
	if err != nil {
		return 0, err
	}
	delivered, _ := slices.BinarySearch(from.Ahead, rest.Batches)
	return rest.Batches - delivered, nil
}

// Spec describes the fields of every batch: those that the last step of [Collate]
// leaves, or the dataset's, as they were when the loader was made. It is shared: do
// not change it.
func (l *Loader) Spec() dataset.Spec { return l.collation.last().spec }
