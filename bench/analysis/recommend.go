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

// String returns the recommendation as a sentence, such as "Use batch 128, 2 workers", followed by what it costs.
func (r Recommendation) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "Use %s", r.Setting)
	if r.All > 1 {
		fmt.Fprintf(&b, ". Over %d models that costs %s more time than each model's own best setting, at most %s (%s)",
			r.Models, Percent(r.Regret), Percent(r.Most), r.Worst)
	}
	switch {
	case r.Other == 0:
		b.WriteString(". Nothing else was measured.")
	case r.Regret.Rounds < EnoughRounds:
		b.WriteString(". With so few rounds, another setting may be as fast.")
	case len(r.Equal) == 0:
		b.WriteString(". Every other setting is slower.")
	default:
		var names []string
		for _, a := range r.Equal {
			names = append(names, a.Setting.String())
		}
		fmt.Fprintf(&b, ". No clear difference: %s.", strings.Join(names, "; "))
	}
	return b.String()
}
