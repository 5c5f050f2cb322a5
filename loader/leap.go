package loader

import (
	"fmt"
	"math"
	"time"
)

// A pace is how long a sample takes with few workers, which are in nobody's way.
type pace struct {
	workers       int           // with which it was measured; 0 if that is not known, or long ago
	read, compute time.Duration // mean times, for every read
	reads         int64         // from which these are known
	body          time.Duration // of the loop, for every sample; 0 if it is not known
}

// note adds a window. The least times count, because reads wait for one another and
// for processors. But the first few reads may have been short by chance.
func (p *pace) note(w *window, workers int) {
	read, compute := w.read(), w.other/time.Duration(max(1, w.reads))
	switch few := p.reads < 16; {
	case p.workers == 0 || workers < p.workers:
		p.workers, p.read, p.compute, p.reads = workers, read, compute, w.reads
	case read < p.read || few && w.reads >= 16 && read < p.read*3/2:
		p.read, p.reads = read, w.reads
	}
	p.compute = min(p.compute, compute)
	if w.batches > 0 {
		p.body = (w.took - w.waited) / time.Duration(w.batches*max(1, w.rows))
	}
}

// sample is the time of a read and what is computed for it.
func (p *pace) sample() time.Duration { return p.read + p.compute }

// waiting is like [window.waiting].
func (p *pace) waiting() bool {
	return p.read > 3*p.compute && p.read >= slowRead
}

const (
	leapMost = 16   // by how much a leap multiplies the number of workers at most
	reserve  = 1.25 // more workers than computed, because samples take unequal times
)

// leap multiplies the number of workers if nearly all of their work is waiting for reads,
// and reports whether it did. It need not compare speeds: as long as samples take no
// longer, twice as many workers load twice as much. How long they take is known after one
// per worker, and a speed only after several batches.
//
// By Little's law the number that keeps all processors busy follows from the times that a
// sample reads and computes. A leap may be a part of the way, because storage may not serve
// so many reads at once.
func (t *tuner) leap(w *window) bool {
	if !t.leaps || w.reads < int64(max(4, t.workers)) || w.bodyBound() {
		return false
	}
	if w.occupied(t.workers, t.processors) > 0.5 { // reads compute, or wait for processors
		return false
	}
	if t.alone.workers >= t.workers { // with as many, a longer time is that of another load
		t.alone = pace{}
	}
	t.alone.note(w, t.workers)
	if !t.alone.waiting() {
		return false
	}
	if w.sample() > 2*t.alone.sample() { // storage or processors are the limit
		t.leaps, t.falls = false, true
		return false
	}
	if w.sample() < t.alone.sample()*5/4 {
		t.lower = max(t.lower, t.leapt) // so few load less
	}
	next := min(t.reach(w), leapMost*t.workers)
	if next-t.workers < max(1, t.workers/8) {
		t.leaps = false
		return false
	}
	t.leapt, t.trial = t.workers, trial{}
	t.set(next, fmt.Sprintf("tries %s instead of %d: %s of the work is waiting for reads",
		t.crew(next), t.workers, percent(t.alone.read, t.alone.sample())))
	return true
}

// land takes a leap back, because reads only took long at first: a prefetcher had not
// fetched anything yet, for example.
func (t *tuner) land() {
	t.forget()
	t.trial, t.alone = trial{}, pace{}
	t.eased, t.burned, t.bound = 0, false, 0
	n := min(t.processors, t.most)
	t.set(n, fmt.Sprintf("reads took long only at first, and %s enough now", t.are(n)))
}

// reach is the number of workers that keeps the processors or the loop body busy, or
// fills the batches that there may be.
func (t *tuner) reach(w *window) int {
	p := &t.alone
	sample := p.sample().Seconds()
	busy := float64(t.processors) * sample / p.compute.Seconds()
	if p.body > 0 {
		busy = min(busy, sample/p.body.Seconds())
	}
	most := t.most
	if w.room > 0 {
		most = min(most, w.room)
	}
	return int(min(math.Ceil(reserve*busy), float64(most)))
}

// needed is the number of workers that would load as much, if samples took as long as they
// do with few workers. It is 0 if that is not known.
func (t *tuner) needed(w *window) int {
	if !t.alone.waiting() || t.alone.workers == 0 || t.alone.workers >= t.workers || w.reads == 0 {
		return 0
	}
	return int(math.Ceil(1.1 * float64(w.reads) * t.alone.sample().Seconds() / w.took.Seconds()))
}

// enough reports whether the samples of the window keep the processors busy, so that more
// workers are expected to load no more. Then samples take longer than with few workers. If
// they do not, a stage that seems to compute waits for something else.
func (t *tuner) enough(w *window) bool {
	busy := float64(w.reads) * t.alone.compute.Seconds() / w.took.Seconds()
	return t.alone.waiting() && busy > 0.85*float64(t.processors) && w.sample() > t.alone.sample()*21/20
}
