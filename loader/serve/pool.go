package serve

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"
)

var (
	errBusy   = errors.New("too many requests at once")
	errFull   = errors.New("all memory for batches is in use")
	errClosed = errors.New("the service is ending")
)

// A pool has the lanes of a Server. What happens to it in which order is explored in
// explore_internal_test.go.
type pool struct {
	s    *Server
	work func(*lane) error // makes the batches of a lane until it is closed

	mu     sync.Mutex // what is called with it takes no other one
	lanes  []*lane
	closed bool
	err    error // of the first lane that ended with one
	group  sync.WaitGroup
}

// recent is the time in which a lane is not given to others after a request.
const recent = 2 * time.Second

// get waits for a batch. The caller calls done when it no longer uses it.
func (p *pool) get(ctx context.Context, of share, a address) (m *made, done func(), err error) {
	rest, err := p.s.rests.of(ctx, of, a.epoch, a.draw)
	if err != nil {
		return nil, nil, err
	}
	return p.await(ctx, of, a, rest.Batches)
}

// await is get for a batch of an epoch that has count of them from its draw on.
func (p *pool) await(ctx context.Context, of share, a address, count int) (m *made, done func(), err error) {
	for {
		l, old, err := p.choose(of, a, count)
		if err != nil {
			return nil, nil, err
		}
		if old != nil {
			select {
			case <-old.done:
			case <-ctx.Done():
				return nil, nil, ctx.Err()
			}
			continue
		}
		if m, done, err := l.await(ctx, a); m != nil || err != nil {
			return m, done, err
		}
	}
}

// choose finds the lane for a batch, and counts the request as one that waits for it. If
// another lane must be closed first, it returns that one as old.
func (p *pool) choose(of share, a address, count int) (l, old *lane, err error) {
	p.mu.Lock()
	var drop []*made
	defer func() {
		if l != nil {
			l.awaited[a]++
			l.touched = time.Now()
		}
		p.mu.Unlock()
		release(drop)
	}()
	if p.closed {
		return nil, nil, errClosed
	}
	// Of this share, the lane whose loop has ended, or else the one that was not used for the
	// longest time; of others, the latter.
	var same, other *lane
	for _, l := range p.lanes {
		switch {
		case l.closing:
		case l.share == of && (l.find(a) != nil || l.reach(a) >= 0):
			return l, nil, nil
		case l.share == of && l.precedes(a):
			drop = l.begin(a, count)
			return l, nil, nil
		case l.waits() && (l.running || l.share != of): // those that wait for a loop that has ended come again
		case l.share == of && (same == nil || same.running && (!l.running || l.touched.Before(same.touched))):
			same = l
		case l.share != of && l.holders == 0 && (other == nil || l.touched.Before(other.touched)):
			other = l
		}
	}
	room := len(p.lanes) < p.s.cfg.batches/p.s.cfg.inFlight
	switch {
	case same != nil && (!room || !same.running || time.Since(same.touched) > recent):
		drop = same.begin(a, count)
		return same, nil, nil
	case room:
		return p.open(of, a, count), nil, nil
	case other != nil && time.Since(other.touched) > recent:
		p.shut(other)
		return nil, other, nil
	}
	for _, l := range p.lanes {
		if l.closing {
			return nil, l, nil
		}
	}
	return nil, nil, errFull
}

// open makes a lane that begins at a. The caller holds the mutex.
func (p *pool) open(of share, a address, count int) *lane {
	l := &lane{p: p, share: of, done: make(chan struct{}), changed: make(chan struct{}), awaited: map[address]int{}}
	l.ctx, l.end = context.WithCancel(context.Background())
	l.begin(a, count)
	p.lanes = append(p.lanes, l)
	p.s.counts.lanes.Add(1)
	l.expiry = time.AfterFunc(p.s.cfg.idle, func() { p.expire(l) })
	p.group.Go(l.main)
	return l
}

// shut closes a lane. The caller holds the mutex.
func (p *pool) shut(l *lane) {
	l.closing = true
	l.end()
}

// remove forgets a lane whose memory is free.
func (p *pool) remove(l *lane) {
	p.mu.Lock()
	defer p.mu.Unlock()
	l.end()
	l.expiry.Stop()
	if p.err == nil {
		p.err = l.err
	}
	p.lanes = slices.DeleteFunc(p.lanes, func(other *lane) bool { return other == l })
	close(l.done)
}

// expire closes a lane that was not used for some time.
func (p *pool) expire(l *lane) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch left := p.s.cfg.idle - time.Since(l.touched); {
	case l.closing:
	case l.waits() || l.holders > 0:
		l.expiry.Reset(p.s.cfg.idle)
	case left > 0:
		l.expiry.Reset(left)
	default:
		p.shut(l)
	}
}

// close closes all lanes and waits for them.
func (p *pool) close() error {
	p.mu.Lock()
	p.closed = true
	for _, l := range p.lanes {
		p.shut(l)
	}
	p.mu.Unlock()
	p.group.Wait()
	return p.err
}
