package analysis

import (
	"cmp"
	"slices"
)

// A Count is how many models have a setting among their best.
type Count struct {
	Setting
	Models []string // those that have, in the table's order
}

// Best are the n settings that are the fastest for a model, the fastest first,
// by medians; fewer where the model has fewer.
func (t *Table) Best(model string, n int) []Setting {
	list := t.ranked(model)
	return list[:min(max(n, 0), len(list))]
}

// Top counts over models how often a setting is among a model's n fastest, the
// most frequent first.
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
