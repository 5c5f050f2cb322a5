package serve

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/penstock-go/penstock/loader"
)

// main is the lane's goroutine.
func (l *lane) main() {
	defer l.p.remove(l)
	var losses losses
	ld, err := loader.New(l.p.s.ds, append(l.p.s.loader(l.share), losses.observe())...)
	if err != nil {
		l.fail(err)
		return
	}
	for {
		ctx, a, ok := l.started()
		if !ok {
			break
		}
		losses.forget()
		l.loop(ctx, ld, a, &losses)
		l.ended()
	}
	l.fail(ld.Close())
}

// fail closes the lane.
func (l *lane) fail(err error) {
	l.p.mu.Lock()
	l.closing, l.running, l.err = true, false, err
	drop := l.window
	l.window = nil
	l.broadcast()
	l.p.mu.Unlock()
	release(drop)
}

// started waits until the loop must begin. ctx is done when it must end.
func (l *lane) started() (ctx context.Context, a address, ok bool) {
	l.p.mu.Lock()
	defer l.p.mu.Unlock()
	for l.starts == nil {
		if !l.wait() {
			return nil, a, false
		}
	}
	a, l.starts = *l.starts, nil
	ctx, l.stop = context.WithCancel(l.ctx)
	return ctx, a, l.ctx.Err() == nil
}

// wait unlocks the mutex until something changes. It reports false if the lane is closed.
func (l *lane) wait() bool {
	changed := l.changed
	l.p.mu.Unlock()
	defer l.p.mu.Lock()
	select {
	case <-changed:
		return true
	case <-l.ctx.Done():
		return false
	}
}

// ended notes that the loop is over.
func (l *lane) ended() {
	l.p.mu.Lock()
	defer l.p.mu.Unlock()
	l.stop()
	l.stop = nil
	if l.starts == nil {
		l.running = false
		l.broadcast()
	}
}

// epochs is how many epochs a loop lasts at most. The next loop begins with a gap.
const epochs = 64

// loop makes batches from a on.
func (l *lane) loop(ctx context.Context, ld *loader.Loader, a address, losses *losses) {
	rest, err := l.p.s.rests.of(l.share, a.epoch, a.draw)
	if err != nil {
		l.publish(ctx, &made{at: a, err: err}, a, 0)
		return
	}
	from, until := ld.Position(a.epoch), a.epoch+min(epochs, math.MaxInt-a.epoch)
	from.Draw = min(a.draw+a.number*rest.Step, rest.End)
	first := rest.Number // the loader's number of the batch that the lane counts as 0
	next, count := a, rest.Batches
	advance := func() bool {
		next.number++
		for next.number >= count {
			next = address{epoch: next.epoch + 1}
			if next.epoch >= until {
				return false
			}
			rest, err := l.p.s.rests.of(l.share, next.epoch, 0)
			if err != nil {
				return false
			}
			count = rest.Batches
		}
		return true
	}
	// give publishes m as the next batch. It reports whether there is one after it.
	give := func(m *made) bool {
		number := next.number
		if next.epoch == a.epoch {
			number += first
		}
		m.at, m.dropped = next, losses.take(next.epoch, number)
		more := advance()
		return l.publish(ctx, m, next, count) && more
	}
	place := func(epoch, number int) address {
		if epoch == a.epoch {
			return address{epoch, a.draw, number - first}
		}
		return address{epoch, 0, number}
	}
	for b, err := range ld.From(ctx, from, until) {
		if ctx.Err() != nil {
			return
		}
		at := next
		if err == nil {
			at = place(b.Epoch(), b.Number())
		} else if e, ok := errors.AsType[*loader.SampleError](err); ok {
			at = place(e.Epoch, e.Batch)
		}
		for next.before(at) { // Skip has left no samples of these
			if !give(&made{}) {
				return
			}
		}
		if err == nil && at != next {
			err = fmt.Errorf("the sampler's orders disagree: %v comes in the place of batch %d of epoch %d", b, next.number, next.epoch)
		}
		m := &made{err: err}
		if err == nil {
			m.batch, m.drop = b, b.Keep()
		}
		if !give(m) || err != nil {
			return
		}
	}
	for ctx.Err() == nil && give(&made{}) { // nor of any that remain
	}
}

// publish adds a batch to the window, and waits until the next one is wanted.
func (l *lane) publish(ctx context.Context, m *made, next address, count int) bool {
	m.share = l.share
	l.p.mu.Lock()
	if l.starts != nil || l.closing {
		l.p.mu.Unlock()
		release([]*made{m})
		return false
	}
	m.seq = l.published
	l.published++
	l.next, l.count = next, count
	l.window = append(l.window, m)
	drop := l.shrink()
	l.broadcast()
	l.p.mu.Unlock()
	release(drop)

	l.p.mu.Lock()
	defer l.p.mu.Unlock()
	for l.published > l.wanted && l.starts == nil {
		if !l.wait() {
			return false
		}
	}
	return l.starts == nil && ctx.Err() == nil
}
