package loader

import (
	"fmt"
	"math"
	"time"
)

// search looks for the number of workers while the loop waits.
func (t *tuner) search(w window) {
	if !t.steady(w) {
		return
	}
	if t.leap(&w) {
		return
	}
	t.leaps = false
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
		t.top, t.expects = 0, t.enough(&w)
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
		stalled := w.waiting() && 4*rate < t.rate // there is no doubt, and no search that takes long
		if t.odd++; t.odd < t.patience && !(stalled && t.odd > 1) {
			return false
		}
		switch { // so that a load that changes all the time does not keep it busy
		case t.calm < 20*time.Second:
			t.patience = min(2*t.patience, 64)
		case t.calm > time.Minute:
			t.patience = 2
		}
		t.calm, t.odd, t.windows, t.gained = 0, 0, 0, 0
		t.forget()
		t.falls, t.leaps, t.alone = rate > t.rate, rate < t.rate, pace{}
	}
	t.odd = 0
	t.windows++
	t.rate += (rate - t.rate) / float64(min(t.windows, 8))
	return true
}

// deepen asks for more slabs if workers wait for memory while the loop waits for them,
// because batches take unequal times. Batches of cheap samples do not.
func (t *tuner) deepen(w window) bool {
	if !w.deeper || w.work(t.workers) < cheap || w.waited < w.took/4 || w.short < time.Duration(t.workers)*w.took/4 {
		return false
	}
	t.depth *= 2
	t.forget() // what was learned with fewer slabs
	t.settles, t.rate, t.windows = true, 0, 0
	t.trial.tried = evidence{}
	t.reason = "batches take unequal times, so there are more of them in flight"
	return true
}

// more is the next larger number of workers to try, or the present one.
func (t *tuner) more(w window) int {
	next := 2 * t.workers
	switch {
	case t.workers < t.processors:
		next = min(next, t.processors)
	case w.work(t.workers) < cheap, t.gained <= t.processors && w.busy(t.workers, t.processors): // nothing to wait for, except the loop and one another
		if next = min(next, 2*t.processors); next <= t.workers {
			return t.workers
		}
	case w.computing(t.workers):
		if t.upper > t.workers+1 {
			t.upper = t.workers + 1
			t.reason = fmt.Sprintf("processors are the limit: %s of the work is computing", percent(w.other, w.other+w.reading))
		}
		return t.workers
	case w.waiting(), t.gained > t.processors && w.reads == 0: // no stages, but samples wait
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

// fewer is the next smaller number of workers to try, or the present one. Workers that
// compute keep their processors, unless samples are cheap.
func (t *tuner) fewer(w window) int {
	least := 1
	if w.computing(t.workers) && w.work(t.workers) > cheap {
		least = t.processors
	}
	next, step := t.workers/2, t.workers/8
	switch needed := t.needed(&w); {
	case needed > 0 && 8*t.refused > 7*needed:
		return t.workers // so many were tried
	case needed > 0:
		next = needed
	case t.alone.waiting() && !t.falls: // once in a while, although it is not likely
		next, step = t.workers*3/4, t.workers/5
	}
	next = max(least, next)
	if next <= t.lower {
		next = middle(t.lower, t.workers)
	}
	if t.workers-next < max(1, step) || next <= t.lower {
		return t.workers
	}
	return next
}

// middle is the geometric middle of two numbers of workers.
func middle(a, b int) int { return int(math.Sqrt(float64(a) * float64(b))) }
