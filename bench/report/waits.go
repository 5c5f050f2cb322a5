package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/penstock-go/penstock/bench/analysis"
	"github.com/penstock-go/penstock/bench/result"
)

// loading is the section of the first study.
func loading(s *section, cells []analysis.Cell) {
	rhythms := rhythmSheet(cells)
	var counts []string
	for _, row := range rhythms.Rows {
		counts = append(counts, fmt.Sprintf("%s in %s of %s configurations", row[0], row[2], row[1]))
	}
	if len(counts) > 0 {
		s.find("Batches arrive in bursts (with W workers, a long wait for every W-th batch): %s.", strings.Join(counts, ", "))
	}
	s.table("The longest waits, with two workers or more", rhythms)
	s.compared(cells)
	s.workers(slices.DeleteFunc(slices.Clone(cells), func(c analysis.Cell) bool {
		return c.ConsumerSeconds > 0 // such a rate depends on the consumer, not on the workers
	}))
	for _, part := range split(cells, workOf) {
		if part[0].ConsumerSeconds == 0 {
			s.waits(part, batchOf, "batches of %d", workersOf)
			s.waits(part, workersOf, "%d workers", batchOf)
		}
	}
	for _, part := range split(cells, workOf) {
		if part[0].ConsumerSeconds > 0 {
			s.waits(part, batchOf, "batches of %d", workersOf)
		}
		s.rates(part)
	}
	s.detail("All waits, ms", waitSheet(cells))
	s.detail("All samples per second", sidesSheet(cells))
}

// perPanel is the most lines that can be distinguished in one panel.
const perPanel = 4

// waits draws the wait for every batch, in one panel per side. One value is fixed at its
// most common one, and each value of the other is a line.
func (s *section) waits(cells []analysis.Cell, fixed func(analysis.Cell) int, name string, varies func(analysis.Cell) int) {
	cells = only(cells, fixed, usual(cells, fixed))
	of := fmt.Sprintf(name, fixed(cells[0]))
	if name == "%d workers" {
		of = plural(fixed(cells[0]), "worker")
		if len(values(cells, varies)) < 2 {
			return
		}
	}
	some := spreadOver(values(cells, varies), perPanel)
	ch := s.chart(lines, "waits", "Wait for each batch", workOf(cells[0]).String(), of)
	ch.X.Name, ch.Y.Name = "batch", "wait, ms"
	ch.Note = "Each line is the round with the median time."
	n := firstBatches(cells)
	if n > 0 {
		ch.Note += fmt.Sprintf(" The first %d batches.", n)
	}
	ch.sided(cells, func(p *panel, part []analysis.Cell) {
		for _, c := range part {
			dash := slices.Index(some, varies(c))
			if dash < 0 {
				continue
			}
			line := &series{Name: plural(varies(c), "worker"), Colour: p.Colour, Dash: dash}
			if name == "%d workers" {
				line.Name = fmt.Sprintf("batch %d", varies(c))
			}
			for i, w := range c.Typical().Measured.Waits {
				if n == 0 || i < n {
					line.X, line.Y = append(line.X, float64(i)), append(line.Y, round4(1000*w))
				}
			}
			p.Series = append(p.Series, line)
		}
	})
}

// firstBatches returns how many batches to draw, or 0 for all of them. If one line is more
// than four times as long as another, the short one could hardly be seen. Then it is four
// times the shortest, and at least one period of the most workers and the start of the next.
func firstBatches(cells []analysis.Cell) int {
	shortest, longest, period := 0, 0, 0
	for i, c := range cells {
		n := len(c.Typical().Measured.Waits)
		if i == 0 {
			shortest = n
		}
		shortest, longest, period = min(shortest, n), max(longest, n), max(period, c.Workers)
	}
	if n := max(4*shortest, period+period/4); longest > 4*shortest && n < longest {
		return n
	}
	return 0
}

// spreadOver returns at most n of the values, including the first and the last.
func spreadOver(values []int, n int) []int {
	if len(values) <= n {
		return values
	}
	var some []int
	for k := range n {
		some = append(some, values[k*(len(values)-1)/(n-1)])
	}
	return some
}

func rhythms(c analysis.Cell) (list []analysis.Rhythm) {
	for _, r := range c.Records {
		list = append(list, analysis.NewRhythm(r.Measured.Waits, c.Workers))
	}
	return list
}

