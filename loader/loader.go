// Package loader loads batches of samples with many goroutines at once, as PyTorch's DataLoader does with processes.
//
// Every worker assembles a batch of its own, directly in the memory that the loop body reads. While the loop waits for
// a batch, all workers help to complete it. The data is the same for any number of workers.
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
// [Loader.Stats] sums up where the time went and ends with the bottleneck in one sentence. Hooks see the same as it
// happens: see [Observe]. Profiles have the labels "worker" and "stage".
//
// # For users of PyTorch
//
//   - Samples are placed in the batch rather than returned, so nothing stacks them. What else a collate_fn does is a
//     step of [Collate]. Fields whose samples differ in size are ragged: see [Batch.Offsets] and [Padded].
//   - num_workers need not be found by trial and error: see [Auto].
//   - For pin_memory, give [Memory] an [Allocator] of page-locked memory, such as that of package gpu.
//   - What a worker_init_fn does belongs in the dataset's Open, which makes a Reader for each worker. Workers, and
//     their Readers, stay from loop to loop.
//   - An IterableDataset is a dataset of package stream. It is the same for any number of workers, and can resume.
package loader

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/loader/internal/assemble"
	"github.com/penstock-go/penstock/loader/internal/plan"
	"github.com/penstock-go/penstock/loader/internal/slab"
	"github.com/penstock-go/penstock/loader/internal/tune"
)

// A Loader turns a dataset into batches. Only one loop at a time may run over it. Its other methods may be called at
// any time, by any goroutine.
type Loader struct {
	ds    dataset.Dataset
	cfg   config
	steps *assemble.Steps
	plans *plan.Planner
	pool  *slab.Pool
	team  *assemble.Team

	tuner  *tune.Tuner                 // nil without Auto; the running loop's goroutine owns it, and the window
	window tune.Window                 // of the last loop, since the last decision
	chosen atomic.Pointer[tune.Choice] // the tuner's, for anybody to read

	counts counts

	closed    atomic.Bool
	announced int // number of observers whose LoaderMade has succeeded
}

// New makes a loader. It allocates the memory of all batches in flight, so that loops need not. Its error lists
// everything that is wrong with the options. [Loader.Close] frees the memory and closes the dataset's Readers.
func New(ds dataset.Dataset, options ...Option) (*Loader, error) {
	l, err := newLoader(ds, options)
	if err != nil {
		return nil, err
	}
	if l.cfg.auto {
		l.tuner = tune.New(l.cfg.workers)
		l.chosen.Store(new(l.tuner.Choice))
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
	cfg.service, _ = ds.(assemble.Service)
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
	var steps *assemble.Steps
	specErr := spec.Validate()
	if specErr != nil {
		specErr = fmt.Errorf("loader: %w", specErr)
	} else {
		steps, specErr = assemble.NewSteps(spec, cfg.collate)
	}
	if err = errors.Join(err, specErr); err != nil {
		return nil, err
	}
	cfg.chosen(ds)
	return &Loader{ds: ds, cfg: cfg, steps: steps, plans: plan.New(cfg.planned(ds))}, nil
}

// allocate makes the workers and the slabs, and touches the slabs' memory. If the first batches had to touch it, they
// would take twice as long.
func (l *Loader) allocate() error {
	rows, err := l.plans.Largest()
	if err != nil {
		return err
	}
	c := &l.cfg
	l.pool = slab.NewPool(slab.Config{
		Spec: l.steps.Columns(), Memory: c.memory, Poison: c.poison, Budget: c.bytes(), Least: c.least(),
	}, rows)
	bytes := l.pool.Bytes()
	count := c.slabs(bytes)
	if err := c.affordable(count, bytes); err != nil {
		return err
	}
	l.team = assemble.New(assemble.Config{
		Dataset: l.ds, Service: c.service, Plans: l.plans, Pool: l.pool, Steps: l.steps, Workers: c.workers,
		Seed: c.seed, Skip: c.skip, Help: c.help, Unordered: c.unordered,
		Timeout: c.timeout, Timed: c.timeout > 0 || len(c.observers) > 0, Elastic: c.auto && !c.set.inFlight, Hooks: l.hooks(),
	})
	for range count {
		if err := l.pool.Add(); err != nil {
			return errors.Join(fmt.Errorf("loader: %w", err), l.Close())
		}
	}
	l.pool.Touch(max(1, c.workers))
	return nil
}

// Close ends the loop that runs, if any, waits for its workers, frees the loader's memory and closes the dataset's
// Readers. The loop that it ends and all later ones get [ErrClosed]. Calling Close again does nothing. A batch that the
// loop body uses or that is kept stays valid, and its memory is freed when it is no longer used.
//
// Place must not call Close, which waits for it. With a [Timeout] it waits for all calls of user code no longer than
// that, and then returns a [TimeoutError]. The memory that they use is freed when they return, so the [Allocator] must
// outlive them.
func (l *Loader) Close() error {
	if l.closed.Swap(true) {
		return nil
	}
	left, err := l.team.Close()
	if len(left) > 0 {
		err = errors.Join(l.timedOut(&assemble.Timeout{Epoch: -1, Batch: -1, Stuck: left}), err)
	}
	return errors.Join(err, l.farewell(), l.team.Late())
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

// Spec describes the fields of every batch: those that the last step of [Collate] leaves, or the dataset's, as they
// were when the loader was made. It is shared: do not change it.
func (l *Loader) Spec() dataset.Spec {
	spec, _ := l.steps.Delivered()
	return spec
}
