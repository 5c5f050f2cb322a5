package analysis

import (
	"fmt"
	"math"
	"strings"
)

// A Recommendation is the setting to use.
type Recommendation struct {
	AverageRegret
	All   int             // models in the table
	Other int             // settings that were measured under as many models
	Equal []AverageRegret // others whose regret is not called different from its, see [Figure.Verdict]
}

// Recommend finds the setting of the least average regret among those that the
// most models were measured under. The second result is false where the table is
// empty.
func (t *Table) Recommend() (Recommendation, bool) {
	list := t.Regrets()
	if len(list) == 0 {
		return Recommendation{}, false
	}
	r := Recommendation{AverageRegret: list[0], All: len(t.models)}
	for _, a := range list[1:] {
		if a.Models < r.Models {
			break // they come last
		}
		r.Other++
		if r.Regret.Rounds > 1 && !a.Regret.Differs(r.Regret) {
			r.Equal = append(r.Equal, a)
		}
	}
	return r, true
}

// String says it in words.
func (r Recommendation) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "Set loader.BatchSize(%d) and loader.Workers(%d)", r.Batch, r.Workers)
	if r.All == 1 {
		fmt.Fprintf(&b, ": regret %s.", Percent(r.Regret))
	} else {
		fmt.Fprintf(&b, ": average regret %s over %d models, at most %s (%s).", Percent(r.Regret), r.Models, Percent(r.Most), r.Worst)
	}
	if r.Models < r.All {
		fmt.Fprintf(&b, " No setting was measured with all %d models.", r.All)
	}
	switch {
	case r.Other == 0:
		b.WriteString(" It was compared with no other.")
	case r.Regret.Rounds < 2:
		b.WriteString(" One round: the spread is not known, so that a close second may be as good.")
	case len(r.Equal) == 0:
		fmt.Fprintf(&b, " All others differ beyond the spread of %d rounds.", r.Regret.Rounds)
	default:
		r.equals(&b)
	}
	return b.String()
}

// equals names those that are not called different by the reason for it, so that
// their figures agree with it.
func (r Recommendation) equals(b *strings.Builder) {
	for _, reason := range []struct {
		Verdict
		words string
	}{
		{RangesMeet, "As good within the spread, ranges meet"},
		{WideRange, "Worse in what was measured, but not called a difference, as the range is wider than what lies between the medians"},
		{OneRound, "Not called a difference, in one round"},
	} {
		var list []AverageRegret
		for _, a := range r.Equal {
			if a.Regret.Verdict(r.Regret) == reason.Verdict {
				list = append(list, a)
			}
		}
		if len(list) > 0 {
			fmt.Fprintf(b, " %s: %s.", reason.words, names(list))
		}
	}
}

// names lists the first few.
func names(list []AverageRegret) string {
	const most = 5
	var parts []string
	for _, a := range list[:min(most, len(list))] {
		parts = append(parts, fmt.Sprintf("%s (%s)", a.Setting, Percent(a.Regret)))
	}
	if n := len(list) - most; n > 0 {
		parts = append(parts, fmt.Sprintf("and %d more", n))
	}
	return strings.Join(parts, "; ")
}

// Percent writes a Figure of a share, such as a regret, "1.9 % [1.2..2.4]". A
// single round shows no range. Below 1 % there are two digits after the point.
func Percent(f Figure) string {
	if f.Rounds == 0 {
		return "–"
	}
	format := "%.1f"
	if v := math.Abs(f.Median); v > 0 && v < 0.00995 {
		format = "%.2f"
	}
	m, l, h := percent(format, f.Median), percent(format, f.Least), percent(format, f.Most)
	if f.Rounds == 1 || l == m && h == m {
		return m + " %"
	}
	return fmt.Sprintf("%s %% [%s..%s]", m, l, h)
}

// percent writes no "-0.0".
func percent(format string, v float64) string {
	s := fmt.Sprintf(format, 100*v)
	if strings.Trim(s, "-0.") == "" {
		return "0"
	}
	return s
}
