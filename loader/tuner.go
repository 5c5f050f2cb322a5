package loader

import (
	"fmt"
	"math"
	"time"

	"github.com/penstock-go/penstock/internal/figures"
)

// A tuner decides how many workers a loader with [Auto] has. It only computes: step is
// given what the loader did in a window of time.
//
// It searches for the least number of workers with which the loader is as fast as with
// any. It tries another number, and compares the speeds. What it learns is a bracket: at
// most lower workers are too few, and upper ones or more bring nothing. A trial halves
// the bracket, and without room in it there are no more trials. So it does not oscillate.
type tuner struct {
	processors int
	most       int    // workers
	why        string // there are no more than that
	workers    int    // that are to be active
	lower      int
	upper      int

	rate    float64 // samples per second with so many workers; 0 if not known
	windows int     // from which rate is known
	top     float64 // the speed before the first of several reductions in a row; 0 if there was none
	falls   bool    // whether it tries fewer workers before more
	trial   trial
	settles bool    // whether the next window belongs to the time before the last change
	depth   float64 // slabs for every one that so many workers need
	eased   int     // workers before some were parked; 0 if none are
	bound   int     // windows in a row in which the loop body was the limit
	burned  bool    // whether the loop waited after workers were parked

	noise    float64       // by how much the speed of usual windows varies, as a share
	odd      int           // windows in a row with another speed
	patience int           // how many such windows it takes to begin again
	calm     time.Duration // since the speed last changed
	rest     time.Duration // since the last change, without anything to try
	restFor  time.Duration // after which the bracket is forgotten

	changes int
	reason  string
}

// A trial compares two numbers of workers: the new one with what was known of the old
// one. If the new one seems better, the old one is measured once more, because meanwhile
// the machine may have become faster or slower for other reasons.
type trial struct {
	from, to int     // 0 if there is no trial
	rate     float64 // with from, before
	tried    evidence
	again    bool // whether from is being measured again
	before   evidence
}

// Evidence is what was measured with one number of workers.
type evidence struct {
	window
	count int // windows in it
}

func (e *evidence) add(w window) {
	e.window.add(w)
	e.count++
}

// margin is how much clearer than needed a ratio must be, with so much evidence.
func (e *evidence) margin() float64 { return 0.4 / float64(e.count*e.count) }

// A window is what the loader did in some time.
type window struct {
	took    time.Duration
	samples int           // that workers began to place
	batches int           // delivered
	waited  time.Duration // of took, by the loop
	idle    time.Duration // of active workers without work, all together
	short   time.Duration // of idle, because no slab was free
	reads   int64
	reading time.Duration // in the stage "read", all workers together
	other   time.Duration // in other stages
	deeper  bool          // whether there may be more slabs
}

// mostWorkers is the number of workers that Auto does not exceed.
const mostWorkers = 256

const (
	waits     = 0.03 // share of the time that the loop waits, below which the body is the limit
	gain      = 1.03 // ratio of speeds above which more workers are worth it
	loss      = 0.98 // ratio above which fewer workers are as good
	change    = 1.3  // ratio of speeds that is another load
	trials    = 6    // windows of a trial at most
	calmNoise = 0.2  // share by which the speed of usual windows may vary
	restTime  = 30 * time.Second
	restMost  = 10 * time.Minute
)

func newTuner(processors int) *tuner {
	t := &tuner{processors: processors, most: max(mostWorkers, processors), workers: processors, depth: 1, patience: 2, restFor: restTime, settles: true}
	t.forget()
	t.why = fmt.Sprintf("%s are the most that there may be", t.crew(t.most))
	t.reason = "a worker per processor to begin with"
	return t
}

// forget empties the bracket.
func (t *tuner) forget() { t.lower, t.upper, t.top, t.rest = 0, t.most+1, 0, 0 }

