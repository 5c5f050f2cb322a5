package main

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/penstock-go/penstock/bench/analysis"
	"github.com/penstock-go/penstock/bench/result"
)

// endToEnd is the section of the second study.
func endToEnd(s *section, cells []analysis.Cell) {
	groups := analysis.Groups(cells)
	for _, g := range groups {
		if advice, ok := g.Table.Recommend(); ok {
			s.find("%s, %s: %s", g.Data, g.Variant(), advice)
		}
	}
	s.compared(cells)
	s.table("Average regret: the time lost, on average over models, by using one setting for all", averages(groups))
	for _, part := range split(cells, workOf) {
		s.models(part)
		s.heat(part)
	}
	for _, g := range groups {
		s.detail(fmt.Sprintf("%s, %s: settings that are among the best three of most models", g.Variant(), g.Data), g.Table.TopSheet(3))
	}
	s.detail("All times, s", timeSheet(cells))
	s.detail("All samples per second", sidesSheet(cells))
}

// averages is a table of the three best settings of each subject.
func averages(groups []analysis.Group) analysis.Sheet {
	var sheet analysis.Sheet
	for _, g := range groups {
		if len(g.Table.Settings()) < 2 {
			continue
		}
		regrets := g.Table.RegretSheet(3)
		sheet.Head = append([]string{"data", "side"}, regrets.Head...)
		for _, row := range regrets.Rows {
			sheet.Rows = append(sheet.Rows, append([]string{g.Data, g.Variant()}, row...))
		}
	}
	return sheet
}

// models draws samples per second by model: once for all numbers of workers at the most
// common batch size, and once for all batch sizes at the most common number of workers.
func (s *section) models(cells []analysis.Cell) {
	var names []string
	for _, c := range cells {
		if !slices.Contains(names, c.Model) {
			names = append(names, c.Model)
		}
	}
	model := func(c analysis.Cell) int { return slices.Index(names, c.Model) }
	for _, q := range []struct {
		fixed, varies func(analysis.Cell) int
		name, unit    string
	}{{batchOf, workersOf, "batches of %d", "workers"}, {workersOf, batchOf, "%d workers", "batch size"}} {
		some := only(cells, q.fixed, usual(cells, q.fixed))
		if len(values(some, q.varies)) < 2 && q.unit == "batch size" {
			continue
		}
		ch := s.chart(bars, "rate", "Samples per second by model", workOf(cells[0]).String(), fmt.Sprintf(q.name, q.fixed(some[0])))
		ch.Y.Name, ch.Note = "samples/s", intervals
		ch.grouped(some, model, func(i int) string { return names[i] }, q.varies, q.unit)
	}
}

// heat draws the regret of every setting, on average and for every model, in one panel per
// side.
func (s *section) heat(cells []analysis.Cell) {
	batches, workers := values(cells, batchOf), values(cells, workersOf)
	if len(batches)*len(workers) < 2 {
		return
	}
	ch := s.chart(heat, "regret", "Regret: percent of time lost against each model's best setting", workOf(cells[0]).String())
	ch.X.Name, ch.Y.Name = "batch size", "workers"
	for _, b := range batches {
		ch.Categories = append(ch.Categories, fmt.Sprint(b))
	}
	for _, w := range workers {
		ch.Rows = append(ch.Rows, fmt.Sprint(w))
	}
	ch.sided(cells, func(p *panel, part []analysis.Cell) {
		table := analysis.Groups(part)[0].Table
		field := func(view string, of func(analysis.Setting) analysis.Figure) {
			m := &series{Name: p.Title, View: view}
			for _, setting := range table.Settings() {
				if f := of(setting); f.Rounds > 0 {
					m.Value = append(m.Value, round4(100*max(0, f.Median)))
					m.X = append(m.X, float64(slices.Index(batches, setting.Batch)))
					m.Y = append(m.Y, float64(slices.Index(workers, setting.Workers)))
				}
			}
			p.Series = append(p.Series, m)
		}
		if len(table.Models()) > 1 {
			average := map[analysis.Setting]analysis.Figure{}
			for _, a := range table.Regrets() {
				if a.Models == len(table.Models()) {
					average[a.Setting] = a.Regret
				}
			}
			field("average over models", func(s analysis.Setting) analysis.Figure { return average[s] })
		}
		for _, model := range table.Models() {
			field(model, func(s analysis.Setting) analysis.Figure { return table.Regret(model, s) })
		}
	})
}

