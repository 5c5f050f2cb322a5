// Package analysis turns the times of a sweep into advice: which settings are among the best
// for every model, how much time another setting costs on average, and which setting to use.
// Differences are those of a significance test, see [Figure.Differs].
package analysis

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
)

// A Setting is the loader's options that a sweep varies.
type Setting struct {
	Batch   int // loader.BatchSize
	Workers int // loader.Workers
}

// String returns a text such as "batch 128, 12 workers".
func (s Setting) String() string {
	if s.Workers == 1 {
		return fmt.Sprintf("batch %d, 1 worker", s.Batch)
	}
	return fmt.Sprintf("batch %d, %d workers", s.Batch, s.Workers)
}

// Compare orders settings by batch size, then by workers.
func (s Setting) Compare(t Setting) int {
	return cmp.Or(cmp.Compare(s.Batch, t.Batch), cmp.Compare(s.Workers, t.Workers))
}

// A Table holds the times of models with settings, one time per round. Cells may be missing.
// The zero Table is empty and ready for Add.
type Table struct {
	models []string
	cells  map[key]map[round][]float64
}

type key struct {
	model string
	Setting
}

// A round is identified by its number, and by how often that number has occurred before: round
// 0 of a second run is another round.
type round struct{ run, number int }

// Add adds the time of a model with a setting, in seconds. The work must be the same in all
// cells of a model. Several times of one round count as their median.
func (t *Table) Add(model string, s Setting, number int, seconds float64) {
	t.add(model, s, round{number: number}, seconds)
}

func (t *Table) add(model string, s Setting, r round, seconds float64) {
	if t.cells == nil {
		t.cells = map[key]map[round][]float64{}
	}
	if !slices.Contains(t.models, model) {
		t.models = append(t.models, model)
	}
	k := key{model, s}
	if t.cells[k] == nil {
		t.cells[k] = map[round][]float64{}
	}
	t.cells[k][r] = append(t.cells[k][r], seconds)
}

// A Group is the table of one subject.
type Group struct {
	Subject
	Table *Table
}

// Groups returns a table for each subject of the cells. Its times are seconds per sample.
func Groups(cells []Cell) []Group {
	var groups []Group
	for _, c := range cells {
		i := slices.IndexFunc(groups, func(g Group) bool { return g.Subject == c.Subject })
		if i < 0 {
			i = len(groups)
			groups = append(groups, Group{c.Subject, &Table{}})
		}
		for r, seconds := range c.perRound(perSample) {
			groups[i].Table.add(c.Model, c.Setting, r, seconds)
		}
	}
	return groups
}

// Models returns the models with at least one cell, in the order of their first cell.
func (t *Table) Models() []string { return slices.Clone(t.models) }

// Settings returns the settings of at least one model, sorted.
func (t *Table) Settings() []Setting {
	seen := map[Setting]bool{}
	for k := range t.cells {
		seen[k.Setting] = true
	}
	return slices.SortedFunc(maps.Keys(seen), Setting.Compare)
}

// Time is the time of a model with a setting, in seconds. If the cell is missing, the Figure
// has no rounds.
func (t *Table) Time(model string, s Setting) Figure { return overRounds(t.rounds(model, s)) }

// rounds returns the times of a cell, one per round.
func (t *Table) rounds(model string, s Setting) map[round]float64 {
	return medians(t.cells[key{model, s}])
}

func medians(values map[round][]float64) map[round]float64 {
	found := map[round]float64{}
	for r, v := range values {
		found[r] = median(v)
	}
	return found
}

func overRounds(values map[round]float64) Figure {
	return NewFigure(slices.Collect(maps.Values(values))...)
}

// ratio is a divided by b, for the rounds that both have.
func ratio(a, b map[round]float64) Figure {
	var ratios []float64
	for r, v := range a {
		if w, ok := b[r]; ok {
			ratios = append(ratios, v/w)
		}
	}
	return NewFigure(ratios...)
}

// Best returns the n fastest settings for a model by their medians, the fastest first, or fewer if the model has fewer.
func (t *Table) Best(model string, n int) []Setting {
	var list []Setting
	took := map[Setting]float64{}
	for k := range t.cells {
		if k.model == model {
			list = append(list, k.Setting)
			took[k.Setting] = t.Time(model, k.Setting).Median
		}
	}
	slices.SortFunc(list, func(a, b Setting) int { return cmp.Or(cmp.Compare(took[a], took[b]), a.Compare(b)) })
	return list[:min(max(n, 0), len(list))]
}

// A Count is the number of models that have a setting among their best.
type Count struct {
	Setting
	Models []string // those that have, in the table's order
}

// Top counts for how many models a setting is among the n fastest. The most frequent setting
// comes first.
func (t *Table) Top(n int) []Count {
	var counts []Count
	for _, model := range t.models {
		for _, s := range t.Best(model, n) {
			i := slices.IndexFunc(counts, func(c Count) bool { return c.Setting == s })
			if i < 0 {
				i = len(counts)
				counts = append(counts, Count{Setting: s})
			}
			counts[i].Models = append(counts[i].Models, model)
		}
	}
	slices.SortFunc(counts, func(a, b Count) int {
		return cmp.Or(cmp.Compare(len(b.Models), len(a.Models)), a.Compare(b.Setting))
	})
	return counts
}
