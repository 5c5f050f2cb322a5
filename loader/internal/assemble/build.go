package assemble

import (
	"errors"
	"runtime"
	"runtime/trace"
	"time"
)

// prepare computes which samples a fresh batch has and publishes its rows. After an error it ends the loop in the place
// of the batch. It reports whether there are rows to place.
func (w *worker) prepare(j *Job) (ok bool) {
	w.at.Store(j)
	w.drew = time.Now()
	j.Begun = w.drew
	w.begins(j.Begun)
	err := w.calls(drawing, func() error { return w.draws(j) })
	if err != nil {
		err = j.named(err)
	}
	if ok = w.loop.prepared(j, err); !ok {
		w.drew = time.Time{}
	}
	return ok
}

// draws computes the samples of a fresh batch. It calls the sampler, the Allocator and hooks.
func (w *worker) draws(j *Job) error {
	j.beginTask(w.ctx)
	defer j.Region("loader.draw")()
	if err := j.Plan.Changed(); err != nil {
		return err
	}
	s := j.Slab
	s.Indices = j.Plan.AppendSamples(j.K, s.Indices[:0])
	s.Draws = j.Plan.AppendDraws(j.K, s.Indices, s.Draws[:0])
	if len(s.Indices) == 0 {
		return errors.New("the batch sampler gave an empty batch")
	}
	if err := s.Reserve(len(s.Indices)); err != nil {
		return err
	}
	j.told = true
	if hook := w.t.cfg.Hooks.Begun; hook != nil {
		hook(j)
	}
	return nil
}

// build works on batch j until all its rows are claimed. Before every claim it helps with the batch that the loop waits
// for, if that is another one.
func (w *worker) build(j *Job) {
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
	for !w.loop.stopped.Load() {
		if wanted := w.loop.wanted.Load(); wanted != nil && wanted != j {
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
}

// drain works on the wanted batch until all its rows are claimed.
func (w *worker) drain(j *Job) {
	w.at.Store(j)
	defer trace.StartRegion(w.ctx, "loader.help").End()
	done := 0
	defer func() { w.finished(j, done) }()
	chunk := w.chunk(j.size())
	for !w.loop.stopped.Load() {
		n := w.fill(j, chunk)
		if n == 0 {
			w.loop.wanted.CompareAndSwap(j, nil)
			return
		}
		done += n
	}
}

// finished counts rows of a batch as finished. With the last one the batch is complete.
func (w *worker) finished(j *Job, rows int) {
	defer w.yieldLate()
	if !j.finished(rows) {
		return
	}
	j.Finisher = w.id
	w.seal(j)
	awaited := w.loop.finish(j)
	// If workers keep all processors busy, the loop would wait for the end of a worker's time slice, 10 ms or more. Now
	// it can run in place of this worker.
	w.yields = w.yields || awaited
}

// seal makes the batch ready for delivery. A panic of the Allocator, a step or a hook becomes an error in its place.
func (w *worker) seal(j *Job) {
	defer j.Region("loader.finish")()
	err := w.calls(finishing, func() error {
		j.seal(w.t.cfg.Policy)
		if j.Err == nil {
			if err := w.steps(j); err != nil {
				j.Err = j.named(err)
			}
		}
		if hook := w.t.cfg.Hooks.Ready; hook != nil {
			hook(j, time.Since(j.Begun))
		}
		return nil
	})
	if err != nil {
		j.Err = j.named(err)
	}
}

// chunk is the number of rows to claim at once. It is one, so that no row waits for another, unless the Reader places
// several samples by one call.
func (w *worker) chunk(rows int) int {
	switch {
	case w.t.cfg.Service != nil:
		return max(1, rows)
	case w.batch == nil:
		return 1
	case !w.t.cfg.Help:
		return max(1, rows)
	}
	// With more than a few workers per processor, smaller calls cost more than they help.
	sharers := max(1, min(w.t.Active(), 4*runtime.GOMAXPROCS(0)))
	return max(1, (rows+sharers-1)/sharers)
}

// surplus reports whether the worker is to park, and may leave its batch to others.
func (w *worker) surplus() bool { return w.t.cfg.Help && w.id >= max(1, w.t.Active()) }
