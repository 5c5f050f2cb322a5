package analysis

import (
	"fmt"
	"strings"
)

// A Sheet is a table for people.
type Sheet struct {
	Head []string
	Rows [][]string
}

// Markdown prints the sheet as Markdown does it, columns in line.
func (s Sheet) Markdown() string {
	width := make([]int, len(s.Head))
	for i, h := range s.Head {
		width[i] = max(3, letters(h))
	}
	for _, row := range s.Rows {
		for i := range min(len(row), len(width)) {
			width[i] = max(width[i], letters(clean(row[i])))
		}
	}
	var b strings.Builder
	line := func(cells []string) {
		for i, w := range width {
			cell := ""
			if i < len(cells) {
				cell = clean(cells[i])
			}
			b.WriteString("| " + cell + strings.Repeat(" ", w-letters(cell)+1))
		}
		b.WriteString("|\n")
	}
	line(s.Head)
	rule := make([]string, len(width))
	for i, w := range width {
		rule[i] = strings.Repeat("-", w)
	}
	line(rule)
	for _, row := range s.Rows {
		line(row)
	}
	return b.String()
}

func letters(s string) int { return len([]rune(s)) }

// clean keeps a cell in its place.
func clean(s string) string {
	return strings.NewReplacer("|", "/", "\n", " ", "\r", " ").Replace(s)
}

// TopSheet is the table of [Table.Top]: how often a setting is among a model's n
// best.
func (t *Table) TopSheet(n int) Sheet {
	s := Sheet{Head: []string{"batch", "workers", fmt.Sprintf("among the best %d of", n), "models"}}
	for _, c := range t.Top(n) {
		s.Rows = append(s.Rows, []string{
			fmt.Sprint(c.Batch), fmt.Sprint(c.Workers),
			fmt.Sprintf("%d of %d", len(c.Models), len(t.models)), strings.Join(c.Models, ", "),
		})
	}
	return s
}

// RegretSheet is the table of the n settings with the least average regret.
func (t *Table) RegretSheet(n int) Sheet {
	s := Sheet{Head: []string{"batch", "workers", "average regret", "models", "greatest regret", "of"}}
	list := t.Regrets()
	for _, a := range list[:min(max(n, 0), len(list))] {
		s.Rows = append(s.Rows, []string{
			fmt.Sprint(a.Batch), fmt.Sprint(a.Workers), Percent(a.Regret),
			fmt.Sprintf("%d of %d", a.Models, len(t.models)), Percent(a.Most), a.Worst,
		})
	}
	return s
}
