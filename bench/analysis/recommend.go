package analysis

import (
	"fmt"
	"strings"
)

// A Recommendation is the setting to use, with the time that it costs.
type Recommendation struct {
	AverageRegret
	All   int             // models in the table
	Other int             // number of other settings that were measured with as many models
	Equal []AverageRegret // those of them that do not clearly differ from it, see [Figure.Differs]
}

// Recommend returns the setting with the least average regret, among the settings that were
// measured with the most models. The second result is false if the table is empty.
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
		if !a.Regret.Differs(r.Regret) {
			r.Equal = append(r.Equal, a)
		}
	}
	return r, true
}

// String returns the recommendation as a sentence, such as "Use batches of 128 and 2
// workers", followed by what it costs.
func (r Recommendation) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "Use batches of %d and %s", r.Batch, plural(r.Workers, "worker"))
	if r.All > 1 {
		fmt.Fprintf(&b, ". Over %d models that costs %s more time than each model's own best setting, at most %s (%s)",
			r.Models, Percent(r.Regret), Percent(r.Most), r.Worst)
	}
	switch {
	case r.Other == 0:
		b.WriteString(". Nothing else was measured.")
	case r.Regret.Rounds < EnoughRounds:
		fmt.Fprintf(&b, ". With only %s, another setting may be as fast.", plural(r.Regret.Rounds, "round"))
	case len(r.Equal) == 0:
		fmt.Fprintf(&b, ". Every other setting is slower.")
	default:
		fmt.Fprintf(&b, ". No clear difference: %s.", names(r.Equal))
	}
	return b.String()
}

func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// names lists the first few settings with their regrets.
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
