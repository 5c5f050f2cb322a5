package sampler

import "sync"

// recent keeps what was computed for the last two epochs, so that a loop, which
// needs the current epoch and the next one, computes each of them once.
type recent[T any] struct {
	mu     sync.Mutex // held while computing, so that others who need the same epoch wait for it
	epochs [2]int
	values [2]T
	filled int // entries; the newest is the first
}

func (r *recent[T]) of(epoch int, compute func(epoch int) T) T {
	r.mu.Lock()
	defer r.mu.Unlock()
	for i := range r.filled {
		if r.epochs[i] == epoch {
			return r.values[i]
		}
	}
	v := compute(epoch)
	r.epochs[1], r.values[1] = r.epochs[0], r.values[0]
	r.epochs[0], r.values[0] = epoch, v
	r.filled = min(r.filled+1, len(r.epochs))
	return v
}

// written is an order in memory.
type written []int

func (l written) Len() int     { return len(l) }
func (l written) At(k int) int { return l[k] }
