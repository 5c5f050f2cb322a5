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

// A Verdict says whether two figures differ beyond their spread, and if not, why.
type Verdict int

const (
	Differs    Verdict = iota // ranges do not meet, and medians lie further apart than either range is wide
	RangesMeet                // some round of one was no worse than some round of the other
	WideRange                 // ranges do not meet, but one is at least as wide as medians lie apart
	OneRound                  // or none, of either, whose spread is not known
)

// String is for the end of a sentence, "ranges meet".
func (v Verdict) String() string {
	switch v {
	case Differs:
		return "differs"
	case RangesMeet:
		return "ranges meet"
	case WideRange:
		return "a range is wider than the medians lie apart"
	case OneRound:
		return "spread of one round not known"
	}
	return fmt.Sprintf("Verdict(%d)", int(v))
}

// Verdict compares f with g. Nothing but Differs is called a difference.
func (f Figure) Verdict(g Figure) Verdict {
	switch {
	case f.Rounds < 2 || g.Rounds < 2:
		return OneRound
	case f.Most >= g.Least && g.Most >= f.Least:
		return RangesMeet
	case math.Abs(f.Median-g.Median) <= max(f.Spread(), g.Spread()):
		return WideRange
	}
	return Differs
}

// Differs tells whether the verdict on f and g is that they differ.
func (f Figure) Differs(g Figure) bool { return f.Verdict(g) == Differs }

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
