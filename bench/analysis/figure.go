package analysis

import (
	"fmt"
	"math"
	"slices"

	"golang.org/x/perf/benchmath"
)

// A Figure is one quantity over the rounds of a run, in the unit of the measured values. Its
// median, interval and tests come from golang.org/x/perf/benchmath and assume nothing about
// the distribution.
type Figure struct {
	Median float64
	Low    float64 // of the median's 95 % confidence interval; with fewer than six rounds, the least round
	High   float64 // of the same interval; with fewer than six rounds, the greatest round
	Rounds int
	sample *benchmath.Sample
}

// NewFigure sums up one value per round. No values give the zero Figure.
func NewFigure(values ...float64) Figure {
	if len(values) == 0 {
		return Figure{}
	}
	s := benchmath.NewSample(slices.Clone(values), &benchmath.DefaultThresholds) // which sorts them in place
	sum := benchmath.AssumeNothing.Summary(s, 0.95)
	f := Figure{sum.Center, sum.Lo, sum.Hi, len(values), s}
	if math.IsInf(f.Low, 0) || math.IsInf(f.High, 0) {
		f.Low, f.High = s.Values[0], s.Values[len(s.Values)-1]
	}
	return f
}

// EnoughRounds is the number of rounds that both figures need before [Figure.Differs] can
// report a difference.
const EnoughRounds = 4

// Differs reports whether f and g differ by a Mann-Whitney U test, at a significance level of
// 0.05.
func (f Figure) Differs(g Figure) bool {
	if f.Rounds == 0 || g.Rounds == 0 {
		return false
	}
	c := benchmath.AssumeNothing.Compare(f.sample, g.sample)
	return c.P < c.Alpha
}

// Times returns f multiplied by a positive factor, to change its unit.
func (f Figure) Times(factor float64) Figure {
	return f.each(func(v float64) float64 { return v * factor })
}

// Inverse converts times per sample to samples per second, and back. Its median is the inverse
// of f's median, so that rates rank settings in the same order as times.
func (f Figure) Inverse() Figure {
	g := f.each(func(v float64) float64 { return 1 / v })
	g.Low, g.High = g.High, g.Low
	return g
}

func (f Figure) each(of func(float64) float64) Figure {
	if f.Rounds == 0 {
		return f
	}
	values := make([]float64, f.Rounds)
	for i, v := range f.sample.Values {
		values[i] = of(v)
	}
	return Figure{of(f.Median), of(f.Low), of(f.High), f.Rounds, benchmath.NewSample(values, f.sample.Thresholds)}
}

// String returns a text such as "1.23 [1.20..1.31]", with at least three significant digits.
// It is the median alone if all three numbers agree in these digits.
func (f Figure) String() string { return f.text(Digits, "") }

// Percent formats a Figure of a share, such as a regret, as "1.9 % [1.2..2.4]".
func Percent(f Figure) string {
	return f.text(func(v float64) string {
		if math.Abs(v) < 0.0005 {
			return "0"
		}
		return fmt.Sprintf("%.1f", 100*v)
	}, " %")
}

func (f Figure) text(digits func(float64) string, unit string) string {
	if f.Rounds == 0 {
		return "–"
	}
	m, l, h := digits(f.Median), digits(f.Low), digits(f.High)
	if l == m && h == m {
		return m + unit
	}
	return fmt.Sprintf("%s%s [%s..%s]", m, unit, l, h)
}

// Digits formats a number with three significant digits, or all digits before the point.
func Digits(v float64) string {
	switch a := math.Abs(v); {
	case a == 0:
		return "0"
	case a >= 99.95:
		return fmt.Sprintf("%.0f", v)
	case a >= 9.995:
		return fmt.Sprintf("%.1f", v)
	case a >= 0.9995:
		return fmt.Sprintf("%.2f", v)
	default:
		return fmt.Sprintf("%.3g", v)
	}
}

func median(values []float64) float64 { return NewFigure(values...).Median }
