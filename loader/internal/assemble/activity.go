package assemble

import (
	"cmp"
	"slices"
	"time"
)

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

// Activities is what the workers do, by number, then abandoned workers, then errands. It calls the dataset for the
// names of samples.
func (t *Team) Activities() (all []Activity) {
	t.mu.Lock()
	unnamed := activities(slices.Concat(t.workers, t.abandoned), t.errands)
	t.mu.Unlock()
	for _, a := range unnamed {
		a.Name = t.Name(a.Index, a.samples)
		all = append(all, a.Activity)
	}
	return all
}

// An activity is one without the name of its sample.
type activity struct {
	Activity
	samples int // in the dataset, as the loop has it
}

// activities is what workers and errands do. The Team's mutex is held.
func activities(workers []*worker, errands []*errand) (all []activity) {
	for _, w := range workers {
		a := activity{Activity: w.activity()}
		if w.loop != nil {
			a.samples = w.loop.from.Samples
		}
		all = append(all, a)
	}
	for _, p := range errands {
		all = append(all, activity{Activity: Activity{Worker: -1, Doing: p.doing, Epoch: -1, Batch: -1, Index: -1, For: time.Since(p.begun)}})
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
	a.Doing, a.Stage, a.For = doing(what), w.clock.Current(), w.lasts()
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

// timedOut is the error of a Next that waited too long.
func (l *Loop) timedOut() *Timeout {
	t := l.t
	t.mu.Lock()
	e := &Timeout{Kept: t.cfg.Pool.Out() - len(t.orphans())}
	errands := t.errands
	epoch, planning := l.cursor.Planning()
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
	calls := activities(slices.Concat(t.workers, t.abandoned), errands)
	t.mu.Unlock()
	e.Stuck = t.stuck(calls)
	return e
}

// stuck lists those activities that are calls, the longest first, with the names of their samples.
func (t *Team) stuck(all []activity) []Activity {
	all = slices.DeleteFunc(all, func(a activity) bool { return !a.Calls() })
	slices.SortFunc(all, func(a, b activity) int { return cmp.Compare(b.For, a.For) })
	calls := make([]Activity, len(all))
	for i, a := range all {
		calls[i] = a.Activity
	}
	if len(calls) > 0 {
		t.nameInTime(calls, all)
	}
	return calls
}

// nameInTime gives the calls the names of their samples. It waits for the dataset no longer than the Timeout, because a
// name may have to wait for the call that hangs.
func (t *Team) nameInTime(calls []Activity, of []activity) {
	names := make(chan string, len(calls)) // has room for all
	name := func() error {
		for _, a := range of {
			names <- t.Name(a.Index, a.samples)
		}
		return nil
	}
	t.mu.Lock()
	t.background("naming samples", name, func(error) { close(names) })
	t.mu.Unlock()
	timer := time.NewTimer(t.cfg.Timeout)
	defer timer.Stop()
	for i := range calls {
		select {
		case calls[i].Name = <-names: // empty if the dataset has ended the goroutine
		case <-timer.C:
			return
		}
	}
}
