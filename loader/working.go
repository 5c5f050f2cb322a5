package loader

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// An Activity is what a goroutine of a loader does at the moment.
type Activity struct {
	Worker int    // the worker's number; -1 for the loop itself and for a goroutine that plans an epoch
	Doing  string // such as "placing a sample", "waiting for memory" or "running the loop body"; empty between two activities

	Epoch, Batch int    // the batch that the worker works on; -1 and -1 if it waits
	Index        int    // the sample that is placed; -1 if none is
	Name         string // the dataset's name for the sample; may be empty
	Stage        string // the stage that the dataset reports, such as read or decode; may be empty

	// For is how long this has lasted. With neither a [Timeout] nor hooks, calls are not timed one by one,
	// and count from when the worker began with the batch.
	For time.Duration
}

// String describes the activity, as in "worker 0: sample 5 (cat.jpg) for 1m0s in stage
// read".
func (a Activity) String() string {
	var b strings.Builder
	if a.Worker >= 0 {
		fmt.Fprintf(&b, "worker %d: ", a.Worker)
	}
	if a.Index >= 0 {
		fmt.Fprintf(&b, "sample %d", a.Index)
	} else {
		b.WriteString(a.Doing)
	}
	if a.Name != "" {
		fmt.Fprintf(&b, " (%s)", a.Name)
	}
	fmt.Fprintf(&b, " for %v", a.For.Round(time.Millisecond))
	if a.Stage != "" {
		fmt.Fprintf(&b, " in stage %s", a.Stage)
	}
	return b.String()
}

// What a goroutine does that is in no call of user code.
const (
	awaitsBatch  = "waiting for a batch"
	awaitsMemory = "waiting for memory"
	awaitsWork   = "waiting for work"
	parked       = "parked"
	runsBody     = "running the loop body"
)

// Calls reports whether the goroutine is in a call of the dataset, the sampler or a hook,
// or waits for samples of a dataset of unknown length.
func (a Activity) Calls() bool {
	switch a.Doing {
	case "", awaitsBatch, awaitsMemory, awaitsWork, parked, runsBody:
		return false
	}
	return true
}

// Working says what the loop and the workers are doing: first the loop, if one runs,
// then the workers by number, then workers of earlier loops whose calls have not
// returned, then goroutines that plan epochs. It may be called at any time, by any
// goroutine. It calls the dataset for the names of samples.
func (l *Loader) Working() []Activity {
	var all []Activity
	if loop, ok := l.counts.loop(); ok {
		all = append(all, loop)
	}
	l.mu.Lock()
	others := activities(slices.Concat(l.workers, l.strays), l.plannings)
	l.mu.Unlock()
	for _, a := range others {
		a.Name = l.name(a.Index, a.samples)
		all = append(all, a.Activity)
	}
	return all
}

// loop is what the loop does, if one runs.
func (c *counts) loop() (a Activity, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.since.IsZero() {
		return a, false
	}
	a = Activity{Worker: -1, Doing: awaitsBatch, Epoch: -1, Batch: -1, Index: -1, For: time.Since(c.since)}
	if c.inBody {
		a.Doing = runsBody
	}
	return a, true
}

// An activity is one without the name of its sample.
type activity struct {
	Activity
	samples int // in the dataset, as the run has it
}

// activities is what workers and plannings do. The caller holds the loader's mutex.
func activities(workers []*worker, plannings []*planning) (all []activity) {
	for _, w := range workers {
		a := activity{Activity: w.activity()}
		if w.run != nil {
			a.samples = w.run.from.Samples
		}
		all = append(all, a)
	}
	for _, p := range plannings {
		all = append(all, activity{Activity: Activity{Worker: -1, Doing: p.doing, Epoch: -1, Batch: -1, Index: -1, For: time.Since(p.begun)}})
	}
	return all
}

// activity is what the worker does, without the sample's name. The caller holds the
// loader's mutex.
func (w *worker) activity() Activity {
	a := Activity{Worker: w.id, Epoch: -1, Batch: -1, Index: -1}
	if w.idle != "" {
		a.Doing, a.For = w.idle, time.Since(w.slept)
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
		a.Epoch, a.Batch = j.Plan.Epoch, j.Plan.Number(j.K)
	}
	return a
}