func (w *window) add(v window) {
	w.took += v.took
	w.samples += v.samples
	w.batches += v.batches
	w.waited += v.waited
	w.idle += v.idle
	w.short += v.short
	w.reads += v.reads
	w.reading += v.reading
	w.other += v.other
}

func (w *window) rate() float64 { return float64(w.samples) / w.took.Seconds() }

// bodyBound reports whether the loop body is the limit.
func (w *window) bodyBound() bool { return float64(w.waited) < waits*float64(w.took) }

// waiting reports whether workers wait for storage for most of their time. Reads of data
// that is in memory are fast.
func (w *window) waiting() bool {
	return w.reads > 0 && w.reading > 3*w.other && w.reading/time.Duration(w.reads) >= slowRead
}

// computing reports whether workers compute all the time, according to the dataset's
// stages.
func (w *window) computing(workers int) bool {
	return w.other > 40*w.reading && w.other > (time.Duration(workers)*w.took-w.idle)/2
}

// work is the time of a sample.
func (w *window) work(workers int) time.Duration {
	return (time.Duration(workers)*w.took - w.idle) / time.Duration(max(1, w.samples))
}

// full reports whether the window is evidence.
func (t *tuner) full(w *window) bool {
	if t.settles {
		return w.took >= 100*time.Millisecond && w.samples >= 2*t.workers
	}
	// A window with one long loop body says nothing of waiting.
	long := t.stretch()
	return w.took >= time.Duration(long*float64(200*time.Millisecond)) && w.samples >= int(long*float64(max(16, 4*t.workers))) && w.batches != 1
}

// stretch is how many times as long as usual windows are, because the speed varies from
// one to the next.
func (t *tuner) stretch() float64 { return min(max(1, t.noise*t.noise/(calmNoise*calmNoise)), 10) }

// decide decides if the window is full, and reports whether it was.
func (t *tuner) decide(w *window) bool {
	if !t.full(w) {
		return false
	}
	t.step(*w)
	return true
}

// step decides, after a full window.
func (t *tuner) step(w window) {
	if t.settles {
		t.settles = false
		return
	}
	t.calm += w.took
	if !w.bodyBound() {
		t.bound = 0
	}
	switch {
	case t.trial.from > 0:
		t.judge(w)
	case w.bodyBound():
		t.ease(w)
	case t.eased > t.workers:
		t.lower, t.burned = t.workers, true
		t.set(min(t.eased, 2*t.workers), fmt.Sprintf("the loop waited with %s", t.crew(t.workers)))
	default:
		t.search(w)
	}
}

// set changes the number of workers.
func (t *tuner) set(workers int, reason string) {
	t.reason = reason
	if workers == t.workers {
		return
	}
	t.workers = workers
	t.changes++
	t.settles, t.odd, t.rest = true, 0, 0
	t.rate, t.windows = 0, 0
}

// ease parks workers that are not needed, because the loop body is the limit. If the loop
// then waited, it keeps them for a long time.
func (t *tuner) ease(w window) {
	t.bound++
	t.odd, t.rate, t.windows = 0, 0, 0
	t.reason = fmt.Sprintf("the loop body is the limit, and %s enough for it", t.are(t.workers))
	if t.burned {
		if t.rest += w.took; t.rest < t.restFor {
			return
		}
		t.burned = false
		t.relent()
	}
	working := float64(t.workers) - w.idle.Seconds()/w.took.Seconds()
	enough := max(1, int(math.Ceil(1.25*working)))
	if t.bound < 2 || enough >= t.workers {
		return
	}
	from := t.workers
	t.set(enough, fmt.Sprintf("the loop body is the limit, and %s enough for it", t.are(enough)))
	t.eased, t.bound = max(t.eased, from), 0
}

// relent begins again, and takes longer until the next time.
func (t *tuner) relent() {
	t.restFor = min(2*t.restFor, restMost)
	t.forget()
}

