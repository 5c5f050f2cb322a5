package loader

import (
	"errors"
	"fmt"
	"time"

	"github.com/penstock-go/penstock/internal/usercode"
)

// Observe sets hooks that the loader calls while it works. It may be given several times:
// then the hooks of all options are called, in the order of the options. If one panics,
// those after it are not called. LoaderClosed is an exception: one that panics or returns
// an error does not keep the others from being called.
func Observe(t Trace) Option {
	return Option{func(c *config) {
		c.trace = c.trace.and(t)
		c.observers = append(c.observers, observer{t.LoaderMade, t.LoaderClosed})
	}}
}

// An observer is the hooks of a Trace that belong together: a loader that LoaderMade has
// refused is not closed for it.
type observer struct {
	made   func(*Loader) error
	closed func() error
}

// and is a trace that calls the hooks of t and then those of next, without those of an
// observer.
func (t Trace) and(next Trace) Trace {
	return Trace{
		BatchBegun:     both(t.BatchBegun, next.BatchBegun),
		BatchCollated:  bothTimed(t.BatchCollated, next.BatchCollated),
		BatchReady:     bothTimed(t.BatchReady, next.BatchReady),
		BatchDelivered: bothTimed(t.BatchDelivered, next.BatchDelivered),
		BatchEnded:     bothTimed(t.BatchEnded, next.BatchEnded),
		BatchFreed:     both(t.BatchFreed, next.BatchFreed),
		SampleDone:     both(t.SampleDone, next.SampleDone),
		SampleFailed:   both(t.SampleFailed, next.SampleFailed),
		MemoryWaited:   bothTimed(t.MemoryWaited, next.MemoryWaited),
	}
}

func both[T any](f, g func(T)) func(T) {
	switch {
	case f == nil:
		return g
	case g == nil:
		return f
	}
	return func(v T) { f(v); g(v) }
}

func bothTimed[T any](f, g func(T, time.Duration)) func(T, time.Duration) {
	switch {
	case f == nil:
		return g
	case g == nil:
		return f
	}
	return func(v T, d time.Duration) { f(v, d); g(v, d) }
}

func (j *job) info() BatchInfo {
	return BatchInfo{
		ID: j.id, Epoch: j.Plan.Epoch, Batch: j.Plan.Number(j.K), Worker: j.worker,
		Begun: j.begun, Samples: len(j.indices), Finisher: j.finisher,
		Context: j.ctx,
	}
}

func (t *Trace) batchBegun(j *job) {
	j.told = true
	if t.BatchBegun != nil {
		t.BatchBegun(j.info())
	}
}

func (t *Trace) batchCollated(j *job, took time.Duration) {
	if t.BatchCollated != nil {
		t.BatchCollated(j.info(), took)
	}
}

func (t *Trace) batchReady(j *job) {
	if t.BatchReady != nil {
		t.BatchReady(j.info(), time.Since(j.begun))
	}
}

func (t *Trace) batchDelivered(j *job, waited time.Duration) {
	if t.BatchDelivered != nil {
		t.BatchDelivered(j.info(), waited)
	}
}

// body calls the loop body with a batch, or with the error in its place. begun is when that
// begins.
func (t *Trace) body(j *job, b *Batch, err error, begun time.Time, yield func(*Batch, error) bool) (goesOn bool, ended time.Time) {
	defer endRegion(j.traced.region("loader.body"))
	if t.BatchEnded == nil {
		goesOn = yield(b, err)
		return goesOn, time.Now()
	}
	info := j.info() // Detach may let the job begin another batch
	goesOn = yield(b, err)
	ended = time.Now()
	t.BatchEnded(info, ended.Sub(begun))
	return goesOn, ended
}

// freed calls the hook BatchFreed for a batch whose slab is not used any more.
func (l *Loader) freed(j *job) {
	if !j.told {
		return
	}
	j.told = false
	hook := l.cfg.trace.BatchFreed
	if hook == nil {
		return
	}
	if err := called(func() { hook(j.info()) }); err != nil {
		l.fails(fmt.Errorf("loader: hook BatchFreed: %w", err))
	}
}

