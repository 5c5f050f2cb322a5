package assemble

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/penstock-go/penstock/loader/internal/plan"
)

// A Loop assembles the batches of some epochs. One goroutine calls its exported methods.
type Loop struct {
	t      *Team
	from   plan.Position
	until  int             // the epoch before which it ends
	ctx    context.Context // cancelled when the loop ends
	cancel context.CancelCauseFunc

	stopped atomic.Bool
	wanted  atomic.Pointer[Job] // the batch that is waited for and workers help with
	arrived chan struct{}       // holds a token if Next must look again

	state // guarded by the Team's mutex
}

// state is what the Team's mutex guards of a Loop.
type state struct {
	running  waitGroup // workers
	left     bool      // whether workers are left behind
	work     sync.Cond // signalled when there is work for idle workers
	idle     int       // workers that wait for work
	parked   sync.Cond // signalled when parked workers become active
	waiting  bool      // whether Next waits for a batch
	inFlight []*Job    // batches that are begun and not delivered, in order
	cursor   *plan.Cursor
	ledger   *plan.Ledger
	growth   growth
	fatal    error // ends the loop after the complete batches are delivered

	foresights []*foresight // that have not ended, in the order of their epochs
	load       load
}

func newLoop(t *Team, ctx context.Context, from plan.Position, until int) *Loop {
	l := &Loop{t: t, from: from, until: until, arrived: make(chan struct{}, 1)}
	l.cursor, l.ledger = t.cfg.Plans.NewCursor(from, until), plan.NewLedger(from)
	l.ctx, l.cancel = context.WithCancelCause(ctx)
	l.work.L, l.parked.L = &t.mu, &t.mu
	l.load.at = time.Now()
	return l
}

// Start starts planning the first epoch, and the workers.
func (l *Loop) Start() {
	l.t.mu.Lock()
	defer l.t.mu.Unlock()
	if l.stopped.Load() || l.cursor.Over() {
		return
	}
	l.supply()
	l.staff()
}

// staff starts the workers that are to be active and have not been started. The Team's mutex is held.
func (l *Loop) staff() {
	for _, w := range l.t.workers[:l.t.Active()] {
		if w.loop != l {
			w.loop, w.running, w.ended = l, true, make(chan struct{})
			l.running.enter()
			go w.main(l)
		}
	}
}

// Next waits for the batch that is to be delivered next. It returns nil after the last one. While it waits, it calls
// tick whenever the channel ticks has something; both may be nil. The error is that of the context, ErrClosed, a
// *Timeout, or what has kept batches from being begun; that of a batch itself is [Job.Err].
func (l *Loop) Next(ticks <-chan time.Time, tick func()) (*Job, error) {
	j, err := l.next(ticks, tick)
	if j != nil {
		l.endForesights()
	}
	return j, err
}

func (l *Loop) next(ticks <-chan time.Time, tick func()) (*Job, error) {
	defer l.unwant()
	var timeout <-chan time.Time
	late := false
	most := 2 * l.t.cfg.Pool.Len()
	for {
		j, over, err := l.look()
		switch {
		case j != nil || over || err != nil:
			return j, err
		case late: // the batch has not come while the system let this goroutine wait
			return nil, l.timeoutError()
		case l.addSlab(most):
			continue
		}
		if timeout == nil && l.t.cfg.Timeout > 0 {
			timer := time.NewTimer(l.t.cfg.Timeout)
			defer timer.Stop()
			timeout = timer.C
		}
		select {
		case <-l.arrived:
		case <-ticks:
			tick()
		case <-l.ctx.Done():
		case <-timeout:
			late = true
		}
	}
}

// addSlab adds a slab if that gives idle workers something to do. There are at most as many as given: otherwise workers
// would load an epoch of small batches ahead of a single slow sample.
func (l *Loop) addSlab(most int) bool {
	t := l.t
	t.mu.Lock()
	if l.stopped.Load() || !l.lacks() || t.cfg.Pool.Len() >= most {
		t.mu.Unlock()
		return false
	}
	p := t.newErrand("allocating a slab")
	t.mu.Unlock()
	defer t.endErrand(p)
	return t.cfg.Pool.Grow()
}

// look takes the batch to be delivered if it is complete, or reports that the loop is over. Otherwise it tells the
// workers which batch is waited for.
func (l *Loop) look() (j *Job, over bool, err error) {
	l.t.mu.Lock()
	defer l.t.mu.Unlock()
	// This is under the mutex, because samples that see the context done complete their batch. Such a batch must not be
	// delivered.
	if err := context.Cause(l.ctx); err != nil {
		return nil, true, endError(err)
	}
	if j, err = l.takeComplete(); j != nil || err != nil {
		l.wakeAnother() // with a bound on the batches in flight there may be room for one more now
		return j, false, err
	}
	if len(l.inFlight) == 0 && l.over() {
		return nil, true, l.fatal
	}
	if len(l.inFlight) == 0 {
		l.starve()
	}
	l.waiting = true
	l.want()
	l.wakeAnother()
	return nil, false, nil
}

// endError is the error of a loop whose context is done.
func endError(cause error) error {
	if cause == ErrClosed {
		return cause
	}
	return fmt.Errorf("loader: epoch loop: %w", cause)
}

// takeComplete removes the batch to be delivered from those in flight, if it is complete, and returns it, or the error in
// its place if it is aborted. The Team's mutex is held.
func (l *Loop) takeComplete() (*Job, error) {
	for i, j := range l.inFlight {
		if j.complete {
			l.inFlight = slices.Delete(l.inFlight, i, i+1)
			l.t.cfg.Pool.Delivered(j.Slab)
			j.After = l.ledger.Deliver(j.Ref, l.oldest())
			return j, nil
		}
		if j.aborted != nil || !l.t.cfg.Unordered {
			return nil, j.aborted
		}
	}
	return nil, nil
}

// oldest is the first batch that is not delivered. The Team's mutex is held.
func (l *Loop) oldest() plan.Ref {
	if len(l.inFlight) > 0 {
		return l.inFlight[0].Ref
	}
	return l.cursor.At()
}

// want tells the workers which batch is waited for. The Team's mutex is held.
func (l *Loop) want() {
	if !l.t.cfg.Help || len(l.inFlight) == 0 {
		return
	}
	head := l.inFlight[0]
	if l.t.cfg.Unordered {
		head = l.toHelp()
	}
	if head != nil && head.unclaimed() > 0 {
		l.wanted.Store(head)
	}
}

func (l *Loop) unwant() {
	l.wanted.Store(nil)
	l.t.mu.Lock()
	defer l.t.mu.Unlock()
	l.waiting = false
}

// over reports whether no batch is left to begin. The Team's mutex is held.
func (l *Loop) over() bool {
	l.advance()
	return l.fatal != nil || l.cursor.Over() && l.growth.plan == nil
}

// halt tells the loop and its workers to stop.
func (l *Loop) halt(cause error) {
	l.cancel(cause)
	l.t.mu.Lock()
	defer l.t.mu.Unlock()
	l.stopped.Store(true)
	l.work.Broadcast()
	l.parked.Broadcast()
	l.notify()
}