// search looks for the number of workers while the loop waits.
func (t *tuner) search(w window) {
	if !t.steady(w) {
		return
	}
	if t.deepen(w) || t.windows < 2 && !w.waiting() {
		return
	}
	more, fewer := t.more(w), t.fewer(w)
	switch {
	case fewer < t.workers && (t.falls || more == t.workers):
		t.top = max(t.top, t.rate)
		t.try(fewer)
		return
	case more > t.workers:
		t.top = 0
		t.try(more)
		return
	}
	if t.rest += w.took; t.rest >= t.restFor {
		t.relent()
	}
}

// steady adds a window to what is known of the present number of workers. It reports
// false if the speed has changed, which needs several windows as evidence. Then the
// search begins again.
func (t *tuner) steady(w window) bool {
	rate := w.rate()
	if t.windows >= 2 {
		differs := min(math.Abs(rate/t.rate-1), 1) * math.Sqrt(t.stretch())
		t.noise += (differs - t.noise) / 8
	}
	if t.windows >= 2 && (rate > change*t.rate || rate*change < t.rate) {
		if t.odd++; t.odd < t.patience {
			return false
		}
		switch { // so that a load that changes all the time does not keep it busy
		case t.calm < 20*time.Second:
			t.patience = min(2*t.patience, 64)
		case t.calm > time.Minute:
			t.patience = 2
		}
		t.calm, t.odd, t.windows = 0, 0, 0
		t.forget()
		t.falls = rate > t.rate
	}
	t.odd = 0
	t.windows++
	t.rate += (rate - t.rate) / float64(min(t.windows, 8))
	return true
}

// deepen asks for more slabs if workers wait for memory while the loop waits for them,
// because batches take unequal times. Batches of cheap samples do not.
func (t *tuner) deepen(w window) bool {
	if !w.deeper || w.waited < w.took/4 || w.short < time.Duration(t.workers)*w.took/4 || w.work(t.workers) < cheap {
		return false
	}
	t.depth *= 1.5
	t.forget() // what was learned with fewer slabs
	t.settles, t.rate, t.windows = true, 0, 0
	t.reason = "batches take unequal times, so there are more of them in flight"
	return true
}

// more is the next larger number of workers to try, or the present one.
func (t *tuner) more(w window) int {
	next := 2 * t.workers
	switch {
	case t.workers < t.processors:
		next = min(next, t.processors)
	case w.work(t.workers) < cheap:
		return t.workers // there is nothing to wait for
	case w.computing(t.workers):
		if t.upper > t.workers+1 {
			t.upper = t.workers + 1
			t.reason = fmt.Sprintf("processors are the limit: %s of the work is computing", percent(w.other, w.other+w.reading))
		}
		return t.workers
	case w.waiting():
		next *= 2
	}
	if next = min(next, t.most); next >= t.upper {
		next = middle(t.workers, t.upper)
	}
	if t.workers == t.most {
		t.reason = t.why
	}
	if next-t.workers < max(1, t.workers/8) {
		return t.workers
	}
	return next
}

// cheap is the time of a sample below which workers may be in each other's way.
const cheap = 20 * time.Microsecond

// fewer is the next smaller number of workers to try, or the present one. Workers that
// compute keep their processors, unless samples are cheap.
func (t *tuner) fewer(w window) int {
	least := 1
	if w.computing(t.workers) && w.work(t.workers) > cheap {
		least = t.processors
	}
	next := max(least, t.workers/2)
	if next <= t.lower {
		next = middle(t.lower, t.workers)
	}
	if t.workers-next < max(1, t.workers/8) || next <= t.lower {
		return t.workers
	}
	return next
}

// middle is the geometric middle of two numbers of workers.
func middle(a, b int) int { return int(math.Sqrt(float64(a) * float64(b))) }

func (t *tuner) try(workers int) {
	r := trial{from: t.workers, to: workers, rate: t.rate}
	if workers < t.workers {
		r.rate = t.top // so that several small losses do not add up
	}
	t.set(workers, fmt.Sprintf("tries %s instead of %d", t.crew(workers), t.workers))
	t.trial = r
}

