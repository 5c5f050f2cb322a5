package loader

import (
	"context"
	"fmt"
	"iter"
	"time"

	"github.com/penstock-go/penstock/loader/internal/assemble"
	"github.com/penstock-go/penstock/loader/internal/plan"
)

// Epoch loops over the batches of one epoch, which is 0 or more. A batch belongs to the loop body; after that its memory
// is reused, unless [Batch.Keep] was called.
//
// An error comes with a nil batch and ends the loop. It comes in the place of its batch, after all earlier batches: a
// [SampleError] for a sample that cannot be placed, unless [Skip] leaves it out. If ctx is done, the loop ends with
// an error that wraps the cause.
//
// When the loop has ended, in any way, all its workers have ended too, but for calls of user code that last longer than
// a [Timeout]. A sampler may still plan the next epoch; [Loader.Close] waits for it.
func (l *Loader) Epoch(ctx context.Context, epoch int) iter.Seq2[*Batch, error] {
	return l.Epochs(ctx, epoch, epoch+1) // From refuses epoch math.MaxInt, for which this overflows
}

// Epochs loops over the batches of several epochs: from, from+1 and so on up to, but not including, to. There is no gap
// between them: the first batches of an epoch are assembled while the last ones of the epoch before are consumed.
// Otherwise it is like [Loader.Epoch].
func (l *Loader) Epochs(ctx context.Context, from, to int) iter.Seq2[*Batch, error] {
	return l.From(ctx, Position(l.plans.Start(from)), to)
}

// From resumes at a position and loops up to, but not including, epoch until. The batches are the same as without an
// interruption, for any number of workers. With another number of ranks or another batch size, the samples are the
// same, in the same global order. If the position is in epoch until or later, there are no batches. Otherwise it is
// like [Loader.Epoch].
//
// It is an error if the position was taken with another order, seed or number of samples (see [Position]), or if it
// lies after the end of its epoch.
func (l *Loader) From(ctx context.Context, p Position, until int) iter.Seq2[*Batch, error] {
	return func(yield func(*Batch, error) bool) {
		from := plan.Position(p)
		err := l.plans.Check(from)
		var loop *assemble.Loop
		if err == nil {
			loop, err = l.team.Begin(ctx, from, until)
		}
		if err != nil {
			yield(nil, l.public(err))
			return
		}
		d := &delivery{l: l, loop: loop, from: from, until: until, begun: time.Now(), gauge: newGauge(l, loop)}
		defer d.end()
		d.run(yield)
	}
}

// A delivery gives the batches of one loop to its body, in the loop's goroutine.
type delivery struct {
	l       *Loader
	loop    *assemble.Loop
	from    plan.Position
	until   int // the epoch before which it ends
	begun   time.Time
	gauge   *gauge // nil without Auto
	failed  int    // samples that failed in batches that the loop has reached
	batches int    // delivered
}

// end ends the loop.
func (d *delivery) end() {
	d.gauge.stop()
	d.loop.Stop()
}

// run delivers batches to the loop body, until there are no more or the body or an error ends the loop.
func (d *delivery) run(yield func(*Batch, error) bool) {
	since := d.begun // the first wait includes the start
	l := d.l
	l.counts.loops(since)
	defer l.counts.loops(time.Time{})
	d.loop.Start()
	for {
		j, err := d.loop.Next(d.gauge.ticks(), d.gauge.waits)
		if j == nil {
			switch {
			case err != nil:
				yield(nil, l.public(err))
			case d.batches == 0 && d.from.Draw == 0 && d.from.Epoch < d.until:
				why := l.vacancy(d.failed)
				l.counts.add(func(s *Stats) { s.noBatch = why })
			}
			return
		}
		waited := time.Since(since)
		emptied, err := d.outcome(j)
		if emptied {
			l.team.Release(j)
			continue // without resetting since: the loop still waits
		}
		l.counts.waited(waited, since == d.begun)
		begun := since.Add(waited)
		goesOn, ended := d.deliver(j, err, waited, begun, yield)
		l.counts.bodyTook(ended.Sub(begun))
		d.gauge.delivered(begun, ended)
		if !goesOn {
			return
		}
		since = ended
	}
}

// outcome counts the failures of a batch. It returns the error that takes the batch's place, if any, or reports that
// [Skip] has emptied the batch, which is then not delivered.
func (d *delivery) outcome(j *assemble.Job) (emptied bool, err error) {
	d.failed += len(j.Failures)
	d.l.counts.failed(j.Failures, j.Dropped)
	switch limit := d.l.cfg.limit; {
	case j.Passing:
	case d.l.cfg.skip && d.failed > limit:
		last := (*SampleError)(j.Failures[len(j.Failures)-1])
		return false, fmt.Errorf("loader: %d samples failed, Skip allows %d; the last: %w", d.failed, limit, last)
	case j.Rows == 0 && j.Err == nil:
		d.l.counts.add(func(s *Stats) { s.Emptied++ })
		return true, nil
	}
	return false, d.l.public(j.Err)
}

// deliver gives the loop body a batch, or the error in its place. It reports whether the loop continues, and when the
// body that has begun at begun ended.
func (d *delivery) deliver(j *assemble.Job, err error, waited time.Duration, begun time.Time, yield func(*Batch, error) bool) (goesOn bool, ended time.Time) {
	b := &Batch{l: d.l, job: j, ref: j.Ref, rows: j.Rows, at: j.After}
	b.holders.Store(1)
	defer b.release()
	for _, t := range d.l.cfg.observers {
		if t.BatchDelivered != nil {
			t.BatchDelivered(infoOf(j), waited)
		}
	}
	if err != nil {
		b = nil
	} else {
		d.batches++
		d.l.counts.add(func(s *Stats) { s.Batches++; s.Samples += int64(j.Rows) })
	}
	goesOn = yield(b, err)
	ended = time.Now()
	for _, t := range d.l.cfg.observers {
		if t.BatchEnded != nil {
			t.BatchEnded(infoOf(j), ended.Sub(begun))
		}
	}
	return goesOn && err == nil, ended
}
