package loader

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"time"
)

// A curve is the speed of a made load, in samples per second, by the number of workers.
type curve struct {
	each   float64 // of one worker alone
	most   float64 // that processors, storage or the loop body allow
	slower float64 // by which every worker beyond those needed slows the others down
	noise  float64 // as a share
	stages bool
	memory bool // whether the samples' only stage is reads from memory, on two processors
	shared bool // whether the rest of the program keeps two processors busy
}

func (c curve) speed(workers int) float64 {
	free := c.each * float64(workers)
	surplus := max(0, free-c.most) / c.each
	return min(free, c.most) / (1 + c.slower*surplus)
}

func (c curve) best() (best float64) {
	for w := range mostWorkers {
		best = max(best, c.speed(w+1))
	}
	return best
}

// window is what a loader with so many workers does in a while.
func (c curve) window(workers int, r *rand.Rand) window {
	const took = 250 * time.Millisecond
	speed := c.speed(workers) * (1 + c.noise*(2*r.Float64()-1))
	w := window{took: took, samples: max(1, int(speed*took.Seconds())), batches: 2, waited: took}
	switch {
	case c.memory:
		w.reads, w.reading = int64(w.samples), took*time.Duration(workers)
		w.used = time.Duration(2 * min(1, c.each*float64(workers)/c.most) * float64(took))
	case c.stages:
		w.reads, w.reading, w.other = int64(w.samples), took*time.Duration(workers)*9/10, took*time.Duration(workers)/10
	}
	if c.shared {
		w.used = 2 * took
	}
	return w
}

// follow steps a tuner through windows, and returns the mean share of the best speed
// after the first 60, and the number of changes.
func (c curve) follow(t *tuner, windows int, r *rand.Rand) (share float64, changes int) {
	for k := range windows {
		t.step(c.window(t.workers, r))
		if k >= 60 {
			share += c.speed(t.workers) / c.best() / float64(windows-60)
		}
	}
	return share, t.changes
}

// TestATunerFindsTheBestNumberOfWorkersAndLeavesItAlone on random loads, for ten
// minutes in windows of 0.25 s. Noise is up to a fifth.
func TestATunerFindsTheBestNumberOfWorkersAndLeavesItAlone(t *testing.T) {
	seeds := 150
	if testing.Short() {
		seeds = 15
	}
	for seed := range uint64(seeds) {
		r := rand.New(rand.NewPCG(seed, 7))
		c := curve{each: math.Exp(r.Float64()*6 + 3), stages: seed%2 == 0, noise: []float64{0, 0.05, 0.2}[seed%3]}
		c.most = c.each * math.Exp(r.Float64()*math.Log(mostWorkers))
		if seed%5 == 0 {
			c.slower = 0.01
		}
		least := []float64{0.95, 0.94, 0.9}[seed%3]
		if c.slower > 0 {
			least -= 0.03 // the peak is narrow
		}
		tuner := newTuner(1 + r.IntN(16))
		if share, changes := c.follow(tuner, 2400, r); share < least || changes > 150 {
			t.Errorf("seed %d, %+v: %.3f of the best speed with %d workers, %d changes; want %.2f and 150 at most", seed, c, share, tuner.workers, changes, least)
		}
	}
}

// TestATunerTriesTwiceTheProcessorsForCheapSamples, but not more: in the loop, in locks and
// in calls of the scheduler workers wait for one another, and these take longer than a sample.
func TestATunerTriesTwiceTheProcessorsForCheapSamples(t *testing.T) {
	for _, c := range []struct {
		curve
		want int
	}{
		{curve{each: 2.25e6, most: 5.2e6}, 4}, // as measured with CIFAR-100
		{curve{each: 3.3e6, most: 4.5e6, slower: 0.5}, 2},
		{curve{each: 1e6, most: 1e9}, 4},
	} {
		r := rand.New(rand.NewPCG(5, 1))
		tuner := newTuner(2)
		c.follow(tuner, 100, r)
		if tuner.workers != c.want || !tuner.tiny {
			t.Errorf("%+v: %d workers, want %d, because %s", c.curve, tuner.workers, c.want, tuner.reason)
		}
	}
}

