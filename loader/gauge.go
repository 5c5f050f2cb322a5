package loader

import (
	"runtime"
	"sync/atomic"
	"time"

	"github.com/penstock-go/penstock/dataset"
)

// tuning is what a loader has for [Auto]. The loader's mutex guards it.
type tuning struct {
	tuner
	active    atomic.Int32 // tuner.workers, for workers that do not hold the mutex
	slabs     int          // that there are to be
	begun     int          // slabs at the beginning
	making    int          // that workers are allocating
	frozen    bool         // whether the Allocator has refused one
	refusal   string       // why, in words
	readAhead atomic.Int32 // batches
	advises   bool         // whether the dataset takes advice, and its distance is not given
	window    window       // since the last decision
}

// A gauge measures a run for the tuner. Only the loop uses it, except for idle, which
// the loader's mutex guards.
type gauge struct {
	tick   *time.Ticker
	at     time.Time // until when the loop's time is counted
	waited time.Duration
	batch  int // batches delivered
	last   reading
}

// usualSlice is the shortest time between two readings.
const usualSlice = 20 * time.Millisecond

// A reading is what had happened at some time of a run.
type reading struct {
	at      time.Time
	valid   bool // whether batches are being loaded and there are more
	placed  int
	idle    idleness
	reads   int64
	reading time.Duration
	other   time.Duration
	known   time.Duration
	used    time.Duration // processor time of the program
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

// measure adds the time since the last reading to the window. If the window is full, the
// tuner decides.
func (r *run) measure(now time.Time) {
	l, g := r.l, r.gauge
	used, _ := l.cfg.processTime()
	l.mu.Lock()
	defer l.mu.Unlock()
	next := r.read(now)
	next.used = used
	last := g.last
	g.last = next
	waited, batches := g.waited, g.batch
	g.waited, g.batch = 0, 0
	if !last.valid || !next.valid {
		return
	}
	t := l.tuning
	t.window.deeper, t.window.room, t.window.rows = l.deeper(), l.most(), l.rows
	t.window.add(window{
		took:    next.at.Sub(last.at),
		samples: max(0, next.placed-last.placed),
		batches: batches,
		waited:  waited,
		idle:    next.idle.total - last.idle.total,
		short:   next.idle.short - last.idle.short,
		reads:   next.reads - last.reads,
		reading: next.reading - last.reading,
		other:   next.other - last.other,
		known:   next.known - last.known,
		used:    next.used - last.used,
	})
	t.processors = runtime.GOMAXPROCS(0)
	if l.cfg.decide(&t.tuner, &t.window) {
		l.lookAhead(t.window)
		t.window = window{}
		r.apply()
	}
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
	x.valid = x.placed > 0 && r.cursor.more() && r.fatal == nil && !r.stopped.Load()
	r.idling.pass(now)
	x.idle = r.idling
	for _, w := range r.l.workers {
		w.clock.Each(func(stage string, count int64, total time.Duration) {
			if stage == dataset.StageRead {
				x.reads += count
				x.reading += total
			} else {
				x.other += total
			}
			if computes(stage) {
				x.known += total
			}
		})
	}
	return x
}