// called calls a hook. A panic becomes an error.
func called(hook func()) (err error) {
	defer usercode.Recover(&err)
	hook()
	return nil
}

// announce calls the hooks LoaderMade. If one fails, the loader is closed. If it is closed
// meanwhile, the error is ErrClosed.
func (l *Loader) announce() (err error) {
	made := false
	defer func() {
		if !made { // also if a hook ends the goroutine
			err = errors.Join(err, l.Close())
		}
	}()
	for _, o := range l.cfg.observers {
		err := o.announce(l)
		if err := errors.Join(err, l.meets(o, err == nil)); err != nil {
			return err
		}
	}
	made = true
	return nil
}

// meets notes an observer whose LoaderMade was called, and whether it has succeeded. The
// error is ErrClosed if the loader was closed meanwhile. LoaderClosed of an observer that
// the closing has not known is called here then.
func (l *Loader) meets(o observer, succeeded bool) error {
	l.mu.Lock()
	closed, parted := l.closed, l.parted
	if succeeded && !parted {
		l.announced++
	}
	l.mu.Unlock()
	switch {
	case !closed:
		return nil
	case succeeded && parted:
		return errors.Join(ErrClosed, o.farewell())
	}
	return ErrClosed
}

func (o observer) announce(l *Loader) error {
	if o.made == nil {
		return nil
	}
	var refused error
	err := called(func() { refused = o.made(l) })
	if err == nil {
		err = refused
	}
	if err != nil {
		return fmt.Errorf("loader: hook LoaderMade: %w", err)
	}
	return nil
}

// farewell calls the hooks LoaderClosed of the observers that know the loader.
func (l *Loader) farewell() error {
	l.mu.Lock()
	announced := l.announced
	l.parted = true
	l.mu.Unlock()
	var errs []error
	for _, o := range l.cfg.observers[:announced] {
		errs = append(errs, o.farewell())
	}
	return errors.Join(errs...)
}

func (o observer) farewell() (err error) {
	if o.closed == nil {
		return nil
	}
	defer usercode.Recover(&err)
	return o.closed()
}

// tried calls place, which is an attempt to place rows, and then the hook SampleDone. It returns the
// error of place, or those of both.
func (w *worker) tried(j *job, row, rows, index int, place func() error) error {
	w.clock.Record()
	return w.sampleDone(j, row, rows, index, place())
}

// sampleDone calls the hook for an attempt to place rows that has ended with err, since the
// worker's clock records. It returns err, and that of the hook.
func (w *worker) sampleDone(j *job, row, rows, index int, err error) error {
	s := SampleInfo{
		Batch: j.info(), Worker: w.id, Row: row, Rows: rows, Index: index, Err: err,
		l: w.l, samples: j.Plan.Samples,
	}
	spans, begun, took := w.clock.Recorded()
	s.Begun, s.Took = begun, took
	w.spans = w.spans[:0]
	for _, span := range spans {
		w.spans = append(w.spans, StageSpan(span))
	}
	s.Stages = w.spans
	failed := w.calls(observing, func() error {
		w.l.cfg.trace.SampleDone(s)
		return nil
	})
	if failed != nil {
		return errors.Join(err, failed)
	}
	return err
}

// waitedForMemory calls the hook MemoryWaited. If the hook panics, the run ends with that error.
func (w *worker) waitedForMemory(took time.Duration) {
	w.at.Store(nil)
	w.begins(time.Now()) // the last batch began before the wait
	err := w.calls(observing, func() error {
		w.l.cfg.trace.MemoryWaited(w.id, took)
		return nil
	})
	if err != nil {
		w.run.failsIn(w, fmt.Errorf("hook MemoryWaited: %w", err))
	}
}
