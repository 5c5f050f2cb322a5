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
// It searches for the least number of workers with which the loader is as fast as with any.
// It tries another number, and compares the speeds. What it learns is a bracket of two
// numbers: lower workers or fewer are too few, and upper workers or more are not faster. A
// trial halves the bracket, and without room in it there are no more trials. So it does not
// oscillate.
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
	refused int  // fewer workers that were tried and loaded less; 0 if none were
	expects bool // whether a trial of more workers was expected to show that they load no more
	leaps   bool // whether leap may multiply the number of workers
	leapt   int  // workers before it did; 0 if it did not
	alone   pace
	tiny    bool    // whether samples are so cheap that workers do not share batches
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

	gained  int // the workers that were kept because they loaded much more; 0 if the load is another since
	changes int
	reason  string
}

// mostWorkers is the number of workers that Auto does not exceed.
const mostWorkers = 256

const (
	waits     = 0.03 // share of the time that the loop waits, below which the body is the limit
	gain      = 1.03 // ratio of speeds above which more workers are worth it
	loss      = 0.98 // ratio above which fewer workers are as good
	change    = 1.3  // ratio of speeds that is another load, or that computing does not give
	trials    = 6    // windows of a trial at most
	calmNoise = 0.2  // share by which the speed of usual windows may vary
	restTime  = 30 * time.Second
	restMost  = 10 * time.Minute
)

func newTuner(processors int) *tuner {
	t := &tuner{
		processors: processors, most: max(mostWorkers, processors), workers: processors, depth: 1,
		patience: 2, restFor: restTime, settles: true, leaps: true,
	}
	t.forget()
	t.why = fmt.Sprintf("%s are the most that there may be", t.crew(t.most))
	t.reason = "a worker per processor to begin with"
	return t
}

// forget empties the bracket.
func (t *tuner) forget() {
	t.lower, t.upper, t.refused, t.leapt, t.top, t.rest = 0, t.most+1, 0, 0, 0, 0
}

// full reports whether the window is evidence.
func (t *tuner) full(w *window) bool {
	if w.took >= time.Second && w.batches > 1 && w.bodyBound() {
		return true // many workers would take long to load a few samples each
	}
	if t.settles {
		return w.took >= 100*time.Millisecond && w.samples >= 2*t.workers
	}
	// A window with one long loop body says nothing of waiting.
	long := t.stretch()
	return w.took >= time.Duration(long*float64(200*time.Millisecond)) &&
		w.samples >= int(long*float64(max(16, 4*t.workers))) && w.batches != 1
}

// stretch is how many times as long as usual windows are, because the speed varies from
// one to the next.
func (t *tuner) stretch() float64 { return min(max(1, t.noise*t.noise/(calmNoise*calmNoise)), 10) }

// decide decides if the window is full, and reports whether it was.
func (t *tuner) decide(w *window) bool {
	if t.leap(w) {
		return true
	}
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
	t.tiny = w.work(t.workers) < cheap
	if t.workers >= t.eased {
		t.eased = 0 // from here on, trials decide
	}
	t.calm += w.took
	if !w.bodyBound() {
		t.bound = 0
	}
	if t.alone.workers > 0 && w.reads > 0 {
		t.alone.note(&w, t.workers)
	}
	switch {
	case t.leapt > 0 && t.workers > t.processors && !t.alone.waiting() && w.other > 40*w.reading:
		t.land()
	case t.trial.from > 0:
		t.judge(w)
	case w.bodyBound():
		t.ease(w)
	case t.eased > t.workers:
		t.lower, t.burned = t.workers, true
		t.set(min(t.eased, 2*t.workers, t.most), fmt.Sprintf("the loop waited with %s", t.crew(t.workers)))
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
	t.alone.workers, t.falls = 0, false
	t.forget()
}

// limit is told that there can be no more workers than that.
func (t *tuner) limit(most int, reason string) {
	if most >= t.most {
		return
	}
	t.most, t.upper, t.eased, t.why = most, min(t.upper, most+1), min(t.eased, most), reason
	t.trial = trial{}
	t.set(min(t.workers, most), reason)
}

func (t *tuner) crew(n int) string { return figures.Count(n, "worker", "workers") }

func (t *tuner) are(n int) string {
	if n == 1 {
		return "1 worker is"
	}
	return fmt.Sprintf("%d workers are", n)
}
