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
//     another load: begin again. Whenever that happens soon after the last time, it takes twice as
//     many measurements to believe it, so a load that is never the same does not keep it busy.
//
// If the loop body is the limit, workers that it does not need are parked. If the loop waits then, they come back, and
// it takes longer until some are parked again.
//
// Where reads are most of the time but the program keeps the processors busy, reads may copy data that is in memory, or
// the rest of the program may compute. One step to twice as many workers tells: if they load a third more, reads wait,
// and the stages alone count.
//
// Batches that take unequal times make workers wait for memory while the loop waits for one slow sample. Then there are
// twice as many slabs, and so on up to those that workers can fill while the slowest batch is assembled: more of them
// would stay empty.
package tune

import (
	"fmt"
	"math"
	"time"
)

const (
	// Most is how many workers there are at most, unless there are more processors: each may have an open file, and
	// memory of its own.
	Most = 256
	// cheap is the time of a sample below which workers that share a batch are in each other's way.
	cheap = 20 * time.Microsecond

	reserve = 1.4  // more workers than computed: samples take unequal times, and few of them were measured
	waits   = 1.2  // workers wait if so many times as many could compute: measurements vary by less
	missing = 1.1  // the same for more workers than processors, which are known to wait
	change  = 1.3  // ratio of speeds that is another load: those of one load differ by less
	longest = 16   // by how much a step multiplies: a wrong measurement does not cost everything
	bound   = 0.03 // share of its time that the loop waits, below which its body is the limit

	short    = 100 * time.Millisecond // of a measurement with few workers
	usual    = 200 * time.Millisecond // of other ones: some time slices of a busy system
	patience = 64                     // windows at most until another load is believed
	holdTime = 30 * time.Second       // until workers are parked again, the first time
	holdMost = 10 * time.Minute
)

// A Window is what a loader did in some time.
type Window struct {
	Took    time.Duration
	Samples int           // that workers began to place
	Batches int           // delivered
	Waited  time.Duration // of Took, by the loop
	Slowest time.Duration // what a batch took from its begin until it was complete, at most
	Idle    time.Duration // of active workers without work, all together
	Short   time.Duration // of Idle, because no slab was free
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
	w.Slowest = max(w.Slowest, v.Slowest)
	w.Idle += v.Idle
	w.Short += v.Short
	w.Reads += v.Reads
	w.Reading += v.Reading
	w.Staged += v.Staged
	w.Used += v.Used
	w.Timed = v.Timed
}

func (w *Window) rate() float64 { return float64(w.Samples) / w.Took.Seconds() }

// read is the mean time of a read.
func (w *Window) read() time.Duration { return w.Reading / time.Duration(max(1, w.Reads)) }

// bodyBound reports whether the loop body is the limit.
func (w *Window) bodyBound() bool { return float64(w.Waited) < bound*float64(w.Took) }

// busy is the time that so many workers had work.
func (w *Window) busy(workers int) time.Duration {
	return max(time.Duration(workers)*w.Took-w.Idle, 1)
}

// sample is the time of a sample, in seconds.
func (w *Window) sample(workers int) float64 {
	return w.busy(workers).Seconds() / float64(max(1, w.Samples))
}

// Limits are what a Tuner must not exceed.
type Limits struct {
	Processors int
	Samples    int  // that can be placed at once: those of an epoch, and of all batches in memory
	Rows       int  // of a batch
	Slabs      int  // that there are
	Deeper     bool // whether there may be more
}

// A Choice is what a Tuner has decided.
type Choice struct {
	Workers int
	Depth   int    // how many times as many slabs as usual
	Tiny    bool   // whether samples are so cheap that workers do not share batches
	Gained  int    // the workers that load much more than fewer did; 0 if none do, or that is not known
	Changes int    // of Workers
	Reason  string // in words
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
	phase   phase
	settles bool   // whether the next window belongs to the time before the last change
	most    int    // workers
	why     string // there are no more than most, in words; empty for the usual reason
	before  known  // with the number before any step
	step    known  // with that before the last step
	last    known  // with the number that is settled

	doubts bool // whether it tries whether reads wait although processors are busy
	trusts bool // whether they do

	odd, patience int           // windows in a row of another load, and how many it takes
	calm          time.Duration // since the load last changed
	parking       parking
}

// known is what is known of a load.
type known struct {
	workers int
	rate    float64 // samples per second
	sample  float64 // seconds
	read    time.Duration
}

