package loader

import (
	"slices"
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

	// For is how long this has lasted. Without a [Timeout], calls of the dataset, the
	// sampler and hooks are timed only after the first call of [Loader.Working]. For a call
	// that began earlier, it is the time since that first call. Where samples take less than
	// 20 µs on average, it is the time since the worker has begun with the batch.
	For time.Duration
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
//
// The first call makes workers note when each of their calls begins, which takes about as
// long as reading the clock. Where samples take less than 20 µs on average, they note only
// when they begin with a batch.
func (l *Loader) Working() []Activity {
	l.watched.CompareAndSwap(0, 1+int64(time.Since(l.made)))
	var all []Activity
	if loop, ok := l.counts.loop(); ok {
		all = append(all, loop)
	}
	activities, samples, plannings := l.activities()
	for i := range activities {
		if a := &activities[i]; a.Index >= 0 {
			a.Name = l.name(a.Index, samples[i])
		}
	}
	all = append(all, activities...)
	for _, p := range plannings {
		all = append(all, Activity{Worker: -1, Doing: p.doing, Epoch: -1, Batch: -1, Index: -1, For: time.Since(p.begun)})
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

// activities is what workers do, without names, and for each how many samples its
// dataset has.
func (l *Loader) activities() (all []Activity, samples []int, _ []*planning) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, w := range slices.Concat(l.workers, l.strays) {
		a := w.activity()
		n := 0
		if w.run != nil {
			n = w.run.samples
		}
		all, samples = append(all, a), append(samples, n)
	}
	return all, samples, slices.Clone(l.plannings)
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
		a.Epoch, a.Batch = j.plan.epoch, j.plan.number(j.k)
	}
	return a
}
