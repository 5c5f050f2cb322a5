package assemble

import (
	"errors"
	"fmt"
	"runtime"
	"time"
)

// What a worker does next is decided here. It needs the Team's mutex only to begin a batch, to find one to help with
// that nobody waits for, and to wait: with many workers and short samples others would wait for the mutex.

// duty gives worker w a batch: the wanted one to help with, or its own if that has unclaimed rows, or a fresh one to
// prepare, or, if all slabs are taken, the oldest one to help with. It waits until there is a batch, and returns nil
// when the loop stops.
func (l *Loop) duty(w *worker) (j *Job, fresh bool) {
	if j := l.atHand(w); j != nil {
		return j, false
	}
	l.t.mu.Lock()
	defer l.t.mu.Unlock()
	for !l.stopped.Load() {
		if w.id >= l.t.Active() {
			l.park(w)
			continue
		}
		if j := l.atHand(w); j != nil {
			l.wakeAnother()
			return j, false
		}
		if w.own = l.open(w); w.own != nil {
			l.wakeAnother()
			return w.own, true
		}
		if j := l.toHelp(); j != nil {
			l.wakeAnother()
			return j, false
		}
		l.sleep(w)
	}
	return nil, false
}

// atHand is the wanted batch or else the worker's own, if it has unclaimed rows and the worker is to work.
func (l *Loop) atHand(w *worker) *Job {
	if l.stopped.Load() || w.id >= l.t.Active() {
		return nil
	}
	if j := l.wanted.Load(); j != nil {
		if j.unclaimed() > 0 {
			return j
		}
		l.wanted.CompareAndSwap(j, nil)
	}
	if w.own != nil && w.own.unclaimed() > 0 {
		return w.own
	}
	return nil
}

// park waits until the worker may be active again. Another worker takes the work for which this one was woken.
func (l *Loop) park(w *worker) {
	w.waits, w.slept = waitsToBeActive, time.Now()
	l.wakeAnother()
	l.parked.Wait()
	w.waits = ""
}

// sleep waits for work. If all slabs are taken, the time counts as a wait for memory.
func (l *Loop) sleep(w *worker) {
	short := l.cursor.More() && !l.t.cfg.Pool.Room()
	begun := time.Now()
	w.waits, w.slept = waitsForWork, begun
	if short {
		w.waits = waitsForMemory
	}
	l.load.sleeps(begun, 1)
	l.idle++
	if l.lacks() {
		l.notify()
	}
	l.work.Wait()
	l.idle--
	woken := time.Now()
	l.load.sleeps(woken, -1)
	w.waits = ""
	if short {
		w.memoryWait.Add(int64(woken.Sub(begun)))
	}
}

// wakeAnother wakes one idle worker if there is work for it. That worker wakes the next one, so that as many wake as
// there is work for.
func (l *Loop) wakeAnother() {
	if l.idle > 0 && (l.cursor.More() && l.t.cfg.Pool.Room() || l.toHelp() != nil) {
		l.work.Signal()
	}
}

// toHelp is the oldest batch with unclaimed rows, or nil.
func (l *Loop) toHelp() *Job {
	if !l.t.cfg.Help {
		return nil
	}
	for _, j := range l.inFlight {
		if j.unclaimed() > 0 {
			return j
		}
	}
	return nil
}

// open takes a slab for the next batch, or returns nil if there is no slab or no batch.
func (l *Loop) open(w *worker) *Job {
	if l.fatal != nil || l.ctx.Err() != nil {
		return nil
	}
	if !l.t.cfg.Pool.Room() || !l.advance() {
		return nil
	}
	s := l.t.cfg.Pool.Take()
	if s == nil {
		return nil
	}
	j := &Job{Ref: l.cursor.Take(), Slab: s, ID: l.t.begun, Context: l.ctx, Worker: w.id, Outcome: Outcome{Finisher: -1}}
	l.t.begun++
	l.inFlight = append(l.inFlight, j)
	l.supply() // not only when a worker looks for a batch, because it needs a free slab then
	return j
}

// lacks reports whether Next, which waits, is to add a slab, because workers have nothing to do without.
func (l *Loop) lacks() bool {
	return l.t.cfg.Elastic && l.waiting && l.idle > 0 && l.fatal == nil && l.cursor.More() && !l.t.cfg.Pool.Room() && l.toHelp() == nil
}

// prepared publishes the rows of a batch, or ends the loop with an error in its place. It reports whether there are
// rows to place.
func (l *Loop) prepared(j *Job, err error) bool {
	l.t.mu.Lock()
	defer l.t.mu.Unlock()
	if err != nil {
		j.Err, j.complete = err, true
		l.fail(err)
		return false
	}
	j.publish()
	if l.waiting {
		l.want()
	}
	l.wakeAnother()
	return true
}