// parking is what a Tuner has parked.
type parking struct {
	from  int           // workers before; 0 if none are parked
	bound int           // windows in a row in which the loop body was the limit
	since time.Duration // since workers came back
	hold  time.Duration // how long it is then until some are parked again
}

// New begins with a worker per processor.
func New(processors int) *Tuner {
	return &Tuner{
		Choice: Choice{Workers: processors, Depth: 1, Reason: "a worker per processor to begin with"},
		most:   max(Most, processors), patience: 2,
	}
}

// Step is told what the loader did since Step last reported true. It reports whether that was enough to decide, and
// then the choice may be another one.
func (t *Tuner) Step(w Window, l Limits) bool {
	if !t.full(&w) {
		return false
	}
	t.Tiny = w.sample(t.Workers) < cheap.Seconds()
	t.calm += w.Took
	t.parking.since += w.Took
	switch {
	case t.settles:
		t.settles = false
	case w.bodyBound():
		t.park(&w)
	case t.unpark() || t.deepen(&w, l):
	case t.phase == measuring:
		t.grow(&w, l)
	case t.phase == verifying:
		t.verify(&w, l)
	default:
		t.watch(&w, l)
	}
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
func (t *Tuner) needs(w *Window, l Limits) (need, waiting float64) {
	busy, body := w.busy(t.Workers), w.Took-w.Waited
	computed, staged := w.Staged-w.Reading, w.Staged > busy/2
	switch {
	case !staged && !w.Timed:
		return 0, 0
	case w.Timed && !staged:
		computed = w.Used
	case w.Timed && !t.trusts:
		computed = min(w.Used, max(w.Used-body, computed))
	}
	need = float64(l.Processors) * float64(busy) / float64(max(computed, 1))
	waiting = max(0, 1-float64(computed)/float64(busy))
	if w.Batches > 0 && body > 0 {
		need = min(need, w.sample(t.Workers)*float64(w.Batches*l.Rows)/body.Seconds())
	}
	return need, waiting
}

// grow goes to the number of workers that follows from how much they wait.
func (t *Tuner) grow(w *Window, l Limits) {
	need, waiting := t.needs(w, l)
	now := known{t.Workers, w.rate(), w.sample(t.Workers), w.read()}
	n := int(min(math.Ceil(reserve*need), float64(longest*t.Workers)))
	reason := fmt.Sprintf("%s waited for %.0f%% of their time", crew(t.Workers), 100*waiting)
	switch {
	case need >= waits*float64(t.Workers), need >= missing*float64(t.Workers) && t.Workers > l.Processors:
	case t.step.workers*longest == t.Workers && need > float64(t.Workers): // the last step was cut short
	case t.Workers == l.Processors && !t.doubts && w.Timed && w.Reading > w.Staged*3/4 && w.Staged > w.busy(t.Workers)/2 && float64(w.Used)*waits > float64(l.Processors)*float64(w.Took):
		t.doubts, n, reason = true, 2*t.Workers, "tries whether reads wait, although processors are busy"
	default:
		t.settle(now)
		if need == 0 {
			t.Reason = "neither the system nor the dataset's stages tell whether workers wait"
		} else if t.Workers <= l.Processors {
			t.Reason = "workers compute rather than wait"
		}
		return
	}
	if n = min(n, t.most, max(l.Processors, l.Samples)); n <= t.Workers {
		t.settle(now)
		return
	}
	if t.before.workers == 0 {
		t.before = now
	}
	t.step, t.phase = now, verifying
	t.set(n, reason)
}

// verify compares what more workers load with what follows from their number.
func (t *Tuner) verify(w *Window, l Limits) {
	now := known{t.Workers, w.rate(), w.sample(t.Workers), w.read()}
	gained := now.rate / t.before.rate
	served := int(math.Ceil(reserve * now.rate * t.before.sample))
	need, _ := t.needs(w, l)
	t.Gained = 0
	if gained > change {
		t.Gained = t.Workers
	}
	switch before := t.before; {
	case t.doubts && gained < change:
		t.settle(before)
		t.set(before.workers, fmt.Sprintf("reads compute, or %s load no more than %d", crew(now.workers), before.workers))
	case t.doubts:
		t.doubts, t.trusts = false, true
		t.grow(w, l)
	case served < t.Workers/2 && need > waits*float64(t.Workers): // processors are not the limit
		now.workers = max(served, min(l.Processors, t.Workers))
		t.settle(now)
		t.set(now.workers, crew(t.Workers)+" do not load more")
	case now.rate/t.step.rate-1 > (float64(t.Workers)/float64(t.step.workers)-1)/2:
		t.grow(w, l) // because at least half of the step was worth it
	default:
		t.settle(now)
	}
}

// settle ends the search: from now on it only watches.
func (t *Tuner) settle(now known) {
	t.phase, t.last, t.before, t.odd = watching, now, known{}, 0
	t.step, t.doubts = known{}, false
}

// watch looks whether the load is another one. That needs several windows as evidence.
func (t *Tuner) watch(w *Window, l Limits) {
	rate, faster := w.rate(), t.last.read > 0 && w.Reads > 0 && w.read() < t.last.read/2 && t.Workers > l.Processors
	if t.last.rate == 0 { // not known with so many workers
		t.last.rate, t.last.read = rate, w.read()
	}
	if rate < change*t.last.rate && rate*change > t.last.rate && !faster {
		t.odd = 0
		t.last.rate += (rate - t.last.rate) / 8
		return
	}
	if t.odd++; t.odd < t.patience {
		return
	}
	if t.calm > time.Minute {
		t.patience = 2
	} else {
		t.patience = min(2*t.patience, patience)
	}
	n := t.Workers
	if faster || rate > t.last.rate {
		n = min(n, l.Processors) // fewer may be enough now
	}
	t.calm = 0
	t.again(n, "the load has changed")
}

// again begins again with so many workers.
func (t *Tuner) again(workers int, reason string) {
	t.phase, t.before, t.last, t.odd = measuring, known{}, known{}, 0
	t.Gained, t.doubts, t.trusts = 0, false, false
	t.set(workers, reason)
}

// set changes the number of workers.
func (t *Tuner) set(workers int, reason string) {
	if t.Reason = reason; workers == t.most && t.why != "" {
		t.Reason = t.why
	}
	if workers != t.Workers {
		t.Workers, t.settles = workers, true
		t.Changes++
		t.last.rate = 0
	}
}

// park parks workers that the loop body does not need. It needs two windows as evidence.
func (t *Tuner) park(w *Window) {
	p := &t.parking
	p.bound++
	if t.phase == verifying || t.phase == watching {
		t.again(t.Workers, "")
	}
	n := max(1, int(math.Ceil(reserve*float64(w.busy(t.Workers))/float64(w.Took))))
	if n < t.Workers && p.bound > 1 && p.since >= p.hold {
		p.from = max(p.from, t.Workers)
		t.set(n, "")
	}
	t.Reason = "the loop body is the limit, and " + are(t.Workers) + " enough for it"
}

// unpark takes parked workers back, if there are any: the loop waits.
func (t *Tuner) unpark() bool {
	p := &t.parking
	p.bound = 0
	if p.from <= t.Workers {
		p.from = 0
		return false
	}
	t.again(min(p.from, 2*t.Workers, t.most), "the loop waited with "+crew(t.Workers))
	p.since, p.hold = 0, min(max(holdTime, 2*p.hold), holdMost)
	return true
}

// deepen asks for more slabs if workers wait for memory while the loop waits for them, unless there are as many as they
// can fill while the slowest batch is assembled.
func (t *Tuner) deepen(w *Window, l Limits) bool {
	const share = 4 // of the time that both wait at least, or they wait for something else as well
	if !l.Deeper || t.Tiny || w.Waited < w.Took/share || w.Short < time.Duration(t.Workers)*w.Took/share {
		return false
	}
	if filled := float64(t.Workers) * w.Slowest.Seconds() / w.sample(t.Workers); filled < float64(l.Slabs*l.Rows) {
		return false
	}
	t.Depth *= 2
	t.settles = true
	t.phase, t.before = measuring, known{} // what was measured with fewer slabs says little
	t.Reason = "batches take unequal times, so there are more of them in flight"
	return true
}

// Limit says that there can be no more workers than that.
func (t *Tuner) Limit(most int, reason string) {
	if most >= t.most {
		return
	}
	t.most, t.why, t.parking.from = most, reason, min(t.parking.from, most)
	t.again(min(t.Workers, most), reason)
}

func crew(n int) string {
	if n == 1 {
		return "1 worker"
	}
	return fmt.Sprintf("%d workers", n)
}

func are(n int) string {
	if n == 1 {
		return "1 worker is"
	}
	return crew(n) + " are"
}
