// Package analysis turns the times of a sweep into advice: which settings are
// among the best of every model, what it costs on average to choose otherwise,
// and what to set. It calls nothing a difference that is smaller than the spread
// of the rounds, see [Figure.Verdict].
package analysis

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
)

// A Setting is what a user of the loader chooses.
type Setting struct {
	Batch   int // loader.BatchSize
	Workers int // loader.Workers
}

// String is "batch 128, 12 workers".
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

// A Table holds the times of models under settings, a time per round. Cells may
// be missing. The zero Table is empty and ready for Add.
type Table struct {
	models []string
	cells  map[key]map[round][]float64
}

type key struct {
	model string
	Setting
}

// A round is known by its number, and by how often that number occurred before:
// a second run's round 0 is another round.
type round struct{ run, number int }

// Add notes what a model took under a setting, in seconds for the same work in
// all of a model's cells. Several times of one round count as their median.
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

// Models are those with at least one cell, in the order of their first.
func (t *Table) Models() []string { return slices.Clone(t.models) }

// Settings are those of at least one model, in order.
func (t *Table) Settings() []Setting {
	seen := map[Setting]bool{}
	for k := range t.cells {
		seen[k.Setting] = true
	}
	return slices.SortedFunc(maps.Keys(seen), Setting.Compare)
}

// Time is what a model took under a setting, in seconds; of no rounds where the
// cell is missing.
func (t *Table) Time(model string, s Setting) Figure {
	return NewFigure(slices.Collect(maps.Values(t.rounds(model, s)))...)
}

// rounds are the times of a cell, one per round.
func (t *Table) rounds(model string, s Setting) map[round]float64 {
	times := map[round]float64{}
	for r, values := range t.cells[key{model, s}] {
		times[r] = median(values)
	}
	return times
}

// ranked are a model's settings, the fastest first: by medians, and where a
// setting lacks rounds, by those that it shares with the fastest.
func (t *Table) ranked(model string) []Setting {
	var list []Setting
	took := map[Setting]float64{}
	for k := range t.cells {
		if k.model == model {
			list = append(list, k.Setting)
			took[k.Setting] = t.Time(model, k.Setting).Median
		}
	}
	sort := func() {
		slices.SortFunc(list, func(a, b Setting) int {
			return cmp.Or(cmp.Compare(took[a], took[b]), a.Compare(b))
		})
	}
	sort()
	// Who has fewer rounds leads by medians alone if they were on a faster machine.
	// The number of turns is bounded: three settings may beat each other in a circle.
	for range list {
		leader := list[0]
		for _, s := range list {
			took[s] = t.over(model, s, leader).Median
		}
		if sort(); list[0] == leader {
			break
		}
	}
	return list
}
