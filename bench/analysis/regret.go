package analysis

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
)

// Regret is the time that a setting loses: how much longer a model takes with it than with the
// model's best setting ([Table.Best]), as a share. It is 0 for the best setting, and 0.25 if
// the model takes a quarter longer. Both are compared round by round, over the rounds that
// they share, so Low may be below 0. A missing cell gives a Figure without rounds.
func (t *Table) Regret(model string, s Setting) Figure {
	return overRounds(t.regrets(model, s, t.Best(model, 1)))
}

// regrets returns the regrets of s by round, compared with the setting best. If the two share
// no round, it is one regret of their medians.
func (t *Table) regrets(model string, s Setting, best []Setting) map[round]float64 {
	lost := map[round]float64{}
	if len(best) == 0 {
		return lost
	}
	mine, least := t.rounds(model, s), t.rounds(model, best[0])
	for r, took := range mine {
		if b, ok := least[r]; ok {
			lost[r] = took/b - 1
		}
	}
	if len(lost) == 0 && len(mine) > 0 {
		lost[round{}] = overRounds(mine).Median/overRounds(least).Median - 1
	}
	return lost
}

// An AverageRegret is the time that a setting loses on average over models.
type AverageRegret struct {
	Setting
	Regret Figure // of the mean over Models models, round by round
	Models int    // number of models that were measured with the setting
	Worst  string // the model with the greatest regret
	Most   Figure // and its regret
}

// Regrets returns the average regrets of all settings. Settings that were measured with more
// models come first: a setting that was measured only with models that suit it would look
// better than it is. Among settings with as many models, the least regret comes first.
func (t *Table) Regrets() []AverageRegret {
	best := map[string][]Setting{}
	for _, model := range t.models {
		best[model] = t.Best(model, 1)
	}
	var list []AverageRegret
	for _, s := range t.Settings() {
		list = append(list, t.average(s, best))
	}
	slices.SortFunc(list, func(a, b AverageRegret) int {
		return cmp.Or(cmp.Compare(b.Models, a.Models), cmp.Compare(a.Regret.Median, b.Regret.Median), a.Compare(b.Setting))
	})
	return list
}

func (t *Table) average(s Setting, best map[string][]Setting) AverageRegret {
	a := AverageRegret{Setting: s}
	sums, counts := map[round]float64{}, map[round]int{}
	middle := 0.0
	for _, model := range t.models {
		lost := t.regrets(model, s, best[model])
		if len(lost) == 0 {
			continue
		}
		a.Models++
		for r, v := range lost {
			sums[r] += v
			counts[r]++
		}
		f := overRounds(lost)
		middle += f.Median
		if a.Models == 1 || f.Median > a.Most.Median {
			a.Worst, a.Most = model, f
		}
	}
	means := map[round]float64{}
	for r, n := range counts {
		if n == a.Models { // a round without all models would be the mean of the others
			means[r] = sums[r] / float64(n)
		}
	}
	if a.Regret = overRounds(means); a.Regret.Rounds == 0 && a.Models > 0 {
		a.Regret = NewFigure(middle / float64(a.Models))
	}
	return a
}

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
		fmt.Fprintf(&b, ". Over %d of %d models that costs %s more time than each model's own best setting, at most %s (%s)",
			r.Models, r.All, Percent(r.Regret), Percent(r.Most), r.Worst)
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
