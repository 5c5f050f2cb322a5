package main

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/penstock-go/penstock/bench/analysis"
	"github.com/penstock-go/penstock/bench/result"
)

// sidesSheet has a row for every configuration and side, the base first.
func sidesSheet(cells []analysis.Cell) analysis.Sheet {
	quantities := []struct {
		name string
		of   func(result.Measured) float64
	}{
		{"first batch, ms", func(m result.Measured) float64 { return 1000 * m.FirstBatch }},
		{"CPU µs/sample", func(m result.Measured) float64 { return 1e6 * m.CPU / float64(m.Samples) }},
		{"data, MB", func(m result.Measured) float64 { return float64(m.DataBytes) / 1e6 }},
		{"memory, MB", memory},
	}
	sheet := analysis.Sheet{Head: []string{"data", "model", "batch", "workers", "side", "samples/s", "penstock is … times as fast", "clearly", "first batch, ms", "CPU µs/sample", "data, MB", "memory, MB"}}
	type config struct {
		work
		model string
		analysis.Setting
	}
	compared := map[config]analysis.Comparison{}
	configOf := func(c analysis.Cell) config { return config{workOf(c), c.Model, c.Setting} }
	for _, c := range analysis.Compare(cells, base) {
		compared[configOf(c.Sides[0])] = c
	}
	for _, part := range split(cells, configOf) {
		c, ok := compared[configOf(part[0])]
		if !ok {
			c = analysis.Comparison{Sides: part}
		}
		for i, side := range c.Sides {
			times, clearly := "–", "–"
			if i > 0 && ok {
				times, clearly = c.Ratio(i).String(), map[bool]string{true: "yes", false: "no"}[c.Differs(i)]
			}
			row := []string{workOf(side).String(), side.Model, fmt.Sprint(side.Batch), fmt.Sprint(side.Workers), side.Variant(), side.Rate().String(), times, clearly}
			for _, q := range quantities {
				row = append(row, side.Figure(q.of).String())
			}
			sheet.Rows = append(sheet.Rows, row)
		}
	}
	return filled(sheet)
}

// memory is the most resident memory that was measured, in MB.
func memory(m result.Measured) float64 {
	most := int64(0)
	for _, u := range m.Usage {
		most = max(most, u.RSS)
	}
	return float64(most) / 1e6
}

// filled removes the columns without values. If there are several rows, it also removes
// the columns model, batch and workers if their value is the same in all rows.
func filled(sheet analysis.Sheet) analysis.Sheet {
	for i := len(sheet.Head) - 1; i >= 0; i-- {
		says := false
		for _, row := range sheet.Rows {
			constant := len(sheet.Rows) > 1 && slices.Contains([]string{"model", "batch", "workers"}, sheet.Head[i])
			says = says || row[i] != "–" && row[i] != "" && (!constant || row[i] != sheet.Rows[0][i])
		}
		if says {
			continue
		}
		sheet.Head = slices.Delete(sheet.Head, i, i+1)
		for k := range sheet.Rows {
			sheet.Rows[k] = slices.Delete(sheet.Rows[k], i, i+1)
		}
	}
	return sheet
}

// workers adds a table with the fastest number of workers of every configuration, and what
// more workers than processors gain.
func (s *section) workers(cells []analysis.Cell) {
	sheet := analysis.Sheet{Head: []string{"data", "batch", "side", "fastest with", "samples/s", "no clear difference"}}
	type subject struct {
		work
		variant string
		batch   int
	}
	parts := split(cells, func(c analysis.Cell) subject { return subject{workOf(c), c.Variant(), c.Batch} })
	for _, part := range parts {
		if len(part) < 2 {
			continue
		}
		best := fastest(part)
		sheet.Rows = append(sheet.Rows, []string{workOf(best).String(), fmt.Sprint(best.Batch), best.Variant(),
			plural(best.Workers, "worker"), best.Rate().String(), notDifferent(part, best, analysis.Cell.Rate, workersOf)})
	}
	s.table("The fastest number of workers", sheet)
	if cells[0].Simulated == "" {
		s.beyondProcessors(parts)
	}
}

// beyondProcessors says which sides are clearly faster with more workers than the machine has
// processors, if there were rounds enough to tell.
func (s *section) beyondProcessors(parts [][]analysis.Cell) {
	processors, compared := parts[0][0].Machine.Processors, 0
	var gain []string
	for _, part := range parts {
		with := func(more bool) []analysis.Cell {
			return slices.DeleteFunc(slices.Clone(part), func(c analysis.Cell) bool { return c.Workers > processors != more })
		}
		few, many := with(false), with(true)
		if len(few) == 0 || len(many) == 0 {
			continue
		}
		a, b := fastest(few), fastest(many)
		if min(a.Rate().Rounds, b.Rate().Rounds) < analysis.EnoughRounds {
			continue
		}
		compared++
		if b.Rate().Median > a.Rate().Median && b.Rate().Differs(a.Rate()) {
			gain = append(gain, fmt.Sprintf("%s, %s, %s", b.Variant(), workOf(b), b.Setting))
		}
	}
	switch {
	case compared == 0:
	case len(gain) == 0:
		s.find("No side is clearly faster with more workers than the machine's %s.", plural(processors, "processor"))
	default:
		s.find("Clearly faster with more workers than the machine's %s: %s.", plural(processors, "processor"), strings.Join(gain, "; "))
	}
}

// fastest is the cell with the most samples per second.
func fastest(cells []analysis.Cell) analysis.Cell {
	return slices.MaxFunc(cells, func(a, b analysis.Cell) int { return cmp.Compare(a.Rate().Median, b.Rate().Median) })
}

// notDifferent lists the values of the cells that do not differ significantly from the best.
func notDifferent(cells []analysis.Cell, best analysis.Cell, of func(analysis.Cell) analysis.Figure, value func(analysis.Cell) int) string {
	if of(best).Rounds < analysis.EnoughRounds {
		return "too few rounds to tell"
	}
	var list []string
	for _, c := range cells {
		if value(c) != value(best) && !of(c).Differs(of(best)) {
			list = append(list, fmt.Sprint(value(c)))
		}
	}
	if len(list) == 0 {
		return "none"
	}
	return strings.Join(list, ", ")
}
