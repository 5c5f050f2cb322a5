package loader

import (
	"math"
	"runtime"
	"sync/atomic"
	"time"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/loader/internal/slab"
	"github.com/penstock-go/penstock/loader/internal/tune"
)

// tuning is what a loader has for [Auto]. The loader's mutex guards it.
type tuning struct {
	*tune.Tuner
	active atomic.Int32 // Tuner.Workers, for workers that do not hold the mutex
	begun  int          // slabs at the beginning
	window tune.Window  // since the last decision
}

// A gauge measures a run for the tuner. Only the loop uses it, except for idle, which
// the loader's mutex guards.
type gauge struct {
	tick   *time.Ticker
	at     time.Time // until when the loop's time is counted
	waited time.Duration
	batch  int // batches delivered
	last   reading
	looked time.Time // when the wait for processors was read
}

// usualSlice is the shortest time between two readings.
const usualSlice = 20 * time.Millisecond

// A reading is what had happened at some time of a run, and what had happened at that time since
// the loader was made.
type reading struct {
	at     time.Time
	valid  bool // whether batches are being loaded and there are more
	placed int
	idle   idleness
	reads  int64
	read   time.Duration // in the stage "read", all workers together
	staged time.Duration // in all stages
	used   time.Duration // processor time that the program had, or waited for
}

// idleness adds up the time of workers without work. The loader's mutex guards it.
type idleness struct {
	at           time.Time
	n, lack      int           // workers without work, and those of them that lack a slab
	total, short time.Duration // of both
}

// count adds workers, or removes them.
func (i *idleness) count(now time.Time, n int, short bool) {
	i.pass(now)
	i.n += n
	if short {
		i.lack += n
	}
}

func (i *idleness) pass(now time.Time) {
	d := now.Sub(i.at)
	i.total += time.Duration(i.n) * d
	i.short += time.Duration(i.lack) * d
	i.at = now
}

// newGauge makes the gauge of a run, or nil without [Auto].
func newGauge(l *Loader) *gauge {
	if l.tuning == nil {
		return nil
	}
	return &gauge{tick: time.NewTicker(l.cfg.slice), at: time.Now()}
}

// ticks is when the loop is to call [run.tune] while it waits. It is nil without [Auto].
func (g *gauge) ticks() <-chan time.Time {
	if g == nil {
		return nil
	}
	return g.tick.C
}

// stop ends the gauge.
func (g *gauge) stop() {
	if g != nil {
		g.tick.Stop()
	}
}

// delivered counts the time of a batch: the loop waited until then, and its body took the
// time from then to now.
func (r *run) delivered(then, now time.Time) {
	g := r.gauge
	if g == nil {
		return
	}
	g.waited += then.Sub(g.at)
	g.at = now
	g.batch++
	if now.Sub(g.last.at) >= r.l.cfg.slice {
		r.measure(now)
	}
}

// tune is called while the loop waits.
func (r *run) tune() {
	g, now := r.gauge, time.Now()
	g.waited += now.Sub(g.at)
	g.at = now
	r.measure(now)
}

// measure adds the time since the last reading to the window, for the tuner to decide.
func (r *run) measure(now time.Time) {
	l, g := r.l, r.gauge
	had := l.meter.now()
	l.mu.Lock()
	defer l.mu.Unlock()
	next := r.read(now)
	next.used = had.used + had.queued
	last := g.last
	g.last = next
	waited, batches := g.waited, g.batch
	g.waited, g.batch = 0, 0
	if !last.valid || !next.valid {
		return
	}
	t := l.tuning
	t.window.Add(tune.Window{
		Took:    next.at.Sub(last.at),
		Samples: max(0, next.placed-last.placed),
		Batches: batches,
		Waited:  waited,
		Slowest: r.slowest,
		Idle:    next.idle.total - last.idle.total,
		Short:   next.idle.short - last.idle.short,
		Reads:   next.reads - last.reads,
		Reading: next.read - last.read,
		Staged:  next.staged - last.staged,
		Used:    next.used - last.used,
		Timed:   had.known,
	})
	limits := tune.Limits{Processors: runtime.GOMAXPROCS(0), Samples: min(l.most(), r.epoch()), Rows: l.pool.Rows(), Deeper: l.deeper()}
	limits.Slabs, _ = l.pool.Target()
	r.slowest = 0
	if had.looked.Equal(g.looked) {
		return // a window ends when the wait for processors was read, as it has begun
	}
	g.looked = had.looked
	if l.cfg.decide(t.Tuner, t.window, limits) {
		t.window = tune.Window{}
		r.apply()
	}
}

// epoch is how many samples an epoch has, at most. The caller holds the mutex.
func (r *run) epoch() int {
	p := r.cursor.At().Plan
	if p.Growing() {
		return math.MaxInt
	}
	return slab.Product(p.Largest(), r.l.pool.Rows())
}

// read reads what has happened so far. The caller holds the mutex.
func (r *run) read(now time.Time) reading {
	x := reading{at: now, placed: r.assembled}
	for _, j := range r.inFlight {
		if !j.complete {
			x.placed += j.claimed()
		}
	}
	// A batch that is being finished counts with no rows for a moment.
	x.placed = max(x.placed, r.gauge.last.placed)
	x.valid = x.placed > 0 && r.cursor.More() && r.fatal == nil && !r.stopped.Load()
	r.idling.pass(now)
	x.idle = r.idling
	for _, w := range r.l.workers {
		w.clock.Each(func(stage string, count int64, total time.Duration) {
			x.staged += total
			if stage == dataset.StageRead || stage == stageService {
				x.reads += count
				x.read += total
			}
		})
	}
	return x
}
