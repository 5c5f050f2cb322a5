package analysis

import (
	"cmp"
	"math"
	"slices"
)

// Regret is what a setting costs a model: its time over the best time of that
// model, less 1, so that 0.02 is 2 % more time than needed. The best is that of
// the medians; the range over rounds compares with the best setting's time of the
// same round, and its least may be below 0. A setting that lacks some of the
// best one's rounds, since it was stopped early, say, is compared over those that
// both have: others may have met a faster machine. A missing cell gives no rounds.
func (t *Table) Regret(model string, s Setting) Figure {
	list := t.ranked(model)
	if len(list) == 0 {
		return Figure{}
	}
	return t.over(model, s, list[0])
}

// over is s's time over that of base, less 1.
func (t *Table) over(model string, s, base Setting) Figure {
	mine, best := t.Time(model, s), t.Time(model, base)
	if mine.Rounds == 0 || best.Rounds == 0 {
		return Figure{}
	}
	bests := t.rounds(model, base)
	var ratios, ours, theirs []float64 // of the rounds that both have
	for r, took := range t.rounds(model, s) {
		if b, ok := bests[r]; ok {
			ratios, ours, theirs = append(ratios, took/b-1), append(ours, took), append(theirs, b)
		}
	}
	f := NewFigure(ratios...)
	m := mine.Median/best.Median - 1
	if f.Rounds > 0 {
		m = median(ours)/median(theirs) - 1
	}
	if f.Rounds == 0 { // never in the same round: all that is known of the range
		return Figure{m, mine.Least/best.Most - 1, mine.Most/best.Least - 1, min(mine.Rounds, best.Rounds)}
	}
	return Figure{m, min(m, f.Least), max(m, f.Most), f.Rounds}
}

// An AverageRegret is what a setting costs over all models.
type AverageRegret struct {
	Setting
	Regret Figure // the mean over Models models; its range is the mean of theirs
	Models int    // that were measured under the setting
	Worst  string // the model with the greatest regret
	Most   Figure // and its regret
}

// Regrets are the average regrets of all settings. Settings that more models were
// measured under come first, since a setting that only its favourites were
// measured under would look better than it is; then the least regret comes first.
func (t *Table) Regrets() []AverageRegret {
	var list []AverageRegret
	for _, s := range t.Settings() {
		list = append(list, t.average(s))
	}
	slices.SortFunc(list, func(a, b AverageRegret) int {
		return cmp.Or(cmp.Compare(b.Models, a.Models), cmp.Compare(a.Regret.Median, b.Regret.Median), a.Compare(b.Setting))
	})
	return list
}

func (t *Table) average(s Setting) AverageRegret {
	a := AverageRegret{Setting: s, Regret: Figure{Rounds: math.MaxInt}}
	for _, model := range t.models {
		r := t.Regret(model, s)
		if r.Rounds == 0 {
			continue
		}
		a.Models++
		a.Regret.Median += r.Median
		a.Regret.Least += r.Least
		a.Regret.Most += r.Most
		a.Regret.Rounds = min(a.Regret.Rounds, r.Rounds)
		if a.Models == 1 || r.Median > a.Most.Median {
			a.Worst, a.Most = model, r
		}
	}
	rounds := a.Regret.Rounds
	a.Regret = a.Regret.Times(1 / float64(a.Models))
	a.Regret.Rounds = rounds
	return a
}