// TestATunerTakesFewWorkersWhileProcessorsAreBusy with reads from memory, which take longer the
// more workers wait for a processor. A machine's speed varies, so that more workers seem to load
// more once in a while.
func TestATunerTakesFewWorkersWhileProcessorsAreBusy(t *testing.T) {
	for seed := range uint64(20) {
		r := rand.New(rand.NewPCG(seed, 13))
		each := math.Exp(math.Log(300) + r.Float64()*math.Log(100)) // 300 to 30 000 samples per second
		c := curve{each: each, most: 2 * each, noise: []float64{0, 0.05, 0.1, 0.2}[seed%4], memory: true}
		tuner := newTuner(2)
		most := 0
		for range 2400 {
			w := c.window(tuner.workers, r)
			if !tuner.leap(&w) {
				tuner.step(w)
			}
			most = max(most, tuner.workers)
		}
		if most > 4 {
			t.Errorf("seed %d, %+v: up to %d workers, want 4 at most", seed, c, most)
		}
	}
}

// TestATunerTakesManyWorkersForSlowReadsWhileOtherCodeKeepsProcessorsBusy: threads that spin
// while they wait for a batch, say. The processor time of the program then says nothing of samples.
func TestATunerTakesManyWorkersForSlowReadsWhileOtherCodeKeepsProcessorsBusy(t *testing.T) {
	for seed := range uint64(20) {
		r := rand.New(rand.NewPCG(seed, 17))
		c := curve{each: 12.5, most: 800, noise: []float64{0, 0.05, 0.1, 0.2}[seed%4], stages: seed%2 == 0, shared: true}
		tuner := newTuner(2)
		if share, _ := c.follow(tuner, 600, r); share < 0.9 {
			t.Errorf("seed %d, %+v: %.3f of the best speed with %d workers, want 0.9", seed, c, share, tuner.workers)
		}
	}
}

// TestWorkersShareBatchesUnlessSamplesAreCheap: then every worker has slabs of its own.
func TestWorkersShareBatchesUnlessSamplesAreCheap(t *testing.T) {
	for _, c := range []struct {
		tiny bool
		want int
	}{{false, 5}, {true, 9}} {
		l := &Loader{cfg: config{prefetch: 2, help: true, budget: bound}, rows: 64, tuning: &tuning{tuner: *newTuner(2)}}
		l.tuning.tiny = c.tiny
		if got := l.slabs(4, 1000); got != c.want {
			t.Errorf("cheap samples %v: %d slabs for 4 workers on 2 processors, want %d", c.tiny, got, c.want)
		}
	}
}

// TestATunerKnowsWhetherMoreWorkersThanProcessorsLoadMuchMore of the present load: first
// processors are the limit, then samples wait, then processors are the limit again.
func TestATunerKnowsWhetherMoreWorkersThanProcessorsLoadMuchMore(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	tuner := newTuner(2)
	for _, c := range []struct {
		curve
		gains bool
	}{{curve{each: 100, most: 205}, false}, {curve{each: 100, most: 6400}, true}, {curve{each: 1e4, most: 2e4}, false}} {
		c.follow(tuner, 200, r)
		if got := tuner.gained > 2; got != c.gains {
			t.Errorf("%+v: %d workers loaded much more, of %d", c.curve, tuner.gained, tuner.workers)
		}
	}
}

// TestATunerChangesLessAndLess: in the second half of an hour there are few trials.
func TestATunerChangesLessAndLess(t *testing.T) {
	for seed := range uint64(20) {
		r := rand.New(rand.NewPCG(seed, 9))
		tuner := newTuner(4)
		c := curve{each: 12, most: 700, noise: 0.05, stages: true}
		_, half := c.follow(tuner, 7200, r)
		_, all := c.follow(tuner, 7200, r)
		if late := all - half; late > 60 {
			t.Errorf("seed %d: %d changes in the first half of an hour, %d in the second", seed, half, late)
		}
	}
}

