package loader

import (
	"fmt"
	"math"
	"runtime"
	"time"

	"github.com/penstock-go/penstock/internal/figures"
	"github.com/penstock-go/penstock/loader/internal/assemble"
	"github.com/penstock-go/penstock/loader/internal/slab"
	"github.com/penstock-go/penstock/loader/internal/tune"
)

// Auto as the number of [Workers] lets the loader find the number itself, and change it while it runs: it starts with a
// worker per processor, and adds as many as follow from how long workers wait rather than compute, up to 256. Workers
// that storage does not serve are parked; those of a load that has clearly changed are counted anew. Slabs are added,
// within the [Budget], while the loop waits and all are in use, for one batch at most as many as there are, unless
// [InFlight] is given.
//
// What was learned is kept from loop to loop, and [Stats.Tuning] says what was chosen, and why.
const Auto = math.MinInt32

// automatic fills in what Auto and Workers(0) imply.
func (c *config) automatic(processors int) {
	switch c.workers {
	case Auto:
		c.auto, c.workers = true, processors
	case 0:
		c.workers = 1
		if !c.set.inFlight {
			c.inFlight, c.set.inFlight = 1, true
		}
	}
}

// A gauge measures a loop for the tuner, in the loop's goroutine.
type gauge struct {
	l      *Loader
	loop   *assemble.Loop
	tick   *time.Ticker
	window tune.Window   // since the last decision
	at     time.Time     // until when the loop's time is counted
	waited time.Duration // since the last reading
	batch  int           // batches delivered since then
	last   assemble.Reading
	used   time.Duration // processor time that the program had had, or waited for, at the last reading
	queued time.Duration // what of it was waiting, at looked
	looked time.Time
}

// lookAgain is how often the wait for processors is read, in slices: it takes 16 µs per thread.
const lookAgain = 5

// usualSlice is the shortest time between two readings.
const usualSlice = 20 * time.Millisecond

// newGauge makes the gauge of a loop, or nil without [Auto]. It goes on with the window of the loop before.
func newGauge(l *Loader, loop *assemble.Loop) *gauge {
	if l.tuner == nil {
		return nil
	}
	return &gauge{l: l, loop: loop, tick: time.NewTicker(l.cfg.slice), at: time.Now(), window: l.window}
}

// ticks is when the loop is to call [gauge.waits] while it waits. It is nil without [Auto].
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
		g.l.window = g.window
	}
}

// delivered counts the time of a batch: the loop waited until then, and its body took the time from then to now.
func (g *gauge) delivered(then, now time.Time) {
	if g == nil {
		return
	}
	g.waited += then.Sub(g.at)
	g.batch++
	if g.at = now; now.Sub(g.last.At) >= g.l.cfg.slice {
		g.measure(now)
	}
}

// waits is called while the loop waits.
func (g *gauge) waits() {
	now := time.Now()
	g.waited += now.Sub(g.at)
	g.at = now
	g.measure(now)
}

// measure adds what has happened since the last reading to the window, for the tuner to decide.
func (g *gauge) measure(now time.Time) {
	l := g.l
	looks := now.Sub(g.looked) >= lookAgain*l.cfg.slice
	if looks {
		queued, _ := l.cfg.processorWait()
		g.queued, g.looked = max(queued, g.queued), now // it is less when threads have ended
	}
	used, timed := l.cfg.processTime()
	used += g.queued
	next, last, had := g.loop.Read(now), g.last, g.used
	g.last, g.used = next, used
	waited, batches := g.waited, g.batch
	g.waited, g.batch = 0, 0
	if !last.Valid || !next.Valid {
		return
	}
	g.window.Add(tune.Window{
		Took:    next.At.Sub(last.At),
		Samples: max(0, next.Placed-last.Placed),
		Batches: batches,
		Waited:  waited,
		Idle:    next.Idle - last.Idle,
		Reads:   next.Reads - last.Reads,
		Reading: next.Reading - last.Reading,
		Staged:  next.Staged - last.Staged,
		Used:    used - had,
		Timed:   timed,
	})
	if !looks {
		return // a window ends when the wait for processors was read, as it has begun
	}
	limits := tune.Limits{Processors: runtime.GOMAXPROCS(0), Workers: min(tune.Most, l.most(), next.Epoch), Rows: l.pool.Rows()}
	if l.cfg.decide(l.tuner, g.window, limits) {
		g.window = tune.Window{}
		l.chosen.Store(new(l.tuner.Choice))
		l.team.Staff(l.tuner.Workers)
	}
}

// most is the number of workers that have something to do: as many as there may be samples of all batches but for the
// one in the loop body, and no more than can open the dataset.
func (l *Loader) most() int {
	slabs := l.cfg.inFlight
	if !l.cfg.set.inFlight {
		slabs = l.pool.Limit()
	}
	samples := slab.Product(max(1, slabs-1), l.pool.Rows())
	if workers, err := l.team.Limit(); err != nil {
		return min(samples, workers)
	}
	return samples
}

// tuning says what Auto has chosen, and why. It is empty without Auto.
func (l *Loader) tuning() string {
	if !l.cfg.auto {
		return ""
	}
	c := l.chosen.Load()
	text := fmt.Sprintf("%s: %s", figures.Count(l.team.Active(), "worker", "workers"), c.Reason)
	if workers, err := l.team.Limit(); err != nil {
		text += fmt.Sprintf("; there are no more than %s: %v", figures.Count(workers, "worker", "workers"), err)
	}
	if err := l.pool.Refused(); err != nil {
		text += fmt.Sprintf("; there are no more than %s: %v", figures.Count(l.pool.Len(), "slab", "slabs"), err)
	}
	return text
}
