package bench

import (
	"math"

	"github.com/penstock-go/penstock/bench/result"
)

// Brief is a record with as many digits as a clock can be believed, five and in
// lists four, and without the waits where no one looks at them: there are thousands.
func Brief(r result.Record) result.Record {
	m := &r.Measured
	for _, t := range []*float64{&m.Seconds, &m.FirstBatch, &m.Waiting, &m.Transfer, &m.Compute, &m.LoadingEnd, &m.EndToEnd, &m.PerItem, &m.CPU} {
		*t = digits(*t, 5)
	}
	m.SamplesPerSecond = 0 // follows
	waits := m.Waits
	m.Waits = nil
	if r.Study == result.Loading {
		for _, w := range waits {
			m.Waits = append(m.Waits, digits(w, 4))
		}
	}
	m.Usage = append([]result.Usage(nil), m.Usage...)
	for i := range m.Usage {
		u := &m.Usage[i]
		u.Seconds, u.CPUPercent = digits(u.Seconds, 4), digits(u.CPUPercent, 4)
	}
	m.Stages = append([]result.Stage(nil), m.Stages...)
	for i := range m.Stages {
		s := &m.Stages[i]
		s.Self, s.Total = digits(s.Self, 4), digits(s.Total, 4)
	}
	return r
}

// digits leaves n significant digits.
func digits(v float64, n int) float64 {
	if v == 0 || math.IsNaN(v) || math.IsInf(v, 0) {
		return v
	}
	scale := math.Pow(10, float64(n-1)-math.Floor(math.Log10(math.Abs(v))))
	return math.Round(v*scale) / scale
}
