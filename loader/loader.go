// Package loader loads batches of samples with many goroutines at once, as
// PyTorch's DataLoader does with processes.
//
// Every worker assembles a batch of its own, straight in the memory that the
// loop body will read; and whenever the loop waits, all workers help with the
// batch that it waits for. The data is the same for any number of workers.
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
// What PyTorch's users may look for: there is no collate_fn, because samples are
// placed rather than returned; fields whose samples differ in size are ragged,
// see [Batch.Offsets] and [Padded]. pin_memory is [Memory] with an allocator of
// page-locked memory. What worker_init_fn does belongs into the dataset's Open,
// which is called once per worker. Workers persist: readers stay open from loop
// to loop.
package loader

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/penstock-go/penstock/dataset"
)

// A Loader turns a dataset into batches. One loop at a time may run over it;
// its other methods may be called at any time by any goroutine.
type Loader struct {
	ds      dataset.Dataset
	spec    dataset.Spec
	ragged  bool // some field is
	samples int
	cfg     config
	made    time.Time

	identity func() string // of the sampler; may be empty

	workers []*worker // with Workers(0) one, for the loop's own goroutine

	counts  counts
	advised sync.Once

	mu     sync.Mutex
	jobs   []*job // all, one per slab
	idle   []*job // while no loop runs, those not kept
	run    *run   // the loop that runs
	closed bool
	freed  error // what freeing slabs has reported
}

// New makes a loader. It allocates the memory of all batches in flight, so that
// loops do not, and reports everything that is wrong with the options at once.
// Close frees the memory and the dataset's readers.
func New(ds dataset.Dataset, options ...Option) (*Loader, error) {
	cfg := newConfig(options)
	err := cfg.validate()
	if ds == nil {
		return nil, errors.Join(errors.New("loader: New: the dataset is nil"), err)
	}
	if ds.Len() < 0 {
		err = errors.Join(err, fmt.Errorf("loader: New: the dataset has %d samples", ds.Len()))
	}
	spec := ds.Spec()
	if specErr := spec.Validate(); specErr != nil {
		err = errors.Join(err, fmt.Errorf("loader: %w", specErr))
	}
	if err != nil {
		return nil, err
	}
	cfg.chosen(ds)
	l := &Loader{ds: ds, spec: spec, samples: ds.Len(), cfg: cfg, made: time.Now()}
	l.identity = sync.OnceValue(cfg.identity)
	for _, f := range spec {
		l.ragged = l.ragged || f.Ragged
	}
	for id := range max(1, cfg.workers) {
		l.workers = append(l.workers, newWorker(l, id))
	}
	if err := l.allocate(); err != nil {
		return nil, err
	}
	return l, nil
}

// allocate makes the slabs and touches their memory, with all workers' worth of
// processors: where that is left to the first epoch, it takes twice as long.
func (l *Loader) allocate() error {
	rows, err := l.largestBatch()
	if err != nil {
		return err
	}
	var group errgroup.Group
	group.SetLimit(len(l.workers))
	for range l.cfg.slabs(slabBytes(l.spec, rows)) {
		s, err := newSlab(l.spec, rows, l.cfg.memory)
		if err != nil {
			group.Wait()
			return errors.Join(err, l.Close())
		}
		j := &job{slab: s}
		l.jobs = append(l.jobs, j)
		l.idle = append(l.idle, j)
		group.Go(func() error {
			touch(s.bytes)
			return nil
		})
	}
	return group.Wait()
}

// largestBatch is the number of rows that slabs need, in the first epoch at least.
func (l *Loader) largestBatch() (rows int, err error) {
	if l.cfg.batchSampler == nil {
		return max(1, min(l.cfg.batchSize, l.samples)), nil
	}
	defer recovered(&err)
	batches := l.cfg.batchSampler.Epoch(0)
	var indices []int
	rows = 1
	for k := range batches.Len() {
		indices = batches.At(k, indices[:0])
		rows = max(rows, len(indices))
	}
	return rows, nil
}

// Len is the number of batches in an epoch. It asks the sampler for the epoch's
// order, and is an error where that panics.
func (l *Loader) Len(epoch int) (int, error) {
	p, err := l.safePlan(epoch, 0)
	if err != nil {
		return 0, err
	}
	return p.count, nil
}

