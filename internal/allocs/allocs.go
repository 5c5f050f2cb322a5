// Package allocs measures what a function allocates, for tests.
//
// Go counts the allocations of the whole process: those of other goroutines and of the
// runtime, too, and those that follow when the garbage collector empties a pool. Such
// allocations are rare, while those of the function come with every call. So the functions
// here measure several times and return the least.
package allocs

import (
	"runtime"
	"testing"

	"github.com/penstock-go/penstock/internal/testenv"
)

// trials bounds how often the functions measure.
const trials = 10

// PerRun returns how many allocations a call of f takes on average, rounded down, as
// [testing.AllocsPerRun] does for that many runs. It measures until it finds at most most
// allocations, up to ten times, and returns the least.
//
// Under the race detector, which allocates by itself, PerRun calls f once, for what else may be found, and returns 0.
func PerRun(most float64, runs int, f func()) float64 {
	if testenv.Race {
		f()
		return 0
	}
	return least(most, func() float64 { return testing.AllocsPerRun(runs, f) })
}

// Bytes returns how many bytes of memory a call of f takes, also if they are freed
// meanwhile. It calls f until it takes at most most bytes, up to ten times, and returns the
// least. So f must do the same work in every call, and must not keep memory from one call to
// the next if the first call is what counts.
func Bytes(most uint64, f func()) uint64 {
	return least(most, func() uint64 {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		f()
		runtime.ReadMemStats(&after)
		return after.TotalAlloc - before.TotalAlloc
	})
}

func least[N uint64 | float64](most N, measure func() N) N {
	n := measure()
	for k := 1; k < trials && n > most; k++ {
		n = min(n, measure())
	}
	return n
}
