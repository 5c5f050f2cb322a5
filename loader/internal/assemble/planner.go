package assemble

import (
	"fmt"
	"slices"
	"time"

	"github.com/penstock-go/penstock/internal/usercode"
	"github.com/penstock-go/penstock/loader/internal/plan"
)

// An errand is a call of user code in a goroutine of its own, which may take long: of the sampler, which plans the next
// epoch while the current one is loaded; a wait for more samples; or the end of a foresight. The goroutine belongs to
// the Team, so that a loop can end before it. Close waits for it.
type errand struct {
	doing string // in words
	begun time.Time
}

// background calls f in a goroutine of its own, and then done with its error, which may be that of a panic or of
// runtime.Goexit. ended is closed when both have returned. The Team's mutex is held.
func (t *Team) background(doing string, f func() error, done func(error)) (ended <-chan struct{}) {
	p := &errand{doing: doing, begun: time.Now()}
	over := make(chan struct{})
	t.errands = append(t.errands, p)
	t.outside.enter()
	go func() {
		defer close(over)
		defer t.endErrand(p)
		err := errGoexit // unless f returns or panics
		defer func() { done(err) }()
		err = usercode.Call(f)
	}()
	return over
}

func (t *Team) endErrand(p *errand) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.errands = slices.DeleteFunc(t.errands, func(q *errand) bool { return q == p })
	t.outside.leave()
}

// advance moves the cursor to a batch that is to be delivered. It reports whether there is one now. The Team's mutex is
// held.
func (l *Loop) advance() bool {
	ready := l.cursor.Ready()
	l.supply()
	return ready
}

// supply begins what the cursor needs: the plan of the next epoch, or more samples. The Team's mutex is held.
func (l *Loop) supply() {
	if err := l.cursor.Err(); err != nil {
		l.fail(err)
		return
	}
	if l.cursor.Lacks() > 0 {
		l.demand()
	}
	if l.stopped.Load() {
		return
	}
	from, ok := l.cursor.Due()
	if !ok {
		return
	}
	var p *plan.Plan
	var told *foresight
	l.t.background(fmt.Sprintf("planning epoch %d", from.Epoch), func() (err error) {
		if p, err = l.t.cfg.Plans.Next(l.ctx, from, l.until); err == nil && !p.Empty() {
			told, err = l.foresee(p)
		}
		return err
	}, func(err error) { l.planned(from.Epoch, p, told, err) })
}

// planned gives a plan, or the error in its place, to the cursor, and keeps what the dataset was told of it. If the
// loop has stopped, it ends that at once.
func (l *Loop) planned(epoch int, p *plan.Plan, told *foresight, err error) {
	if err == errGoexit {
		err = fmt.Errorf("loader: epoch %d: %w", epoch, err)
	}
	l.t.mu.Lock()
	l.cursor.Planned(p, err)
	l.wakeAnother()
	l.notify()
	stopped := l.stopped.Load()
	if told != nil && !stopped {
		l.foresights = append(l.foresights, told)
	}
	l.t.mu.Unlock()
	if told != nil && stopped {
		told.ended(usercode.Call(told.end))
	}
}
