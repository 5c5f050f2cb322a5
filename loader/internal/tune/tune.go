// Package tune decides how many workers a loader has. Numbers go in, a number and a reason come out: it has no clock,
// no goroutine and no effect on anything else.
//
// A loader begins with a worker per processor. That is right where samples compute. Where workers wait, for storage as
// a rule, more of them help, and Little's law says how many: if N workers that are busy keep U processors busy, then
// N·P/U of them keep all P busy. A loop body that takes at most R samples per second needs no more than R times as many
// workers as a sample takes seconds. So the rule is:
//
//  1. Measure until every worker has placed some samples. U is the processor time of the program,
//     with the time that its threads waited for a processor, which other programs had. It counts
//     the loop body too: where the dataset's stages say that samples compute less, as much as the
//     body can have used is taken off. If the system does not tell the processor time, the stages
//     alone count. Without either, the number stays as it is.
//  2. If workers wait for a sixth of their time or more, go to the number that follows, and two
//     fifths more, because samples take unequal times. A step multiplies by 16 at most.
//  3. Measure once more. If storage does not serve so many reads at once, Little's law gives
//     the number that it serves from the speed and the time that a sample took before: go back to
//     that. If the step was too short, take another one.
//  4. From then on only watch. If the speed changes by a third, or reads take half as long, it is
//     another load: begin again. Every time takes twice as many measurements to believe it, until
//     a minute has passed without, so a load that is never the same does not keep it busy.
//
// If the loop body is the limit, the number stays as it is.
package tune

import (
	"fmt"
	"math"
	"time"

	"github.com/penstock-go/penstock/internal/figures"
)

const (
	// Most is how many workers there are at most, unless there are more processors: each may have an open file, and
	// memory of its own.
	Most = 256

	reserve = 1.4  // more workers than computed: samples take unequal times, and few of them were measured
	waits   = 1.2  // workers wait if so many times as many could compute: measurements vary by less
	missing = 1.1  // the same for more workers than processors, which are known to wait
	change  = 1.3  // ratio of speeds that is another load: those of one load differ by less
	longest = 16   // by how much a step multiplies: a wrong measurement does not cost everything
	bound   = 0.03 // share of its time that the loop waits, below which its body is the limit

	short    = 100 * time.Millisecond // of a measurement with few workers
	usual    = 200 * time.Millisecond // of other ones: some time slices of a busy system
	patience = 64                     // windows at most until another load is believed
)

// A Window is what a loader did in some time.
type Window struct {
	Took    time.Duration
	Samples int           // that workers began to place
	Batches int           // delivered
	Waited  time.Duration // of Took, by the loop
	Idle    time.Duration // of active workers without work, all together
	Reads   int64
	Reading time.Duration // in the stage "read", all workers together
	Staged  time.Duration // in all stages, all workers together
	Used    time.Duration // processor time that the program had, or waited for
	Timed   bool          // whether Used is known
}

// Add adds what came after w.
func (w *Window) Add(v Window) {
	w.Took += v.Took
	w.Samples += v.Samples
	w.Batches += v.Batches
	w.Waited += v.Waited
	w.Idle += v.Idle
	w.Reads += v.Reads
	w.Reading += v.Reading
	w.Staged += v.Staged
	w.Used += v.Used
	w.Timed = v.Timed
}

// bodyBound reports whether the loop body is the limit.
func (w *Window) bodyBound() bool { return float64(w.Waited) < bound*float64(w.Took) }

// busy is the time that so many workers had work.
func (w *Window) busy(workers int) time.Duration {
	return max(time.Duration(workers)*w.Took-w.Idle, 1)
}

// measured is what the window tells of a load with so many workers.
func (w *Window) measured(workers int) known {
	return known{
		workers: workers,
		rate:    float64(w.Samples) / w.Took.Seconds(),
		sample:  w.busy(workers).Seconds() / float64(max(1, w.Samples)),
		read:    w.Reading / time.Duration(max(1, w.Reads)),
	}
}

// known is what is known of a load.
type known struct {
	workers int
	rate    float64 // samples per second
	sample  float64 // seconds
	read    time.Duration
}

// Limits are what a Tuner must not exceed.
type Limits struct {
	Processors int
	Workers    int // at most
	Rows       int // of a batch
}

// A Choice is what a Tuner has decided.
type Choice struct {
	Workers int
	Changes int    // of Workers
	Reason  string // in words; while the loop body is the limit it says so
}

// A phase is what a Tuner does with the next window.
type phase int

const (
	measuring phase = iota // to find the number
	verifying              // the number
	watching               // for another load
)

// A Tuner chooses a number of workers.
type Tuner struct {
	Choice
	why     string // the number was chosen
	phase   phase
	settles bool  // whether the next window belongs to the time before the last change
	before  known // with the number before any step
	step    known // with that before the last step
	last    known // with the number that is settled

	odd, patience int           // windows in a row of another load, and how many it takes
	calm          time.Duration // since the load last changed
}

// New begins with a worker per processor.
func New(processors int) *Tuner {
	const why = "a worker per processor to begin with"
	return &Tuner{Choice: Choice{Workers: processors, Reason: why}, why: why, patience: 2}
}

