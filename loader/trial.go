package loader

import (
	"fmt"
	"time"
)

// A trial compares two numbers of workers: the new one with what was known of the old
// one. If the new one seems better, the old one is measured once more, because meanwhile
// the machine may have become faster or slower for other reasons.
type trial struct {
	from, to int     // 0 if there is no trial
	rate     float64 // with from, before
	tried    evidence
	deepened bool // whether there are more slabs than when rate was measured
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
	if r.up() && t.deepen(w) { // more workers need more slabs to load more
		r.tried, r.deepened = evidence{}, true
		return
	}
	r.tried.add(w)
	ratio, margin, last := r.tried.rate()/r.rate, r.tried.margin(), r.tried.count == trials
	scale := float64(r.to) / float64(r.from)
	sure := 0.8 * scale
	if w.waiting() {
		sure = max(1.5, 0.5*scale) // as expected
	}
	unused := r.up() && ratio < gain && r.tried.idle > time.Duration(t.workers)*r.tried.took/2
	switch {
	case r.tried.bodyBound(), !r.deepened && scale > 1.9 && ratio > sure: // beyond doubt, the second time
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
	case keep && r.up() && ratio > change:
		t.gained = r.to
	case keep && t.gained > r.to:
		t.gained = 0 // the load was another meanwhile
	}
	switch {
	case keep && r.up():
		t.lower = r.from
	case keep:
		t.upper = r.from
	case r.up():
		t.upper = r.to
		if t.expects {
			t.upper = r.from + 1
		}
	default:
		t.lower, t.refused = r.to, r.to
	}
	to, rate, windows := r.from, r.rate, 2 // two, so that another load is noticed
	switch {
	case r.again:
		rate = r.before.rate()
	case r.deepened:
		rate, windows = 0, 0 // not known with so many slabs
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
	case r.up() && keep && ratio > 1:
		text = times(ratio)
	case r.up() && !keep:
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

// times is a ratio in words, before what is compared with.
func times(ratio float64) string {
	if ratio < 2 {
		return fmt.Sprintf("%.0f%% more than", 100*(ratio-1))
	}
	return fmt.Sprintf("%.1f times as much as", ratio)
}
