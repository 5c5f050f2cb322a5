package loader

import (
	"fmt"
	"runtime"

	"github.com/penstock-go/penstock/internal/figures"
	"github.com/penstock-go/penstock/loader/internal/slab"
	"github.com/penstock-go/penstock/loader/internal/tune"
)

// slabs is the number of slabs for so many workers, if a slab has that many bytes.
func (l *Loader) slabs(workers, bytes int) int {
	c, t := &l.cfg, l.tuning
	if t == nil || c.set.inFlight {
		return c.slabs(bytes)
	}
	n, rows := prefetch*workers+1, l.pool.Rows()
	if c.help && workers > runtime.GOMAXPROCS(0) && !t.Tiny { // then workers share batches, and need few
		n = min(n, max(2*runtime.GOMAXPROCS(0)+1, slab.Fewest+2*((workers+rows-1)/rows)))
	}
	n = max(slab.Product(t.Depth, n), t.begun) // a loop may keep so many batches at any time
	return min(n, max(c.least(), c.budget/max(bytes, 1)))
}

// deeper reports whether there may be more slabs for the same number of workers.
func (l *Loader) deeper() bool {
	c := &l.cfg
	target, refused := l.pool.Target()
	return !c.set.inFlight && refused == nil && target < c.budget/max(l.pool.Bytes(), 1)
}

// most is the number of samples of all batches that there may be, but for the one in the loop body. If there may be one
// batch only, it is that of this one.
func (l *Loader) most() int {
	slabs := l.slabs(tune.Most, l.pool.Bytes())
	if target, refused := l.pool.Target(); refused != nil {
		slabs = target
	}
	return slab.Product(max(1, slabs-1), l.pool.Rows())
}

// follow makes the workers and the slabs follow the tuner. The mutex is held.
func (l *Loader) follow() {
	l.aim()
	l.team.Staff(l.tuning.Workers)
}

// limit tells the tuner that no more workers can open the dataset, if that is so. The mutex is held.
func (l *Loader) limit() {
	if workers, err := l.team.Limit(); err != nil {
		l.tuning.Limit(workers, fmt.Sprintf("there are no more than %s: %v", figures.Count(workers, "worker", "workers"), err))
	}
}

// aim tells the pool how many slabs there are to be. The mutex is held.
func (l *Loader) aim() {
	workers := l.cfg.workers
	if t := l.tuning; t != nil {
		workers = t.Workers
	}
	l.pool.Aim(l.slabs(workers, l.pool.Bytes()), workers)
}

// shrink frees the slabs that are not needed.
func (l *Loader) shrink() {
	l.mu.Lock()
	l.aim()
	l.mu.Unlock()
	l.team.Shrink()
}

// settings are the number of workers and slabs, and why.
func (l *Loader) settings() (workers, slabs int, t Tuning) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.tuning == nil {
		return l.cfg.workers, l.pool.Len(), Tuning{}
	}
	a := l.tuning
	l.limit()
	target, refused := l.pool.Target()
	t = Tuning{Workers: a.Workers, InFlight: target, Budget: int64(l.cfg.budget), Changes: a.Changes, Reason: a.Reason, gained: a.Gained}
	if refused != nil {
		t.Reason += fmt.Sprintf("; there are no more than %d slabs: %v", target, refused)
	}
	switch c := &l.cfg; {
	case c.set.inFlight:
		t.deeper = "a larger InFlight helps"
	case refused != nil:
		t.deeper = "memory for more of them helps, which the Allocator refuses"
	case !l.deeper():
		t.deeper = "a larger Budget helps"
	default:
		t.deeper = "samples of equal times help, and Auto finds the batches"
	}
	return t.Workers, l.pool.Len(), t
}
