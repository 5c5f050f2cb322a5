// Package assemble fills slabs with batches. A [Team] has the workers of a loader, which stay from loop to loop with
// their Readers. A [Loop] is one loop over some epochs: its workers begin batches, claim rows, place samples and help
// with the batch that the loop waits for; [Loop.Next] gives the batches in order.
//
// It starts the goroutines of workers, those of errands, such as the plan of an epoch, one that waits for workers
// that a loop has left behind, and in [Team.Close] one for every Reader. It does not decide how many workers there are,
// and delivers to nobody.
//
// A Team has one mutex, which guards what it and its Loops, workers and Jobs say that it guards. It is held while
// package slab locks its own, and never while code of the user is called: datasets, samplers, hooks and Allocators.
package assemble

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/loader/internal/plan"
	"github.com/penstock-go/penstock/loader/internal/slab"
	"github.com/penstock-go/penstock/loader/internal/usercode"
)

var (
	// ErrClosed is the error of a loop over a closed Team, and of the loop that Close ends.
	ErrClosed = errors.New("loader: closed")
	errBusy   = errors.New("loader: another loop over this loader is running")
)

// A Config says what a Team assembles.
type Config struct {
	Dataset dataset.Dataset
	Service Service // Dataset, if it is one
	Plans   *plan.Planner
	Pool    *slab.Pool
	Steps   *Steps // on whole batches
	Workers int    // at first

	Seed      uint64
	Skip      bool // whether samples that cannot be placed are left out
	Help      bool
	Unordered bool
	Timeout   time.Duration // of calls of user code; 0 for none
	Timed     bool          // whether calls of user code are timed one by one
	Elastic   bool          // whether slabs are added while the loop waits
	Hooks     Hooks
}

// Hooks are told what happens.
type Hooks struct {
	Begun  []func(*Job)
	Ready  []func(*Job)
	Freed  []func(*Job)
	Placed []func(Attempt)
	Failed []func(*Failure)
}

// tell calls all hooks of a kind.
func tell[T any](hooks []func(T), v T) {
	for _, hook := range hooks {
		hook(v)
	}
}

// A Team is the workers of a loader.
type Team struct {
	cfg    Config
	made   time.Time
	active atomic.Int32 // workers that are to work; those with higher numbers park

	mu      sync.Mutex
	workers []*worker
	loop    *Loop // that runs, or nil
	begun   int64 // number of batches that were begun
	closed  bool
	late    error // errors of freeing slabs and closing Readers, for Close to return
	limited limit

	// Goroutines that may outlive a loop:
	outside waitGroup // counts workers that are left behind and errands
	errands []*errand
}

// A limit is how many workers can open the dataset.
type limit struct {
	workers int
	err     error // of the next one; nil if there is no limit
}

// New makes a Team. Its workers start with the first loop.
func New(c Config) *Team {
	t := &Team{cfg: c, made: time.Now()}
	for id := range c.Workers {
		t.workers = append(t.workers, newWorker(t, id))
	}
	t.active.Store(int32(c.Workers))
	return t
}

// Begin makes a loop. It is an error if one is under way, and a *Timeout if calls of an earlier one have not returned.
// The caller ends it with [Loop.Stop].
func (t *Team) Begin(ctx context.Context, from plan.Position, until int) (*Loop, error) {
	t.mu.Lock()
	closed, running := t.closed, t.loop
	if !closed && running == nil {
		t.loop = newLoop(t, ctx, from, until)
		defer t.mu.Unlock()
		return t.loop, nil
	}
	left := running != nil && running.left
	t.mu.Unlock()
	switch {
	case closed:
		return nil, ErrClosed
	case left:
		return nil, running.timeoutError()
	}
	return nil, errBusy
}

// Close ends the loop that runs, if any, waits for all workers, and closes their Readers and the pool. It is called
// once. It waits for calls of user code no longer than the Timeout, and returns those that have not returned.
func (t *Team) Close() (left []Activity, err error) {
	if l := t.shut(); l != nil {
		l.halt(ErrClosed)
		l.join()
	}
	left = t.retire()
	return left, t.cfg.Pool.Close()
}

// shut marks the team and its pool as closed, and returns the loop under way, if any.
func (t *Team) shut() *Loop {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.closed = true
	t.cfg.Pool.Shut()
	return t.loop
}

// Late is the errors of freeing slabs and closing Readers that no caller was given.
func (t *Team) Late() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.late
}

// keepError keeps an error for [Team.Late].
func (t *Team) keepError(err error) {
	if err == nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.late = errors.Join(t.late, err)
}

// Active is the number of workers that are to work.
func (t *Team) Active() int { return int(t.active.Load()) }

// Limit is the number of workers that can open the dataset, and the error of the next one, if an added worker could
// not.
func (t *Team) Limit() (workers int, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.limited.workers, t.limited.err
}

// Staff sets the number of workers that are to work, from now on.
func (t *Team) Staff(workers int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.staff(workers)
}

func (t *Team) staff(workers int) {
	if t.limited.err != nil {
		workers = min(workers, t.limited.workers)
	}
	fewer := workers < t.Active()
	t.active.Store(int32(workers))
	l := t.loop
	if l == nil || l.stopped.Load() {
		return
	}
	for id := len(t.workers); id < workers; id++ {
		t.workers = append(t.workers, newWorker(t, id))
	}
	if fewer {
		l.work.Broadcast() // so that those that are idle park
	}
	l.staff()
	l.parked.Broadcast()
	l.wakeAnother()
}

// Release makes the slab of a batch free for another one, of this loop or of a later one.
func (t *Team) Release(j *Job) {
	j.claims.Store(0) // an unfinished batch may have unclaimed rows
	err := j.Slab.Vacate()
	defer func() { // also if a hook ends the goroutine
		t.keepError(errors.Join(err, t.cfg.Pool.Put(j.Slab)))
		t.mu.Lock()
		defer t.mu.Unlock()
		if t.loop != nil {
			t.loop.work.Signal()
		}
	}()
	t.tellFreed(j)
}

// tellFreed calls the hook for a batch whose slab is not used any more.
func (t *Team) tellFreed(j *Job) {
	if !j.told {
		return
	}
	err := usercode.Call(func() error {
		tell(t.cfg.Hooks.Freed, j)
		return nil
	})
	if err != nil {
		t.keepError(fmt.Errorf("loader: hook BatchFreed: %w", err))
	}
}

// Name is the dataset's name for a sample, or empty if there is none.
func (t *Team) Name(index, samples int) (name string) {
	var err error
	defer usercode.Recover(&err)
	if index < 0 || samples != dataset.Unknown && index >= samples {
		return ""
	}
	return dataset.Name(t.cfg.Dataset, index)
}

// A waitGroup counts goroutines, so that others can wait for their end. The Team's mutex guards it.
type waitGroup struct {
	n    int
	gone chan struct{} // closed when n falls to 0; nil while nobody waits
}

func (c *waitGroup) enter() { c.n++ }

func (c *waitGroup) leave() {
	if c.n--; c.n == 0 && c.gone != nil {
		close(c.gone)
		c.gone = nil
	}
}

// wait returns a channel that is closed when no goroutine is left.
func (c *waitGroup) wait() <-chan struct{} {
	if c.gone == nil {
		c.gone = make(chan struct{})
		if c.n == 0 {
			defer func() { c.gone = nil }()
			close(c.gone)
		}
	}
	return c.gone
}
