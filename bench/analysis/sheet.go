package analysis

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/penstock-go/penstock/bench/result"
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

// StageSheet is a profile as a table of the 15 stages with the most self time. The times of all threads are added up; those
// of penstock are wall-clock times, those of PyTorch processor times.
func StageSheet(m result.Measured) Sheet {
	list := slices.SortedStableFunc(slices.Values(m.Stages), func(a, b result.Stage) int {
		return cmp.Compare(b.Self, a.Self)
	})
	all := 1e-12
	for _, st := range list {
		all += st.Self
	}
	s := Sheet{Head: []string{"name", "self %", "self, ms", "total %", "total, ms", "average, µs", "calls"}}
	for _, st := range list[:min(15, len(list))] {
		s.Rows = append(s.Rows, []string{st.Name, Digits(100 * st.Self / all), Digits(1000 * st.Self), Digits(100 * st.Total / all), Digits(1000 * st.Total),
			Digits(1e6 * st.Total / float64(max(st.Calls, 1))), fmt.Sprint(st.Calls)})
	}
	return s
}
