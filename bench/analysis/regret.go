package analysis

import (
	"cmp"
	"slices"
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
