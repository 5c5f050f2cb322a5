package assemble

import (
	"cmp"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"sync/atomic"
	"time"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/loader/internal/usercode"
)

// A call says which user code a worker is in, and since when. Only the worker writes it. Any goroutine may read it.
type call struct {
	what  atomic.Int64 // a sample's index plus one, or one of the constants below; 0 if there is no call
	since atomic.Int64 // nanoseconds from Team.made to the call, or to the worker's batch unless calls are timed
}

// The purpose of a call that does not place a sample.
const (
	drawing = -1 - iota
	finishing
	observing
	opening
	reporting
	closing
	fetching
	naming
)

// purposes are the same in words, and the last one is that of placing a sample.
var purposes = [...]string{
	"drawing a batch", "finishing a batch", "calling a hook", "opening the dataset", "reporting a failure", "closing its Reader",
	"fetching a batch", "naming a sample", "placing a sample",
}

// doing is the purpose of a call, in words.
func doing(what int64) string {
	if what >= 0 {
		return purposes[len(purposes)-1]
	}
	return purposes[-1-what]
}

// guard calls user code: to place the sample of that index, or for one of the purposes above. A panic becomes an error.
// All user code that workers call is called by it, or as it does.
func (w *worker) guard(what int, f func() error) (err error) {
	returned := false
	defer w.called(what, &returned, &err)
	w.enter(what)
	err = f()
	returned = true
	return err
}

// called is deferred around a call of user code.
func (w *worker) called(what int, returned *bool, err *error) {
	w.call.end()
	if *returned {
		return
	}
	v := recover()
	if v == nil {
		w.exited(what)
		return
	}
	*err = &dataset.PanicError{Value: v, Stack: debug.Stack()}
	if what >= 0 || what == fetching { // the Reader may be in any state
		*err = errors.Join(*err, w.close())
	}
}

// exited is called when user code has called runtime.Goexit, which ends the worker's goroutine after the deferred
// functions. The loop ends with an error that names the call, in the place of the batch that the worker works on.
func (w *worker) exited(what int) {
	err := fmt.Errorf("%s: %w", doing(int64(what)), usercode.ErrGoexit)
	w.clock.Stop()
	switch j := w.at.Load(); {
	case j == nil && what == closing:
		w.t.keepError(fmt.Errorf("loader: close dataset: %w", usercode.ErrGoexit))
	case j == nil:
		w.loop.failWorker(w, err)
	case what == drawing || what == finishing:
		w.loop.abort(j, j.wrap(err))
	default:
		e := &Failure{Index: w.index, Epoch: j.Epoch(), Batch: j.Number(), Err: err}
		defer w.loop.abort(j, e) // also if Name ends the goroutine once more
		if what != naming {
			e.Name = w.t.Name(w.index, j.Plan.Samples)
		}
	}
}

// enter notes that the worker calls user code: to place the sample of that index, or for one of the purposes above.
func (w *worker) enter(index int) {
	if w.t.cfg.Timed {
		w.call.since.Store(int64(time.Since(w.t.made)))
	}
	if index >= 0 {
		index++
	}
	w.call.what.Store(int64(index))
}

// stamp notes when the worker has begun with a batch. If its calls are not timed, they count from then on.
func (w *worker) stamp(at time.Time) { w.call.since.Store(int64(at.Sub(w.t.made))) }

func (c *call) end() { c.what.Store(0) }

// callTime is how long the worker has been in its call, or 0 if it is in none.
func (w *worker) callTime() time.Duration {
	if w.call.what.Load() == 0 {
		return 0
	}
	return time.Since(w.t.made) - time.Duration(w.call.since.Load())
}

// An Activity is what a goroutine does at the moment: the public type of package loader, which documents it.
type Activity struct {
	Worker int
	Doing  string

	Epoch, Batch int
	Index        int
	Name         string
	Stage        string

	For time.Duration
}

// What a goroutine does that is in no call of user code. The first two are the loop's own goroutine.
const (
	WaitsForBatch   = "waiting for a batch"
	RunsBody        = "running the loop body"
	waitsForMemory  = "waiting for memory"
	waitsForWork    = "waiting for work"
	waitsToBeActive = "parked"
)

