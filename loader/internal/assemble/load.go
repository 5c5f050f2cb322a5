package assemble

import (
	"math"
	"slices"
	"time"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/internal/slots"
	"github.com/penstock-go/penstock/loader/internal/slab"
)

// load is what a Loop counts of its work. The Team's mutex guards it.
type load struct {
	assembled int // rows of batches that are complete
	placed    int // at the last reading

	at   time.Time     // until when the rest is counted
	n    int           // workers without work
	idle time.Duration // all together
}

// sleeps counts workers without work, or, if n is negative, those that have work again.
func (x *load) sleeps(now time.Time, n int) {
	x.pass(now)
	x.n += n
}

func (x *load) pass(now time.Time) {
	x.idle += time.Duration(x.n) * now.Sub(x.at)
	x.at = now
}

// A Reading is what had happened in a Loop at some time, and in the Team's stages since it was made.
type Reading struct {
	At      time.Time
	Valid   bool          // whether batches are being loaded and there are more
	Placed  int           // samples
	Idle    time.Duration // of workers without work
	Reads   int64
	Reading time.Duration // in the stages that read, all workers together
	Staged  time.Duration // in all stages
	Epoch   int           // samples that an epoch has, at most
}

// Read reads what has happened so far.
func (l *Loop) Read(now time.Time) Reading {
	t := l.t
	t.mu.Lock()
	defer t.mu.Unlock()
	x := &l.load
	placed := x.assembled
	for _, j := range l.inFlight {
		if !j.complete {
			placed += j.claimed()
		}
	}
	x.placed = max(placed, x.placed) // a batch that is being finished counts with no rows for a moment
	x.pass(now)
	r := Reading{At: now, Placed: x.placed, Idle: x.idle, Epoch: l.epoch()}
	r.Valid = placed > 0 && l.cursor.More() && l.fatal == nil && !l.stopped.Load()
	for _, w := range t.workers {
		w.clock.Each(func(stage string, count int64, total time.Duration) {
			r.Staged += total
			if stage == dataset.StageRead || stage == StageService {
				r.Reads += count
				r.Reading += total
			}
		})
	}
	return r
}

// epoch is how many samples an epoch has, at most.
func (l *Loop) epoch() int {
	p := l.cursor.At().Plan
	if p == nil || p.Growing() {
		return math.MaxInt
	}
	return slab.Product(p.Largest(), l.t.cfg.Pool.Rows())
}

// Effort is the work that workers have done.
type Effort struct {
	Busy, Drawing, MemoryWait time.Duration
	Stages                    []slots.StageTime
}

func (sum *Effort) add(w *worker) {
	staged := time.Duration(0)
	times := w.clock.Times(nil)
	for _, t := range times {
		staged += t.Total
	}
	// The time of a batch is known when it is complete, that of a stage before.
	sum.Busy += max(time.Duration(w.busy.Load()), staged)
	sum.Drawing += time.Duration(w.drawing.Load())
	sum.MemoryWait += time.Duration(w.memoryWait.Load())
	for _, t := range times {
		i := slices.IndexFunc(sum.Stages, func(s slots.StageTime) bool { return s.Name == t.Name })
		if i < 0 {
			sum.Stages = append(sum.Stages, t)
			continue
		}
		sum.Stages[i].Count += t.Count
		sum.Stages[i].Total += t.Total
	}
}

// Effort is the work of all workers, and the number of batches that are complete and not delivered.
func (t *Team) Effort() (done Effort, ready int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, w := range t.workers {
		done.add(w)
	}
	if t.loop == nil {
		return done, 0
	}
	for _, j := range t.loop.inFlight {
		if j.complete {
			ready++
		}
	}
	return done, ready
}