// up reports whether more workers are tried, rather than fewer.
func (r *trial) up() bool { return r.to > r.from }

// need is the ratio of speeds for which the new setting is kept.
func (t *tuner) need() float64 {
	switch r := &t.trial; {
	case r.up():
		return gain
	case r.to < t.processors:
		return 1
	}
	return loss
}

// judge continues a trial, until there is enough evidence. The less there is, the clearer
// it must be.
func (t *tuner) judge(w window) {
	r, need := &t.trial, t.need()
	if r.again {
		t.confirm(w)
		return
	}
	r.tried.add(w)
	ratio, margin, last := r.tried.rate()/r.rate, r.tried.margin(), r.tried.count == trials
	scale := float64(r.to) / float64(r.from)
	unused := r.up() && ratio < gain && r.tried.idle > time.Duration(t.workers)*r.tried.took/2
	switch {
	case r.tried.bodyBound(), scale > 1.9 && ratio > 0.8*scale: // beyond doubt, the second time
		if scale > 3 || r.tried.count > 1 || r.tried.bodyBound() {
			t.settle(true, ratio)
		}
	case ratio >= need+margin, last && ratio >= need:
		r.again = true
		t.set(r.from, t.reason)
	case ratio < need-margin && r.tried.count > 1, last, unused:
		t.settle(false, ratio)
	}
}

// confirm is judge while the old setting is measured again.
func (t *tuner) confirm(w window) {
	r, need := &t.trial, t.need()
	r.before.add(w)
	ratio, margin := r.tried.rate()/r.before.rate(), max(r.tried.margin(), r.before.margin())
	last := r.before.count >= max(2, r.tried.count)
	switch {
	case r.before.bodyBound():
		t.settle(!r.up(), ratio)
	case ratio >= need+margin, last && ratio >= need:
		t.settle(true, ratio)
	case ratio < need-margin, last:
		t.settle(false, ratio)
	}
}

// settle ends a trial: the new number is kept, or the old one. ratio is that of their
// speeds.
func (t *tuner) settle(keep bool, ratio float64) {
	r := t.trial
	t.trial = trial{}
	t.falls = keep && !r.up()
	switch {
	case keep && r.up():
		t.lower = r.from
	case keep:
		t.upper = r.from
	case r.up():
		t.upper = r.to
	default:
		t.lower = r.to
	}
	to, rate, windows := r.from, r.rate, 2 // two, so that another load is noticed
	if r.again {
		rate = r.before.rate()
	}
	if keep {
		to, rate, windows = r.to, r.tried.rate(), r.tried.count
	}
	t.set(to, t.result(r, keep, ratio))
	t.rate, t.windows = rate, windows
}

// result is the end of a trial, in words.
func (t *tuner) result(r trial, keep bool, ratio float64) string {
	text := "as much as"
	switch {
	case r.up() && keep:
		text = times(ratio)
	case r.up():
		text = "no more than"
	case !keep:
		text = "less than"
	}
	verb := "load"
	if r.to == 1 {
		verb = "loads"
	}
	return fmt.Sprintf("%s %s %s %d", t.crew(r.to), verb, text, r.from)
}

// limit is told that there can be no more workers than that.
func (t *tuner) limit(most int, reason string) {
	if most >= t.most {
		return
	}
	t.most, t.upper, t.why = most, min(t.upper, most+1), reason
	t.trial = trial{}
	t.set(min(t.workers, most), reason)
}

// times is a ratio in words, before what is compared with.
func times(ratio float64) string {
	if ratio < 2 {
		return fmt.Sprintf("%.0f%% more than", 100*(ratio-1))
	}
	return fmt.Sprintf("%.1f times as much as", ratio)
}

func (t *tuner) crew(n int) string { return figures.Count(n, "worker", "workers") }

func (t *tuner) are(n int) string {
	if n == 1 {
		return "1 worker is"
	}
	return fmt.Sprintf("%d workers are", n)
}