// Step is told what the loader did since Step last reported true. It reports whether that was enough to decide, and
// then the choice may be another one.
func (t *Tuner) Step(w Window, l Limits) bool {
	if !t.full(&w) {
		return false
	}
	t.calm += w.Took
	l.Workers = max(l.Workers, 1)
	now := w.measured(t.Workers)
	switch {
	case t.settles:
		t.settles = false
	case w.bodyBound():
		t.Reason = "the loop body is the limit"
		return true
	case t.phase == measuring:
		t.grow(&w, now, l)
	case t.phase == verifying:
		t.verify(&w, now, l)
	default:
		t.watch(now, l)
	}
	t.Reason = t.why
	return true
}

// full reports whether the window is evidence.
func (t *Tuner) full(w *Window) bool {
	switch {
	case w.Took >= time.Second && w.Batches > 1 && w.bodyBound():
		return true // many workers would take long to place a few samples each
	case t.settles:
		return w.Took >= short/2 && w.Samples >= t.Workers
	case t.phase == measuring:
		return w.Took >= short && w.Samples >= 3*t.Workers
	}
	// A window with one long loop body says nothing of waiting.
	return w.Took >= usual && w.Samples >= max(16, 4*t.Workers) && w.Batches != 1
}

// needs is the number of workers that keep the processors, or the loop body, busy, and the share of their time that
// workers wait. The number is 0 if that is not known.
func (t *Tuner) needs(w *Window, now known, l Limits) (need, waiting float64) {
	busy, body := w.busy(t.Workers), w.Took-w.Waited
	computed, staged := w.Staged-w.Reading, w.Staged > busy/2
	switch {
	case !staged && !w.Timed:
		return 0, 0
	case w.Timed && !staged:
		computed = w.Used
	case w.Timed:
		computed = min(w.Used, max(w.Used-body, computed))
	}
	need = float64(l.Processors) * float64(busy) / float64(max(computed, 1))
	waiting = max(0, 1-float64(computed)/float64(busy))
	if w.Batches > 0 && body > 0 {
		need = min(need, now.sample*float64(w.Batches*l.Rows)/body.Seconds())
	}
	return need, waiting
}

// grow goes to the number of workers that follows from how much they wait.
func (t *Tuner) grow(w *Window, now known, l Limits) {
	need, waiting := t.needs(w, now, l)
	wait := need >= waits*float64(t.Workers) ||
		need >= missing*float64(t.Workers) && t.Workers > l.Processors ||
		need > float64(t.Workers) && t.step.workers*longest == t.Workers // the last step was cut short
	n := min(int(math.Ceil(min(reserve*need, float64(longest*t.Workers)))), max(l.Processors, l.Workers))
	switch {
	case wait && n > t.Workers:
		if t.before.workers == 0 {
			t.before = now
		}
		t.step, t.phase = now, verifying
		t.set(n, fmt.Sprintf("%s waited for %.0f%% of their time", crew(t.Workers), 100*waiting))
		return
	case need == 0:
		t.why = "neither the system nor the dataset's stages tell whether workers wait"
	case !wait && t.Workers <= l.Processors:
		t.why = "workers compute rather than wait"
	}
	t.settle(now)
}

// verify compares what more workers load with what follows from their number.
func (t *Tuner) verify(w *Window, now known, l Limits) {
	served := int(math.Ceil(reserve * now.rate * t.before.sample))
	need, _ := t.needs(w, now, l)
	switch {
	case 2*served < int(w.busy(t.Workers)/w.Took) && need > waits*float64(t.Workers): // processors are not the limit
		now.workers = max(served, min(l.Processors, t.Workers))
		t.settle(now)
		t.set(now.workers, crew(t.Workers)+" do not load more")
	case now.rate/t.step.rate-1 > (float64(t.Workers)/float64(t.step.workers)-1)/2:
		t.grow(w, now, l) // because at least half of the step was worth it
	default:
		t.settle(now)
	}
}

// settle ends the search: from now on it only watches.
func (t *Tuner) settle(now known) {
	t.phase, t.last, t.before, t.step, t.odd = watching, now, known{}, known{}, 0
}

// watch looks whether the load is another one. That needs several windows as evidence.
func (t *Tuner) watch(now known, l Limits) {
	faster := t.last.read > 0 && now.read > 0 && now.read < t.last.read/2 && t.Workers > l.Processors
	if t.last.rate == 0 { // not known with so many workers
		t.last = now
	}
	if now.rate < change*t.last.rate && now.rate*change > t.last.rate && !faster {
		t.odd = 0
		t.last.rate += (now.rate - t.last.rate) / 8
		return
	}
	if t.odd++; t.odd < t.patience {
		return
	}
	if t.patience = min(2*t.patience, patience); t.calm > time.Minute {
		t.patience = 2
	}
	n := t.Workers
	if faster || now.rate > t.last.rate {
		n = min(n, l.Processors) // fewer may be enough now
	}
	t.calm = 0
	t.again(n, "the load has changed")
}

// again begins again with so many workers.
func (t *Tuner) again(workers int, reason string) {
	t.phase, t.before, t.last, t.odd = measuring, known{}, known{}, 0
	t.set(workers, reason)
}

// set changes the number of workers.
func (t *Tuner) set(workers int, reason string) {
	if t.why = reason; workers != t.Workers {
		t.Workers, t.settles = workers, true
		t.Changes++
		t.last.rate = 0
	}
}

func crew(n int) string { return figures.Count(n, "worker", "workers") }
