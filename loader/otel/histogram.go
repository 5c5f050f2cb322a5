package otel

import (
	"math"
	"math/bits"
	"sync"
	"sync/atomic"
	"time"

	"go.opentelemetry.io/otel/metric"
)

// A histogram counts durations in buckets of its own, because that costs 5 ns where an
// OpenTelemetry histogram takes 200. At every collection they are handed on.
type histogram struct {
	buckets [64 * perOctave]atomic.Int64

	mu     sync.Mutex
	handed [64 * perOctave]int64 // how many of each bucket were handed on, or left out
}

// perOctave is the number of buckets from one power of two to the next. The middle of a
// bucket is within 7 % of what is in it.
const perOctave = 8

// most is the largest number of durations to hand on at once, which takes about 10 ms.
const most = 50_000

func (h *histogram) add(d time.Duration) { h.buckets[bucket(max(d, 0))].Add(1) }

// bucket is the index of the bucket for a duration. Durations of less than 8 ns have one
// each, and every power of two has eight.
func bucket(d time.Duration) int {
	octave := max(bits.Len64(uint64(d))-4, 0)
	return octave*perOctave + int(d>>octave)
}

// middle is the middle of a bucket, in seconds.
func middle(i int) float64 {
	octave := max(i/perOctave-1, 0)
	low := i - octave*perOctave
	width := math.Ldexp(1, octave)
	return (float64(low)*width + (width-1)/2) / 1e9
}

// hand hands on what was counted since the last call: all of it, or an even share of at
// most 50,000.
func (h *histogram) hand(record func(seconds float64)) {
	h.mu.Lock()
	defer h.mu.Unlock()
	var fresh [len(h.buckets)]int64
	total := int64(0)
	for i := range h.buckets {
		n := h.buckets[i].Load()
		fresh[i] = n - h.handed[i]
		h.handed[i] = n
		total += fresh[i]
	}
	share := min(1, float64(most)/float64(max(total, 1)))
	owed := 0.0
	for i, n := range fresh {
		owed += float64(n) * share
		for ; owed >= 0.5; owed-- {
			record(middle(i))
		}
	}
}

// boundaries are those of the buckets of the wait histogram, in seconds.
var boundaries = metric.WithExplicitBucketBoundaries(
	1e-5, 1e-4, 1e-3, 2.5e-3, 5e-3, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60)
