package serve

import (
	"context"
	"errors"
	"math"

	"github.com/penstock-go/penstock/loader"
)

// main is the lane's goroutine.
func (l *lane) main() {
	defer l.p.remove(l)
	err := errGoexit // unless the sampler and the hooks return
	defer func() { l.fail(err) }()
	err = l.p.work(l)
}

// work makes loops of a loader until the lane is closed.
func (l *lane) work() (err error) {
	var losses losses
	ld, err := loader.New(l.p.s.ds, append(l.p.s.loader(l.share), losses.observe())...)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, ld.Close()) }()
	for {
		ctx, a, ok := l.started()
		if !ok {
			return nil
		}
		losses.forget()
		l.loop(ctx, ld, a, &losses)
		l.ended()
	}
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

// loop makes batches from a on.
func (l *lane) loop(ctx context.Context, ld *loader.Loader, a address, losses *losses) {
	rest, err := l.p.s.rests.of(ctx, l.share, a.epoch, a.draw)
	if err != nil {
		l.publish(ctx, &made{at: a, err: err}, a, 0)
		return
	}
	r := &run{l: l, ctx: ctx, losses: losses, begun: a, first: rest.Number, next: a, count: rest.Batches,
		until: a.epoch + min(epochs, math.MaxInt-a.epoch)}
	from := ld.Position(a.epoch)
	from.Draw = min(a.draw+a.number*rest.Step, rest.End)
	for b, err := range ld.From(ctx, from, r.until) {
		if ctx.Err() != nil || !r.take(b, err) {
			return
		}
	}
	for ctx.Err() == nil && r.give(&made{}) { // Skip has left no samples of any that remain
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
	for l.published > l.wanted { // not if the loop must begin again
		if !l.wait() {
			return false
		}
	}
	return l.starts == nil && ctx.Err() == nil
}
