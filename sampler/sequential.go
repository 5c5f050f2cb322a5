package sampler

import "fmt"

// Sequential takes the samples 0 to n-1 in this order, in every epoch. A
// negative n panics.
func Sequential(n int) Sampler {
	mustCount("Sequential", n)
	return sequential(n)
}

type sequential int

func (s sequential) Epoch(int) Order { return s }
func (s sequential) Len() int        { return int(s) }

func (s sequential) At(k int) int {
	mustPlace(k, int(s))
	return k
}

func mustCount(name string, n int) {
	if n < 0 {
		panic(fmt.Sprintf("sampler: %s of %d samples", name, n))
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
	return fmt.Sprintf("sampler: place %d of an order of %d", o.k, o.n)
}
