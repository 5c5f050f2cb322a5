package loader

import (
	"errors"
	"runtime"
	"runtime/trace"
	"time"
)

// prepare computes which samples a fresh batch has and publishes its rows. After an
// error it ends the run in the place of the batch. It reports whether there are rows
// to place.
func (w *worker) prepare(j *job) (ok bool) {
	w.at.Store(j)
	w.drew = time.Now()
	j.begun = w.drew
	w.begins(j.begun)
	err := w.calls(drawing, func() error { return w.draws(j) })
	if err != nil {
		err = j.named(err)
	}
	if ok = w.run.prepared(j, err); !ok {
		w.drew = time.Time{}
	}
	return ok
}

// draws computes the samples of a fresh batch. It calls the sampler, the Allocator and hooks.
func (w *worker) draws(j *job) error {
	j.beginTask(w.ctx)
	defer endRegion(j.traced.region("loader.draw"))
	if err := j.Plan.Changed(); err != nil {
		return err
	}
	s := j.slab
	s.Indices = j.Plan.AppendSamples(j.K, s.Indices[:0])
	s.Draws = j.Plan.AppendDraws(j.K, s.Indices, s.Draws[:0])
	if len(s.Indices) == 0 {
		return errors.New("the batch sampler gave an empty batch")
	}
	if err := s.Reserve(len(s.Indices)); err != nil {
		return err
	}
	w.l.cfg.trace.batchBegun(j)
	return nil
}

// build works on batch j until all its rows are claimed. Before every claim it helps
// with the batch that the loop waits for, if that is another one.
func (w *worker) build(j *job) {
	w.own = j
	w.at.Store(j)
	defer trace.StartRegion(w.ctx, "loader.build").End()
	begun := time.Now()
	w.begins(begun)
	if !w.drew.IsZero() {
		w.drawing.Add(int64(begun.Sub(w.drew)))
		w.drew = time.Time{}
	}
	done := 0
	defer func() {
		w.finished(j, done)
		w.busy.Add(int64(max(0, time.Since(begun)-w.gave)))
		w.gave = 0
	}()
	chunk := w.chunk(j.size())
	for !w.run.stopped.Load() {
		if wanted := w.run.wanted.Load(); wanted != nil && wanted != j {
			w.finished(j, done)
			done = 0
			w.drain(wanted)
			w.at.Store(j)
			continue
		}
		if w.surplus() {
			break // others help with the rest of the batch
		}
		n := w.fill(j, chunk)
		if n == 0 {
			break
		}
		done += n
	}
	w.own = nil
}

// drain works on the wanted batch until all its rows are claimed.
func (w *worker) drain(j *job) {
	w.at.Store(j)
	defer trace.StartRegion(w.ctx, "loader.help").End()
	done := 0
	defer func() { w.finished(j, done) }()
	chunk := w.chunk(j.size())
	for !w.run.stopped.Load() {
		n := w.fill(j, chunk)
		if n == 0 {
			w.run.wanted.CompareAndSwap(j, nil)
			return
		}
		done += n
	}
}

// finished counts rows of a batch as finished. With the last one the batch is
// complete.
func (w *worker) finished(j *job, rows int) {
	defer w.yieldLate()
	if !j.finished(rows) {
		return
	}
	j.finisher = w.id
	awaited := false
	func() {
		defer func() { awaited = w.run.finish(j) }() // also if user code ends the goroutine
		w.seal(j)
	}()
	// If workers keep all processors busy, the loop would wait for the end of a
	// worker's time slice, 10 ms or more. Now it can run in place of this worker.
	w.yields = w.yields || awaited
}

// seal makes the batch ready for delivery. A panic of the Allocator, a step of Collate
// or a hook becomes an error in its place.
func (w *worker) seal(j *job) {
	defer endRegion(j.traced.region("loader.finish"))
	err := w.calls(finishing, func() error {
		j.seal(w.l.cfg.policy)
		if j.err == nil {
			if err := w.collate(j); err != nil {
				j.err = j.named(err)
			}
		}
		w.l.cfg.trace.batchReady(j)
		return nil
	})
	if err != nil {
		j.err = j.named(err)
	}
}

// chunk is the number of rows to claim at once. It is one, so that no row waits for
// another, unless the Reader places several samples by one call.
func (w *worker) chunk(rows int) int {
	switch {
	case w.whole != nil:
		return max(1, rows)
	case w.batch == nil:
		return 1
	case !w.l.cfg.help:
		return max(1, rows)
	}
	// With more than a few workers per processor, smaller calls cost more than they
	// help.
	sharers := max(1, min(w.l.active(), 4*runtime.GOMAXPROCS(0)))
	return max(1, (rows+sharers-1)/sharers)
}