// peaks reports whether most rounds of a cell have peaks.
func peaks(c analysis.Cell) bool {
	n, list := 0, rhythms(c)
	for _, r := range list {
		if r.Peaks() {
			n++
		}
	}
	return 2*n > len(list)
}

// rhythmSheet counts for every side the configurations with peaks. It also has the range of
// the first batch's wait and of the longest wait after it, in ms.
func rhythmSheet(cells []analysis.Cell) analysis.Sheet {
	sheet := analysis.Sheet{Head: []string{"side", "configurations", "with peaks", "first batch, ms", "longest wait after it, ms"}}
	for _, part := range split(cells, analysis.Cell.Variant) {
		all, with := 0, 0
		var first, longest []float64
		for _, c := range part {
			if c.Workers < 2 || c.ConsumerSeconds > 0 {
				continue
			}
			all++
			if peaks(c) {
				with++
			}
			first = append(first, 1000*rhythm(c, func(r analysis.Rhythm) float64 { return r.First }).Median)
			longest = append(longest, 1000*rhythm(c, func(r analysis.Rhythm) float64 { return r.Longest }).Median)
		}
		if all > 0 {
			sheet.Rows = append(sheet.Rows, []string{part[0].Variant(), fmt.Sprint(all), fmt.Sprint(with), leastToMost(first), leastToMost(longest)})
		}
	}
	return sheet
}

func leastToMost(values []float64) string {
	least, most := analysis.Digits(slices.Min(values)), analysis.Digits(slices.Max(values))
	if least == most {
		return least
	}
	return least + " to " + most
}

func rhythm(c analysis.Cell, of func(analysis.Rhythm) float64) analysis.Figure {
	var values []float64
	for _, r := range rhythms(c) {
		values = append(values, of(r))
	}
	return analysis.NewFigure(values...)
}

func waitSheet(cells []analysis.Cell) analysis.Sheet {
	sheet := analysis.Sheet{Head: []string{"data", "batch", "workers", "side", "first batch", "median after it", "99th percentile", "longest", "peaks"}}
	for _, c := range cells {
		row := []string{workOf(c).String(), fmt.Sprint(c.Batch), fmt.Sprint(c.Workers), c.Variant()}
		for _, of := range []func(analysis.Rhythm) float64{
			func(r analysis.Rhythm) float64 { return r.First }, func(r analysis.Rhythm) float64 { return r.Median },
			func(r analysis.Rhythm) float64 { return r.P99 }, func(r analysis.Rhythm) float64 { return r.Longest },
		} {
			row = append(row, rhythm(c, of).Times(1000).String())
		}
		sheet.Rows = append(sheet.Rows, append(row, map[bool]string{true: "yes", false: "no"}[peaks(c)]))
	}
	return sheet
}

// usage draws memory and CPU use over time, in one panel per side.
func (s *section) usage(cells []analysis.Cell) {
	cells = slices.DeleteFunc(only(cells, batchOf, usual(cells, batchOf)), func(c analysis.Cell) bool { return len(c.Typical().Measured.Usage) < 2 })
	if len(cells) == 0 {
		return
	}
	some := spreadOver(values(cells, workersOf), perPanel)
	for _, q := range []struct {
		id, title, unit string
		of              func(result.Usage) float64
	}{
		{"memory", "Memory over time", "resident memory, MB", func(u result.Usage) float64 { return float64(u.RSS) / 1e6 }},
		{"cpu", "Processor use over time", "% of one processor", func(u result.Usage) float64 { return u.CPUPercent }},
	} {
		ch := s.chart(lines, q.id, q.title, workOf(cells[0]).String(), fmt.Sprintf("batches of %d", cells[0].Batch))
		ch.X.Name, ch.Y.Name = "seconds since the start", q.unit
		ch.Note = "Each line is the round with the median time."
		ch.sided(cells, func(p *panel, part []analysis.Cell) {
			for _, c := range part {
				if dash := slices.Index(some, c.Workers); dash >= 0 {
					line := &series{Name: plural(c.Workers, "worker"), Colour: p.Colour, Dash: dash}
					for _, u := range c.Typical().Measured.Usage {
						line.X, line.Y = append(line.X, round4(u.Seconds)), append(line.Y, round4(q.of(u)))
					}
					p.Series = append(p.Series, line)
				}
			}
		})
	}
}
