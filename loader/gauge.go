package loader

import (
	"runtime"
	"time"

	"github.com/penstock-go/penstock/loader/internal/assemble"
	"github.com/penstock-go/penstock/loader/internal/tune"
)

// tuning is what a loader has for [Auto]. The loader's mutex guards it.
type tuning struct {
	*tune.Tuner
	begun  int         // slabs at the beginning
	window tune.Window // since the last decision
}

// A gauge measures a loop for the tuner.
type gauge struct {
	tick   *time.Ticker
	at     time.Time // until when the loop's time is counted
	waited time.Duration
	batch  int // batches delivered
	last   assemble.Reading
	used   time.Duration // processor time that the program had had, or waited for, then
	looked time.Time     // when the wait for processors was read
}

// usualSlice is the shortest time between two readings.
const usualSlice = 20 * time.Millisecond

// newGauge makes the gauge of a loop, or nil without [Auto].
func newGauge(l *Loader) *gauge {
	if l.tuning == nil {
		return nil
	}
	return &gauge{tick: time.NewTicker(l.cfg.slice), at: time.Now()}
}

// ticks is when the loop is to call [delivery.tick] while it waits. It is nil without [Auto].
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

// delivered counts the time of a batch: the loop waited until then, and its body took the time from then to now.
func (d *delivery) delivered(then, now time.Time) {
	g := d.gauge
	if g == nil {
		return
	}
	g.waited += then.Sub(g.at)
	g.at = now
	g.batch++
	if now.Sub(g.last.At) >= d.l.cfg.slice {
		d.measure(now)
	}
}

// tick is called while the loop waits.
func (d *delivery) tick() {
	g, now := d.gauge, time.Now()
	g.waited += now.Sub(g.at)
	g.at = now
	d.measure(now)
}

// measure adds the time since the last reading to the window, for the tuner to decide.
func (d *delivery) measure(now time.Time) {
	l, g := d.l, d.gauge
	had := l.meter.now()
	next, last := d.loop.Read(now), g.last
	used := had.used + had.queued - g.used
	g.last, g.used = next, had.used+had.queued
	waited, batches := g.waited, g.batch
	g.waited, g.batch = 0, 0
	if !last.Valid || !next.Valid {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	t := l.tuning
	t.window.Add(tune.Window{
		Took:    next.At.Sub(last.At),
		Samples: max(0, next.Placed-last.Placed),
		Batches: batches,
		Waited:  waited,
		Slowest: next.Slowest,
		Idle:    next.Idle - last.Idle,
		Short:   next.Short - last.Short,
		Reads:   next.Reads - last.Reads,
		Reading: next.Reading - last.Reading,
		Staged:  next.Staged - last.Staged,
		Used:    used,
		Timed:   had.known,
	})
	limits := tune.Limits{Processors: runtime.GOMAXPROCS(0), Samples: min(l.most(), next.Epoch), Rows: l.pool.Rows(), Deeper: l.deeper()}
	limits.Slabs, _ = l.pool.Target()
	if had.looked.Equal(g.looked) {
		return // a window ends when the wait for processors was read, as it has begun
	}
	g.looked = had.looked
	l.limit()
	if l.cfg.decide(t.Tuner, t.window, limits) {
		t.window = tune.Window{}
		l.follow()
	}
}
