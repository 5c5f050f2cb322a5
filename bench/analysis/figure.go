package analysis

import (
	"fmt"
	"math"
	"slices"
)

// A Figure is a quantity over the rounds of a run: their median, and how far they
// lie apart. Its unit is that of what was measured.
type Figure struct {
	Median, Least, Most float64
	Rounds              int
}

// NewFigure sums up one value per round. No values give the zero Figure.
func NewFigure(values ...float64) Figure {
	if len(values) == 0 {
		return Figure{}
	}
	return Figure{median(values), slices.Min(values), slices.Max(values), len(values)}
}

// Spread is what lies between the least and the most, 0 where there is one round.
func (f Figure) Spread() float64 { return f.Most - f.Least }

// Differs tells whether f and g differ beyond their spread: their ranges do not
// meet, and the medians lie further apart than either range is wide. Where one of
// them has a single round its spread is not known, and no difference is called one.
func (f Figure) Differs(g Figure) bool {
	if f.Rounds < 2 || g.Rounds < 2 {
		return false
	}
	apart := f.Most < g.Least || g.Most < f.Least
	return apart && math.Abs(f.Median-g.Median) > max(f.Spread(), g.Spread())
}

// Times multiplies a Figure, to change its unit.
func (f Figure) Times(factor float64) Figure {
	return Figure{f.Median * factor, f.Least * factor, f.Most * factor, f.Rounds}
}

// Inverse turns times per sample into samples per second, and back: the median is
// the inverse of the median, so that the round in the middle stays in the middle
// and rates rank settings as times do. With an even number of rounds the median
// of the inverses would be another number.
func (f Figure) Inverse() Figure {
	if f.Rounds == 0 {
		return f
	}
	return Figure{1 / f.Median, 1 / f.Most, 1 / f.Least, f.Rounds}
}

// String is "1.23 [1.20..1.31]", and the median alone where all rounds agree in
// the digits that are shown, three or more.
func (f Figure) String() string {
	if f.Rounds == 0 {
		return "–"
	}
	m, l, h := digits(f.Median), digits(f.Least), digits(f.Most)
	if l == m && h == m {
		return m
	}
	return fmt.Sprintf("%s [%s..%s]", m, l, h)
}

// digits writes v with three digits that count, more left of the point.
func digits(v float64) string {
	switch a := math.Abs(v); {
	case a >= 100:
		return fmt.Sprintf("%.0f", v)
	case a >= 10:
		return fmt.Sprintf("%.1f", v)
	case a >= 1 || a == 0:
		return fmt.Sprintf("%.2f", v)
	default:
		return fmt.Sprintf("%.3g", v)
	}
}

// median of an even number of values is the middle of the two in the middle.
func median(values []float64) float64 {
	s := slices.Sorted(slices.Values(values))
	n := len(s)
	if n%2 == 1 {
		return s[n/2]
	}
	return s[n/2-1] + (s[n/2]-s[n/2-1])/2
}
