package serve

import (
	"context"
	"sync"

	"github.com/penstock-go/penstock/loader/internal/plan"
	"github.com/penstock-go/penstock/loader/internal/usercode"
)

// rests remembers what remains of epochs.
type rests struct {
	s     *Server
	turns chan struct{} // a token for each epoch that is being planned

	mu     sync.Mutex // not held while an epoch is planned
	m      map[restKey]*planning
	closed bool
	group  sync.WaitGroup // of those that are being planned
}

type restKey struct {
	share
	epoch, draw int
}

// A planning is the plan of an epoch, for all requests that need it.
type planning struct {
	done chan struct{} // closed when the rest is set
	rest plan.Rest
	err  error
}

// most is the number of entries that rests keeps.
const most = 1024

// planned is how many epochs are planned at once. Every rank asks when an epoch begins, and the
// plan of a batch sampler may be large.
const planned = 4

// of is what remains of an epoch after a draw. A sampler may plan for long, and cannot be stopped:
// then only those wait who need this epoch, and another one if as many as planned take as long. They
// wait until ctx is done.
func (r *rests) of(ctx context.Context, of share, epoch, draw int) (plan.Rest, error) {
	key := restKey{of, epoch, draw}
	r.mu.Lock()
	p := r.m[key]
	r.mu.Unlock()
	if p == nil {
		select {
		case r.turns <- struct{}{}:
			p = r.begin(key)
		case <-ctx.Done():
			return plan.Rest{}, ctx.Err()
		}
	}
	select {
	case <-p.done:
		return p.rest, p.err
	case <-ctx.Done():
		return plan.Rest{}, ctx.Err()
	}
}

// begin plans an epoch, and gives back the turn after it, unless another request has begun to.
func (r *rests) begin(key restKey) *planning {
	r.mu.Lock()
	defer r.mu.Unlock()
	p := r.m[key]
	switch {
	case p == nil && !r.closed:
		if len(r.m) >= most || r.m == nil {
			r.m = make(map[restKey]*planning)
		}
		p = &planning{done: make(chan struct{}), err: usercode.ErrGoexit} // unless the sampler returns
		r.m[key] = p
		r.group.Go(func() { r.plan(key, p) })
		return p
	case p == nil:
		p = &planning{done: make(chan struct{}), err: errClosed}
		close(p.done)
	}
	<-r.turns
	return p
}

// plan computes the rest of an epoch. The next request tries again after an error.
func (r *rests) plan(key restKey, p *planning) {
	defer func() {
		<-r.turns
		r.mu.Lock()
		defer r.mu.Unlock()
		if p.err != nil && r.m[key] == p {
			delete(r.m, key)
		}
		close(p.done)
	}()
	of, err := r.s.outline(key.share)
	if err != nil {
		p.err = err
		return
	}
	from := of.Plans.Position(key.epoch)
	from.Draw = key.draw
	p.rest, p.err = of.Plans.Rest(context.Background(), from)
}

// close waits for the epochs that are being planned.
func (r *rests) close() {
	r.mu.Lock()
	r.closed = true
	r.mu.Unlock()
	r.group.Wait()
}
