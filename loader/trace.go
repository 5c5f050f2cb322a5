package loader

import (
	"context"
	"errors"
	"fmt"
	"time"
	"unsafe"

	"github.com/penstock-go/penstock/internal/slots"
	"github.com/penstock-go/penstock/loader/internal/assemble"
	"github.com/penstock-go/penstock/loader/internal/usercode"
)

// A Trace is a set of hooks, all of them optional. [Observe] gives it to a loader.
//
// Several goroutines may call a hook at once, and the caller waits until it returns: a hook should be short, and must
// not call Close. What it is given may be kept, unless a field says otherwise. An error of a hook that panics takes the
// place of the sample or the batch that the hook is about; that of BatchFreed is for [Loader.Close] to return, and
// panics of BatchDelivered and BatchEnded go on in the loop's goroutine.
type Trace struct {
	// LoaderMade is called by [New] when the loader is ready, which must not be closed before New has returned. If
	// LoaderMade fails, there is no loader, and New returns the error.
	LoaderMade func(l *Loader) error
	// LoaderClosed is called by [Loader.Close], after everything else, if LoaderMade of the same Trace has succeeded.
	// Close returns its error too. Hooks may still be called for batches that are kept, and by workers that were left
	// behind.
	LoaderClosed func() error

	// BatchBegun is called by the worker that begins a batch.
	BatchBegun func(b BatchInfo)
	// BatchReady is called by the worker that finishes the batch's last sample, b.Finisher. took is the time since the
	// batch was begun.
	BatchReady func(b BatchInfo, took time.Duration)
	// BatchDelivered is called by the loop's goroutine before the loop body. waited is the time that the loop waited
	// for the batch.
	BatchDelivered func(b BatchInfo, waited time.Duration)
	// BatchEnded is called by the loop's goroutine when the loop body returns, also after break. took is the time of
	// the loop body.
	BatchEnded func(b BatchInfo, took time.Duration)
	// BatchFreed is called once for every batch that was begun, when its slab is free for another one. Any goroutine may
	// make the call.
	BatchFreed func(b BatchInfo)

	// SampleDone is called by the worker after every attempt to place a sample, or several by one call, whether it
	// succeeded or not.
	SampleDone func(s SampleInfo)
	// SampleFailed is called by the worker for every sample that cannot be placed.
	SampleFailed func(err *SampleError)
}

// A BatchInfo says which batch a [Trace] is about.
type BatchInfo struct {
	ID       int64 // number of the batch among all that the loader has begun, in any loop, from 0
	Epoch    int
	Batch    int       // number in the epoch, from 0
	Worker   int       // the worker that began it
	Begun    time.Time // when that was
	Samples  int       // number of samples, without those that Skip has left out
	Finisher int       // the worker that finished its last sample; -1 before

	// Context has the values of the context that the loop was given, such as the parent of spans. It is done when the
	// loop ends.
	Context context.Context
}

// A SampleInfo says which sample a worker has placed, or tried to, and how long that took. If the Reader is a
// [dataset.BatchReader], the call may have placed several.
type SampleInfo struct {
	Batch  BatchInfo
	Worker int           // the worker that placed it; not Batch.Worker if it helped
	Row    int           // in the batch, from 0
	Rows   int           // number of rows that were placed by this call, mostly 1
	Index  int           // in the dataset; of the first sample, if there are several
	Begun  time.Time     // when Place was called
	Took   time.Duration // until Place returned
	Err    error         // of Place; nil if the sample was placed

	// Stages are the times that the dataset spent in its stages, in order (see [dataset.Slot.Stage]). The slice is
	// valid during the hook. It has the first 10,000 stages of a call.
	Stages []StageSpan

	l       *Loader
	samples int
}

// A StageSpan is one stay in a stage while a sample was placed.
type StageSpan struct {
	Name  string        // as given to [dataset.Slot.Stage]
	Begun time.Duration // since SampleInfo.Begun
	Took  time.Duration
}

// Name is the dataset's name for the sample, such as a file's path. It is "" if the dataset names none: see [dataset.Name].
// It may be called later, too.
func (s SampleInfo) Name() string { return s.l.team.Name(s.Index, s.samples) }

// Observe sets hooks that the loader calls while it works. If it is given several times, the hooks of all are called,
// in the order of the options.
func Observe(t Trace) Option {
	return Option{func(c *config) { c.observers = append(c.observers, t) }}
}

// infoOf describes a batch.
func infoOf(j *assemble.Job) BatchInfo {
	return BatchInfo{
		ID: j.ID, Epoch: j.Epoch(), Batch: j.Number(), Worker: j.Worker,
		Begun: j.Begun, Samples: len(j.Slab.Indices), Finisher: j.Finisher,
		Context: j.Context,
	}
}

// hooks are those that the workers call, of all observers. They are nil if no observer has them.
func (l *Loader) hooks() (h assemble.Hooks) {
	for _, t := range l.cfg.observers {
		if hook := t.BatchBegun; hook != nil {
			h.Begun = append(h.Begun, func(j *assemble.Job) { hook(infoOf(j)) })
		}
		if hook := t.BatchReady; hook != nil {
			h.Ready = append(h.Ready, func(j *assemble.Job) { hook(infoOf(j), time.Since(j.Begun)) })
		}
		if hook := t.BatchFreed; hook != nil {
			h.Freed = append(h.Freed, func(j *assemble.Job) { hook(infoOf(j)) })
		}
		if hook := t.SampleDone; hook != nil {
			h.Placed = append(h.Placed, func(a assemble.Attempt) { hook(l.sampleInfo(a)) })
		}
		if hook := t.SampleFailed; hook != nil {
			h.Failed = append(h.Failed, func(f *assemble.Failure) { hook((*SampleError)(f)) })
		}
	}
	return h
}

func (l *Loader) sampleInfo(a assemble.Attempt) SampleInfo {
	return SampleInfo{
		Batch: infoOf(a.Job), Worker: a.Worker, Row: a.Row, Rows: a.Rows, Index: a.Index,
		Begun: a.Begun, Took: a.Took, Err: a.Err, Stages: spans(a.Stages),
		l: l, samples: a.Job.Plan.Samples,
	}
}

// spans are the same spans, not copied: the two types differ in nothing but their names.
func spans(s []slots.Span) []StageSpan {
	var _ = StageSpan(slots.Span{}) // does not compile otherwise
	return unsafe.Slice((*StageSpan)(unsafe.SliceData(s)), len(s))
}

// announce calls the hooks LoaderMade. If one fails, the loader is closed.
func (l *Loader) announce() error {
	for _, t := range l.cfg.observers {
		if t.LoaderMade != nil {
			if err := usercode.Call(func() error { return t.LoaderMade(l) }); err != nil {
				return errors.Join(fmt.Errorf("loader: hook LoaderMade: %w", err), l.Close())
			}
		}
		l.announced++
	}
	return nil
}

// farewell calls the hooks LoaderClosed of the observers whose LoaderMade has succeeded.
func (l *Loader) farewell() (err error) {
	for _, t := range l.cfg.observers[:l.announced] {
		if t.LoaderClosed != nil {
			err = errors.Join(err, usercode.Call(t.LoaderClosed))
		}
	}
	return err
}
