package serve

import (
	"context"
	"sync"

	"github.com/penstock-go/penstock/loader"
)

// rests remembers what schedules have computed.
type rests struct {
	s     *Server
	turns chan struct{} // a token for each epoch that is being planned

	mu sync.Mutex
	m  map[restKey]loader.Rest
}

type restKey struct {
	share
	epoch, draw int
}

// most is the number of entries that rests keeps.
const most = 1024

// planned is how many epochs are planned at once. Every rank asks when an epoch begins, and the
// plan of a batch sampler may be large.
const planned = 4

// of is what remains of an epoch after a draw.
func (r *rests) of(ctx context.Context, of share, epoch, draw int) (rest loader.Rest, err error) {
	key := restKey{of, epoch, draw}
	if rest, ok := r.known(key); ok {
		return rest, nil
	}
	select {
	case r.turns <- struct{}{}:
		defer func() { <-r.turns }()
	case <-ctx.Done():
		return rest, ctx.Err()
	}
	if rest, ok := r.known(key); ok { // a request that came before has planned it
		return rest, nil
	}
	schedule, err := r.s.schedule(of)
	if err != nil {
		return rest, err
	}
	p := schedule.Position(epoch)
	p.Draw = draw
	if rest, err = schedule.Rest(p); err != nil {
		return rest, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.m) >= most || r.m == nil {
		r.m = make(map[restKey]loader.Rest)
	}
	r.m[key] = rest
	return rest, nil
}

func (r *rests) known(key restKey) (rest loader.Rest, ok bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	rest, ok = r.m[key]
	return rest, ok
}
