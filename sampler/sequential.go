package sampler

import "fmt"

// Sequential takes the samples 0 to n-1 in ascending order, in every epoch. A
// negative n panics.
func Sequential(n int) Sampler {
	mustCount("Sequential", "n", n)
	return sequential(n)
}

type sequential int

func (s sequential) Epoch(int) Order { return s }
func (s sequential) Len() int        { return int(s) }

func (s sequential) At(k int) int {
	mustPlace(k, int(s))
	return k
}

func mustCount(name, what string, n int) {
	if n < 0 {
		panic(fmt.Sprintf("sampler: %s: %s is %d: want 0 or more", name, what, n))
	}
}

func mustSampler(name string, s Sampler) {
	if s == nil {
		panic(fmt.Sprintf("sampler: %s: the sampler is nil", name))
	}
}

func mustPlace(k, n int) {
	if uint(k) >= uint(n) {
		panic(outside{k, n})
	}
}

// outside is formatted only where the panic is shown, so that the check is
// small enough to be inlined.
type outside struct{ k, n int }

func (o outside) Error() string {
	return fmt.Sprintf("sampler: At(%d): index out of range with length %d", o.k, o.n)
}
