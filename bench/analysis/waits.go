package analysis

import (
	"fmt"
	"math"
	"slices"
)

// A Rhythm is how an epoch's batches arrive: what waiting for each of them took,
// in seconds.
type Rhythm struct {
	Workers int
	First   float64 // the first batch
	Median  float64 // of all others, as are the two below
	P99     float64
	Longest float64

	// Peak is the median of every Workers-th wait, in the phase where it is
	// highest, and Between that of all others; 0 where that cannot be told, with
	// fewer than two workers or three periods.
	Peak, Between float64
	periods       int
	at            float64 // share of periods whose longest wait is in the phase
}

// NewRhythm looks at the waits of one epoch, in order.
func NewRhythm(waits []float64, workers int) Rhythm {
	r := Rhythm{Workers: workers}
	if len(waits) == 0 {
		return r
	}
	r.First = waits[0]
	rest := waits[1:]
	if len(rest) == 0 {
		return r
	}
	sorted := slices.Sorted(slices.Values(rest))
	r.Median = median(rest)
	r.P99 = sorted[int(math.Ceil(0.99*float64(len(sorted))))-1]
	r.Longest = sorted[len(sorted)-1]
	r.periods = len(rest) / max(workers, 1)
	if workers < 2 || r.periods < 3 {
		return r
	}
	phase := 0
	for p := range workers {
		if high := median(every(rest, p, workers)); high > r.Peak {
			r.Peak, phase = high, p
		}
	}
	r.Between = median(allBut(rest, phase, workers))
	n := 0
	for k := range r.periods {
		period := rest[k*workers : (k+1)*workers]
		if period[phase] == slices.Max(period) {
			n++
		}
	}
	r.at = float64(n) / float64(r.periods)
	return r
}

func every(waits []float64, phase, period int) []float64 {
	var some []float64
	for i := phase; i < len(waits); i += period {
		some = append(some, waits[i])
	}
	return some
}

func allBut(waits []float64, phase, period int) []float64 {
	var some []float64
	for i, w := range waits {
		if i%period != phase {
			some = append(some, w)
		}
	}
	return some
}

// Peaks tells whether there is a peak every Workers batches: the peaks are more
// than twice what lies between, more than a tenth of the first batch's wait, and
// the longest waits of three periods in four.
func (r Rhythm) Peaks() bool {
	return r.Peak > 2*r.Between && r.Peak > r.First/10 && r.at >= 0.75
}

// SlowFirst tells whether the first batch is slow: more than twice the longest
// wait after it.
func (r Rhythm) SlowFirst() bool { return r.First > 2*r.Longest && r.periods > 0 }

// String says it in words.
func (r Rhythm) String() string {
	s := fmt.Sprintf("first batch %s ms, then median %s, 99th percentile %s, longest %s",
		ms(r.First), ms(r.Median), ms(r.P99), ms(r.Longest))
	switch {
	case r.Workers < 2:
	case r.periods < 3:
		s += "; too few batches to tell peaks"
	case r.Peaks():
		s += fmt.Sprintf("; a peak of %s every %d batches, %s between", ms(r.Peak), r.Workers, ms(r.Between))
	default:
		s += fmt.Sprintf("; no peaks every %d batches", r.Workers)
	}
	return s
}

func ms(seconds float64) string { return digits(1000 * seconds) }