// finish marks a batch as complete and reports whether it is waited for.
func (l *Loop) finish(j *Job) (awaited bool) {
	l.t.mu.Lock()
	defer l.t.mu.Unlock()
	j.complete = true
	l.load.assembled += len(j.Slab.Indices)
	awaited = l.waiting && (l.t.cfg.Unordered || len(l.inFlight) > 0 && l.inFlight[0] == j)
	if awaited {
		l.notify()
	}
	return awaited
}

// abort ends the loop with an error in the place of a batch that nobody completes.
func (l *Loop) abort(j *Job, err error) {
	l.t.mu.Lock()
	defer l.t.mu.Unlock()
	j.aborted = err
	l.notify()
}

// fail ends the loop with an error, after the batches that are complete. The Team's mutex is held.
func (l *Loop) fail(err error) {
	if l.fatal == nil {
		l.fatal = err
	}
	l.notify()
}

// failWorker ends the loop with an error of a worker that works on no batch. An added worker, above those of the
// beginning, is done without, and so are those of higher numbers.
func (l *Loop) failWorker(w *worker, err error) {
	t := l.t
	t.mu.Lock()
	defer t.mu.Unlock()
	err = fmt.Errorf("loader: worker %d: %w", w.id, err)
	if w.id < t.cfg.Workers {
		l.fail(err)
		return
	}
	if t.limited.err == nil || w.id < t.limited.workers {
		t.limited = limit{w.id, err}
	}
	t.staff(t.Active())
}

// notify wakes Next to look again.
func (l *Loop) notify() {
	select {
	case l.arrived <- struct{}{}:
	default: // there is a token already
	}
}

// prepare computes which samples a fresh batch has and publishes its rows. After an error it ends the loop in the place
// of the batch. It reports whether there are rows to place.
func (w *worker) prepare(j *Job) (ok bool) {
	w.at.Store(j)
	w.drew = time.Now()
	j.Begun = w.drew
	w.stamp(j.Begun)
	err := w.guard(drawing, func() error { return w.drawSamples(j) })
	if err != nil {
		err = j.wrap(err)
	}
	if ok = w.loop.prepared(j, err); !ok {
		w.drew = time.Time{}
	}
	return ok
}

// drawSamples computes the samples of a fresh batch. It calls the sampler, the Allocator and hooks.
func (w *worker) drawSamples(j *Job) error {
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
	tell(w.t.cfg.Hooks.Begun, j)
	return nil
}

// build works on batch j until all its rows are claimed, or until it is to help with another one, or to park.
func (w *worker) build(j *Job) {
	w.at.Store(j)
	begun := time.Now()
	w.stamp(begun)
	if !w.drew.IsZero() {
		w.drawing.Add(int64(begun.Sub(w.drew)))
		w.drew = time.Time{}
	}
	done := 0
	defer func() {
		w.finishRows(j, done)
		w.busy.Add(int64(max(0, time.Since(begun)-w.gave)))
		w.gave = 0
	}()
	chunk := w.chunk(j.size())
	for !w.loop.stopped.Load() && !w.surplus() {
		if wanted := w.loop.wanted.Load(); wanted != nil && wanted != j {
			return
		}
		n := w.fill(j, chunk)
		if n == 0 {
			w.loop.wanted.CompareAndSwap(j, nil)
			return
		}
		done += n
	}
}

// finishRows counts rows of a batch as finished. With the last one the batch is complete.
func (w *worker) finishRows(j *Job, rows int) {
	if !j.countDown(rows) {
		return
	}
	j.Finisher = w.id
	w.seal(j)
	if awaited := w.loop.finish(j); awaited {
		w.giveWay()
	}
}

// seal makes the batch ready for delivery. A panic of the Allocator, a step or a hook becomes an error in its place.
func (w *worker) seal(j *Job) {
	err := w.guard(finishing, func() error {
		j.seal(w.t.cfg.Skip)
		if j.Err == nil {
			if err := w.steps(j); err != nil {
				j.Err = j.wrap(err)
			}
		}
		tell(w.t.cfg.Hooks.Ready, j)
		return nil
	})
	if err != nil {
		j.Err = j.wrap(err)
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
	sharers := min(w.t.Active(), 4*runtime.GOMAXPROCS(0))
	return max(1, (rows+sharers-1)/sharers)
}

// surplus reports whether the worker is to park, and may leave its batch to others.
func (w *worker) surplus() bool { return w.t.cfg.Help && w.id >= w.t.Active() }
