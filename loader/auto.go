package loader

import (
	"fmt"
	"io/fs"
	"math"
	"os"
	"runtime"
	"time"

	"github.com/penstock-go/penstock/internal/figures"
	"github.com/penstock-go/penstock/internal/machine"
	"github.com/penstock-go/penstock/loader/internal/assemble"
	"github.com/penstock-go/penstock/loader/internal/slab"
	"github.com/penstock-go/penstock/loader/internal/tune"
)

// Auto as the number of [Workers] lets the loader find the number itself, and change it while it runs.
//
// It starts with a worker per processor. If workers wait rather than compute, more of them help, and how many follows
// from how much they wait: as many as keep the processors or the loop body busy, and two fifths more, up to 256, or as
// many as an epoch has samples. How much they compute is known from the processor time of the program and, on Linux,
// from how long its threads wait for processors that other programs have; where the system does not tell it, from the
// dataset's stages. It takes about three samples per worker to know, and some more to see whether storage serves so
// many reads at once: if not, the workers that it does not serve are parked. From then on Auto leaves the number alone
// until the load has clearly changed: the speed by a third, or reads to half of their time. If the loop body is the
// limit, it parks the workers that are not needed. Parked workers keep their Readers.
//
// Slabs are added, within the [Budget], while the loop waits for a batch and workers have no memory to go on: at most
// as many as there are, for one batch. They are kept until the loader is closed. Options that are given explicitly stay
// fixed: [InFlight], for one. The data is the same as with any number of workers.
//
// [Stats.Tuning] says what the loader has chosen, and why. What it has learned is kept from loop to loop.
const Auto = math.MinInt32

// Budget sets how many bytes the batches may take: all slabs and ragged fields, as [Stats].SlabBytes counts them. What
// Readers allocate does not count. By default it is 2 GiB, or three slabs if these are larger. With [Auto] it is a
// quarter of the memory that the system, and the container if there is one, have available when the loader is made.
//
// It bounds the number of slabs. Ragged fields count with the size of the largest batch so far. So a larger batch may
// exceed the budget by the difference. A budget for one slab only makes workers wait while a batch is in the loop body.
// With one for more slabs, a batch can always be assembled meanwhile, however large ragged fields are. It is an error
// if the slabs of [InFlight], or a single slab, take more than the budget.
func Budget(bytes int) Option {
	return Option{func(c *config) { c.budget = bytes; c.set.budget = true }}
}

// automatic fills in what Auto implies.
func (c *config) automatic(processors int) {
	if c.workers != Auto {
		return
	}
	c.auto, c.workers = true, processors
	if !c.set.budget {
		c.budget = quarter(os.DirFS("/"))
	}
}

// quarter is a quarter of the memory that is available, at least a byte, or the usual bound where that is not known.
func quarter(root fs.FS) int {
	if room, known := machine.Available(root); known {
		return int(min(max(room.Bytes/4, 1), math.MaxInt))
	}
	return bound
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
	looked time.Time     // when the wait for processors was read, at the last decision
}

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
	l, had := g.l, g.l.meter.now()
	next, last := g.loop.Read(now), g.last
	used := had.used + had.queued - g.used
	g.last, g.used = next, had.used+had.queued
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
		Used:    used,
		Timed:   had.known,
	})
	if had.looked.Equal(g.looked) {
		return // a window ends when the wait for processors was read, as it has begun
	}
	g.looked = had.looked
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
	if l.cfg.elastic() {
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
	text := fmt.Sprintf("%s, %s in flight within %s: %s", figures.Count(l.team.Active(), "worker", "workers"),
		figures.Count(l.pool.Len(), "batch", "batches"), figures.Bytes(int64(l.cfg.budget)), c.Reason)
	if workers, err := l.team.Limit(); err != nil {
		text += fmt.Sprintf("; there are no more than %s: %v", figures.Count(workers, "worker", "workers"), err)
	}
	if err := l.pool.Refused(); err != nil {
		text += fmt.Sprintf("; there are no more than %d slabs: %v", l.pool.Len(), err)
	}
	return text
}