// Calls reports whether the goroutine is in a call of the dataset, the sampler or a hook, or waits for samples of a
// dataset of unknown length.
func (a Activity) Calls() bool {
	switch a.Doing {
	case "", WaitsForBatch, RunsBody, waitsForMemory, waitsForWork, waitsToBeActive:
		return false
	}
	return true
}

// Activities is what the workers do, by number, then errands. It calls the dataset for the names of samples.
func (t *Team) Activities() (all []Activity) {
	t.mu.Lock()
	calls := activities(t.workers, t.errands)
	t.mu.Unlock()
	for _, a := range calls {
		a.Name = t.Name(a.Index, a.samples)
		all = append(all, a.Activity)
	}
	return all
}

// An unnamed is an Activity without the name of its sample.
type unnamed struct {
	Activity
	samples int // in the dataset, as the loop has it
}

// activities is what workers and errands do. The Team's mutex is held.
func activities(workers []*worker, errands []*errand) (all []unnamed) {
	for _, w := range workers {
		a := unnamed{Activity: w.activity()}
		if w.loop != nil {
			a.samples = w.loop.from.Samples
		}
		all = append(all, a)
	}
	for _, p := range errands {
		all = append(all, unnamed{Activity: Activity{Worker: -1, Doing: p.doing, Epoch: -1, Batch: -1, Index: -1, For: time.Since(p.begun)}})
	}
	return all
}

// activity is what the worker does, without the sample's name. The Team's mutex is held.
func (w *worker) activity() Activity {
	a := Activity{Worker: w.id, Epoch: -1, Batch: -1, Index: -1}
	if w.waits != "" {
		a.Doing, a.For = w.waits, time.Since(w.slept)
		return a
	}
	what := w.call.what.Load()
	if what == 0 {
		return a
	}
	a.Doing, a.Stage, a.For = doing(what), w.clock.Current(), w.callTime()
	if what > 0 {
		a.Index = int(what) - 1
	}
	if j := w.at.Load(); j != nil && what != opening && what != closing {
		a.Epoch, a.Batch = j.Epoch(), j.Number()
	}
	return a
}

// A Timeout says what kept a batch from being complete in time, or [Team.Close] from ending.
type Timeout struct {
	Epoch, Batch int
	Stuck        []Activity // calls that have not returned, the longest first
	Kept         int        // slabs that are delivered and not released
}

func (*Timeout) Error() string { return "loader: timed out" }

// timeoutError is the error of a Next that waited too long.
func (l *Loop) timeoutError() *Timeout {
	t := l.t
	t.mu.Lock()
	e := &Timeout{Kept: t.cfg.Pool.Out()}
	errands := t.errands
	epoch, planning := l.cursor.Upcoming()
	switch at := l.cursor.At(); {
	case len(l.inFlight) > 0:
		j := l.inFlight[0]
		e.Epoch, e.Batch = j.Epoch(), j.Number()
		errands = nil // the batch does not need them
	case planning:
		e.Epoch = epoch
	case at.Plan != nil:
		e.Epoch, e.Batch = at.Plan.Epoch, at.Plan.Number(at.K)
	}
	calls := activities(t.workers, errands)
	t.mu.Unlock()
	e.Stuck = t.stuck(calls)
	return e
}

// stuck lists those activities that are calls, the longest first. They have the names of their samples, unless the
// dataset needs longer than the Timeout to tell them, because a name may have to wait for the call that hangs.
func (t *Team) stuck(all []unnamed) []Activity {
	all = slices.DeleteFunc(all, func(a unnamed) bool { return !a.Calls() })
	slices.SortFunc(all, func(a, b unnamed) int { return cmp.Compare(b.For, a.For) })
	names := make([]string, len(all))
	t.mu.Lock()
	ended := t.background("naming samples", func() error {
		for i, a := range all {
			names[i] = t.Name(a.Index, a.samples)
		}
		return nil
	}, func(error) {})
	t.mu.Unlock()
	named := t.waitFor(ended)
	calls := make([]Activity, len(all))
	for i, a := range all {
		calls[i] = a.Activity
		if named {
			calls[i].Name = names[i]
		}
	}
	return calls
}
