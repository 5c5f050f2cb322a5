// Package hostile tells tests whether a parser took more memory or processor time than the size of
// its input and the documented limits allow. Every fuzz target asks it.
package hostile

import (
	"runtime/metrics"
	"testing"
	"time"

	"github.com/penstock-go/penstock/internal/allocs"
)

const (
	// Each input may allocate that much, also what is freed meanwhile, and 64 bytes per byte.
	baseMemory    = 1 << 20
	memoryPerByte = 64
	// Each input may take that much of the processor, and a second per megabyte.
	baseTime    = 100 * time.Millisecond
	timePerByte = time.Microsecond
	// What a documented limit allows may take as much time per byte.
	timePerGranted = 25 * time.Nanosecond

	trials = 4 // of which the best counts: the garbage collector belongs to the process
)

// Bounded calls parse, which parses input bytes. The test fails if it allocates more than 1 MiB, 64
// bytes per byte of input and granted bytes, or takes more processor time than 0.1 s, 1 s per
// megabyte of input and 25 ns per granted byte, on 32 bits twice that. Granted is what documented limits allow, such as the
// memory of an image's pixels. After too much of either, parse is called again: only what is too much
// each time is a failure.
func Bounded(t testing.TB, input int, granted int64, parse func()) {
	t.Helper()
	memory := uint64(baseMemory + memoryPerByte*int64(input) + granted)
	limit := slowdown * (baseTime + timePerByte*time.Duration(input) + timePerGranted*time.Duration(granted))
	var least time.Duration
	for trial := range trials {
		allocated, begun := heap(), processor()
		parse()
		used := processor() - begun
		allocated = heap() - allocated
		if trial == 0 {
			least = used
		}
		least = min(least, used)
		if allocated <= memory && used <= limit {
			return
		}
		if allocated > memory && trial == trials-1 {
			if n := allocs.Bytes(memory, parse); n > memory {
				t.Errorf("%d bytes allocated for an input of %d bytes, want %d at most", n, input, memory)
			}
		}
	}
	if least > limit {
		t.Errorf("%v of the processor for an input of %d bytes, want %v at most", least, input, limit)
	}
}

// heap is how many bytes the process has allocated so far. It does not stop the process.
func heap() uint64 {
	sample := []metrics.Sample{{Name: "/gc/heap/allocs:bytes"}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}