// TestATunerIsNotKeptBusyByALoadThatChangesAllTheTime.
func TestATunerIsNotKeptBusyByALoadThatChangesAllTheTime(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 9))
	tuner := newTuner(4)
	slow, fast := curve{each: 12, most: 400}, curve{each: 100, most: 400}
	for k := range 7200 {
		c := slow
		if k/8%2 == 1 {
			c = fast
		}
		tuner.step(c.window(tuner.workers, r))
	}
	if tuner.changes > 300 {
		t.Errorf("%d changes in half an hour, want 300 at most", tuner.changes)
	}
}

// TestATunerParksWhatTheBodyDoesNotNeed, and takes it back when the loop waits.
func TestATunerParksWhatTheBodyDoesNotNeed(t *testing.T) {
	tuner := newTuner(8)
	bound := func(working float64) window {
		const took = 250 * time.Millisecond
		idle := time.Duration((float64(tuner.workers) - working) * float64(took))
		return window{took: took, samples: 500, batches: 4, waited: took / 100, idle: idle}
	}
	for range 20 {
		tuner.step(bound(1.4))
	}
	if tuner.workers != 2 || tuner.changes != 1 {
		t.Fatalf("%d workers after %d changes, want 2 after 1: %s", tuner.workers, tuner.changes, tuner.reason)
	}
	r := rand.New(rand.NewPCG(1, 1))
	c := curve{each: 100, most: 800}
	for range 10 {
		tuner.step(c.window(tuner.workers, r))
	}
	if tuner.workers < 8 {
		t.Errorf("%d workers while the loop waits, want the 8 from before at least", tuner.workers)
	}
	before := tuner.changes
	for range 1000 {
		tuner.step(bound(2.4))
		if tuner.workers == 3 { // too few
			tuner.step(c.window(tuner.workers, r))
		}
	}
	if n := tuner.changes - before; n > 30 {
		t.Errorf("%d changes between too few workers and too many, want 30 at most", n)
	}
}

func TestReasonsReadAsSentences(t *testing.T) {
	var tuner *tuner
	r := rand.New(rand.NewPCG(1, 1))
	said := map[string]bool{}
	for _, c := range []curve{{each: 12, most: 100}, {each: 12, most: 2000, stages: true}} {
		for tuner = newTuner(2); tuner.changes < 5; {
			tuner.step(c.window(tuner.workers, r))
			said[tuner.reason] = true
		}
	}
	for _, want := range []string{
		"a worker per processor to begin with", "tries 4 workers instead of 2", "4 workers load 2.0 times as much as 2",
		"tries 26 workers instead of 2: 90% of the work is waiting for reads",
	} {
		if !said[want] {
			t.Errorf("%q was not said, only %q", want, fmt.Sprint(said))
		}
	}
}

// TestATunerTakesMoreBatchesInFlightIfWorkersAndTheLoopWait for one another, because
// batches take unequal times. If only one of them waits, that brings nothing.
func TestATunerTakesMoreBatchesInFlightIfWorkersAndTheLoopWait(t *testing.T) {
	for _, c := range []struct {
		name          string
		waited, short float64 // shares of the time
		samples       int
		deeper        bool
		want          bool
	}{
		{"both wait", 0.8, 0.5, 100, true, true},
		{"the loop waits", 0.8, 0.1, 100, true, false},
		{"the workers wait", 0.1, 0.8, 100, true, false},
		{"samples are cheap", 0.8, 0.5, 1_000_000, true, false},
		{"the budget is used up", 0.8, 0.5, 100, false, false},
	} {
		const took = 250 * time.Millisecond
		tuner := newTuner(2)
		for range 10 {
			short := time.Duration(c.short * float64(tuner.workers) * float64(took))
			tuner.step(window{took: took, samples: c.samples, batches: 4, waited: time.Duration(c.waited * float64(took)), idle: short, short: short, deeper: c.deeper})
		}
		if got := tuner.depth > 2; got != c.want {
			t.Errorf("%s: %.1f times as many slabs, want more %v", c.name, tuner.depth, c.want)
		}
	}
}
