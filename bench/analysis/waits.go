package analysis

import (
	"math"
	"slices"
)

// A Rhythm describes when the batches of an epoch arrive. Its waits are in seconds.
type Rhythm struct {
	Workers int
	First   float64 // the first batch
	Median  float64 // of all batches after the first, as are the next two fields
	P99     float64
	Longest float64

	// Peak is the median of every Workers-th wait, in the phase with the highest median.
	// Between is the median of all other waits. Both are 0 with fewer than two workers or
	// three periods.
	Peak, Between float64
	at            float64 // share of periods whose longest wait is in that phase
}

// NewRhythm analyses the waits of one epoch, in order.
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
	periods := len(rest) / max(workers, 1)
	if workers < 2 || periods < 3 {
		return r
	}
	phase, between := 0, []float64(nil)
	for p := range workers {
		in, others := phased(rest, p, workers)
		if high := median(in); high > r.Peak {
			r.Peak, phase, between = high, p, others
		}
	}
	if len(between) > 0 {
		r.Between = median(between)
	}
	n := 0
	for k := range periods {
		period := rest[k*workers : (k+1)*workers]
		if period[phase] == slices.Max(period) {
			n++
		}
	}
	r.at = float64(n) / float64(periods)
	return r
}

// phased returns every period-th wait, and all other waits.
func phased(waits []float64, phase, period int) (in, others []float64) {
	for i, w := range waits {
		if i%period == phase {
			in = append(in, w)
		} else {
			others = append(others, w)
		}
	}
	return in, others
}

// Peaks reports whether every Workers-th wait is a peak: Peak is more than twice Between, and
// more than a tenth of the first batch's wait, and the peaks are the longest waits in three of
// four periods.
func (r Rhythm) Peaks() bool {
	return r.Peak > 2*r.Between && r.Peak > r.First/10 && r.at >= 0.75
}