func timeSheet(cells []analysis.Cell) analysis.Sheet {
	sheet := analysis.Sheet{Head: []string{"data", "model", "batch", "workers", "side", "waiting", "transfer", "compute", "end of loading", "end to end"}}
	for _, c := range cells {
		row := []string{workOf(c).String(), c.Model, fmt.Sprint(c.Batch), fmt.Sprint(c.Workers), c.Variant()}
		for _, of := range []func(result.Measured) float64{
			func(m result.Measured) float64 { return m.Waiting }, func(m result.Measured) float64 { return m.Transfer },
			func(m result.Measured) float64 { return m.Compute }, func(m result.Measured) float64 { return m.LoadingEnd },
			func(m result.Measured) float64 { return m.EndToEnd },
		} {
			row = append(row, c.Figure(of).String())
		}
		sheet.Rows = append(sheet.Rows, row)
	}
	return sheet
}

// inference is the section of the fifth study.
func inference(s *section, cells []analysis.Cell) {
	perItem := func(c analysis.Cell) analysis.Figure {
		return c.Figure(func(m result.Measured) float64 { return 1000 * m.PerItem })
	}
	const reference = "PyTorch"
	for _, part := range split(cells, func(c analysis.Cell) string { return c.Variant() }) {
		side := part[0].Variant()
		pair := slices.DeleteFunc(slices.Clone(cells), func(c analysis.Cell) bool { return c.Variant() != side && c.Variant() != reference })
		if text := times(pair, side); side != reference && text != "" {
			s.find("%s, by model and batch size.", text)
		}
	}
	sheet := analysis.Sheet{Head: []string{"model", "side", "best batch", "ms per item", "gain over the smallest batch", "no clear difference"}}
	type net struct{ work, model, variant string }
	for _, part := range split(cells, func(c analysis.Cell) net { return net{workOf(c).String(), c.Model, c.Variant()} }) {
		best := slices.MinFunc(part, func(a, b analysis.Cell) int {
			if perItem(a).Median < perItem(b).Median {
				return -1
			}
			return 1
		})
		equal := notDifferent(part, best, perItem, batchOf)
		sheet.Rows = append(sheet.Rows, []string{best.Model, best.Variant(), fmt.Sprint(best.Batch), perItem(best).String(),
			analysis.Digits(perItem(part[0]).Median/perItem(best).Median) + " times", equal})
	}
	for _, part := range split(sheet.Rows, func(row []string) string { return row[1] }) {
		var best []string
		for _, row := range part {
			best = append(best, fmt.Sprintf("%s for %s", row[2], row[0]))
		}
		s.find("%s: the time per item is lowest with batches of %s.", part[0][1], strings.Join(best, ", "))
	}
	s.table("The batch size with the lowest time per item", sheet)
	for _, part := range split(cells, workOf) {
		ch := s.chart(lines, "items", "Time per item by batch size", workOf(part[0]).String())
		ch.X = axis{Name: "batch size", Log: true}
		ch.Y, ch.Note = axis{Name: "ms per item", Log: true}, intervals
		var models []string
		for _, c := range part {
			if !slices.Contains(models, c.Model) {
				models = append(models, c.Model)
			}
		}
		ch.sided(part, func(p *panel, part []analysis.Cell) {
			for _, cells := range split(part, func(c analysis.Cell) string { return c.Model }) {
				line := &series{Name: cells[0].Model, Colour: p.Colour, Dash: slices.Index(models, cells[0].Model)}
				for _, c := range cells {
					line.add(math.Log2(float64(c.Batch)), perItem(c))
				}
				p.Series = append(p.Series, line)
			}
		})
	}
}