// Left is the number of batches that remain of a position's epoch. The errors are
// those of [Loader.From].
func (l *Loader) Left(p Position) (int, error) {
	if err := l.check(p); err != nil {
		return 0, err
	}
	plan, err := l.planFrom(p)
	if err != nil {
		return 0, err
	}
	delivered, _ := slices.BinarySearch(p.Ahead, plan.count)
	return plan.count - delivered, nil
}

// Spec describes the fields of every batch: the dataset's, as they were when the
// loader was made. It is shared: do not change it.
func (l *Loader) Spec() dataset.Spec { return l.spec }

// Epoch loops over the batches of one epoch.
//
// A batch, and every tensor over it, belongs to the loop body: its memory is
// reused afterwards, unless [Batch.Keep] says otherwise. After an error the loop
// ends, except as [OnError] says; a context that is done ends it with an error,
// even behind the last batch. However the loop ends, by break, error,
// cancelled context or panic, every goroutine of it has ended then.
func (l *Loader) Epoch(ctx context.Context, epoch int) iter.Seq2[*Batch, error] {
	return l.Epochs(ctx, epoch, epoch+1)
}

// Epochs loops over the batches of the epochs from up to, but not including,
// to, without a gap: the first batches of an epoch are assembled while the last
// ones before it are consumed.
func (l *Loader) Epochs(ctx context.Context, from, to int) iter.Seq2[*Batch, error] {
	return l.From(ctx, l.start(from), to)
}

// From loops over what comes after a position, up to, but not including, epoch
// until: the same batches as without an interruption, whatever the number of
// workers. On another number of ranks, or in another batch size, it is the same
// samples in the same global order. There is nothing after a position in epoch
// until or a later one.
//
// It is an error if the position does not belong to the loader's order, seed or
// number of samples (see [Position]), or lies after its epoch's end.
func (l *Loader) From(ctx context.Context, p Position, until int) iter.Seq2[*Batch, error] {
	return func(yield func(*Batch, error) bool) {
		r, err := l.enter(ctx, p, until)
		if err != nil {
			yield(nil, err)
			return
		}
		defer l.leave(r)
		r.loop(yield)
	}
}

// enter starts a run.
func (l *Loader) enter(ctx context.Context, p Position, until int) (*run, error) {
	if err := l.check(p); err != nil {
		return nil, err
	}
	r, err := l.reserve(ctx)
	if err != nil {
		return nil, err
	}
	l.samples = l.ds.Len()
	if err := r.begin(p, until); err != nil {
		l.leave(r)
		return nil, err
	}
	r.start()
	return r, nil
}

func (l *Loader) reserve(ctx context.Context) (*run, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case l.closed:
		return nil, ErrClosed
	case l.run != nil:
		return nil, ErrBusy
	}
	l.run = newRun(l, ctx)
	l.run.free, l.idle = l.idle, nil
	return l.run, nil
}

// leave ends a run.
func (l *Loader) leave(r *run) {
	r.stop()
	l.advise()
	l.mu.Lock()
	defer l.mu.Unlock()
	l.run = nil
}

// recycle takes a slab back that its run has no use for. A closed loader frees it.
func (l *Loader) recycle(j *job) {
	if r := l.idles(j); r != nil {
		r.release(j)
	}
}

// idles keeps or frees a slab, unless a run has use for it, which it returns
// then: the slab was kept since an earlier loop.
func (l *Loader) idles(j *job) *run {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch r := l.run; {
	case l.closed:
		l.freed = errors.Join(l.freed, j.slab.free())
	case r != nil && !r.stopped.Load():
		return r
	default:
		l.idle = append(l.idle, j)
	}
	return nil
}

// Close ends a loop that runs, waits for its workers and frees the memory and
// the dataset's readers. Batches that the loop body or a kept reference still
// holds stay valid and are freed when they are given up. Later loops get
// [ErrClosed]. Close may be called again; it then does nothing. It waits for the
// samples that are being placed, so placing a sample must not call it.
func (l *Loader) Close() error {
	l.mu.Lock()
	if l.closed {
		l.mu.Unlock()
		return nil
	}
	l.closed = true
	r := l.run
	l.mu.Unlock()
	if r != nil {
		r.halt(ErrClosed)
		r.join()
	}
	var errs []error
	for _, w := range l.workers {
		if err := w.close(); err != nil {
			errs = append(errs, fmt.Errorf("loader: close dataset: %w", err))
		}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, j := range l.idle {
		errs = append(errs, j.slab.free())
	}
	l.idle = nil
	return errors.Join(append(errs, l.freed)...)
}
