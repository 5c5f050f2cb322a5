package analysis

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// A Sheet is a table of texts, for printing.
type Sheet struct {
	Head []string
	Rows [][]string
}

// Markdown returns the sheet as a Markdown table with aligned columns.
func (s Sheet) Markdown() string {
	rule := make([]string, len(s.Head))
	lines := append([][]string{s.Head, rule}, s.Rows...)
	for i := range s.Head {
		width := 3
		for _, line := range lines {
			if i < len(line) {
				width = max(width, utf8.RuneCountInString(clean(line[i])))
			}
		}
		rule[i] = strings.Repeat("-", width)
	}
	var b strings.Builder
	for _, line := range lines {
		for i, r := range rule {
			cell := ""
			if i < len(line) {
				cell = clean(line[i])
			}
			b.WriteString("| " + cell + strings.Repeat(" ", len(r)-utf8.RuneCountInString(cell)+1))
		}
		b.WriteString("|\n")
	}
	return b.String()
}

// clean replaces the characters that would end a cell or a row.
func clean(s string) string {
	return strings.NewReplacer("|", "/", "\n", " ", "\r", " ").Replace(s)
}

// TopSheet is [Table.Top] as a table: how often a setting is among a model's n best settings.
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
