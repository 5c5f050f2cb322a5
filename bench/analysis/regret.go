package analysis

import (
	"cmp"
	"slices"
)

// Regret is the time lost by choosing a setting: how much longer a model takes
// with it than with that model's best setting, as a share. 0 is the best setting,
// 0.25 is a quarter longer. The best is that of [Table.Best]; both are compared
// over the rounds that they share, round by round, so that the low end may be
// below 0. A missing cell gives no rounds.
func (t *Table) Regret(model string, s Setting) Figure {
	return overRounds(t.regrets(model, s, t.Best(model, 1)))
}

// regrets are s's regrets by round, against the one setting of best. Where the two
// share no round, there is one of their medians.
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

// An AverageRegret is what a setting costs over all models.
type AverageRegret struct {
	Setting
	Regret Figure // of the mean over Models models, round by round
	Models int    // that were measured under the setting
	Worst  string // the model with the greatest regret
	Most   Figure // and its regret
}

// Regrets are the average regrets of all settings. Settings that more models were
// measured under come first, since a setting that only its favourites were
// measured under would look better than it is; then the least regret comes first.
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
		if n == a.Models { // a round that a model lacks would be the others' mean
			means[r] = sums[r] / float64(n)
		}
	}
	if a.Regret = overRounds(means); a.Regret.Rounds == 0 && a.Models > 0 {
		a.Regret = NewFigure(middle / float64(a.Models))
	}
	return a
}
