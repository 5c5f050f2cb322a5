package sampler

import "sync"

// recent keeps what was computed for the last two epochs, so that a loop, which
// needs the current epoch and the next one, computes each of them once.
type recent[T any] struct {
	mu     sync.Mutex // not held while computing: who needs another epoch does not wait
	epochs [2]int
	values [2]func() T // of those who need the same epoch, one computes and the others wait
	filled int         // entries; the newest is the first
}

func (r *recent[T]) of(epoch int, compute func(epoch int) T) T { return r.value(epoch, compute)() }

// value is what computes or has computed the value of an epoch.
func (r *recent[T]) value(epoch int, compute func(epoch int) T) func() T {
	r.mu.Lock()
	defer r.mu.Unlock()
	for i := range r.filled {
		if r.epochs[i] == epoch {
			return r.values[i]
		}
	}
	v := sync.OnceValue(func() T { return compute(epoch) })
	r.epochs[1], r.values[1] = r.epochs[0], r.values[0]
	r.epochs[0], r.values[0] = epoch, v
	r.filled = min(r.filled+1, len(r.epochs))
	return v
}

// written is an order in memory.
type written []int

func (l written) Len() int     { return len(l) }
func (l written) At(k int) int { return l[k] }
