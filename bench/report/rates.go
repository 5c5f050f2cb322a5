package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/penstock-go/penstock/bench/analysis"
)

// A work is what all records of a chart or table have in common.
type work struct {
	data, span, device string
	consumer           float64
}

func workOf(c analysis.Cell) work { return work{c.Data, c.Span, c.Device, c.ConsumerSeconds} }

// String describes the work. It does not mention the processor as the device.
func (w work) String() string {
	parts := []string{w.data}
	if w.device != "" && w.device != "cpu" {
		parts = append(parts, w.device)
	}
	if w.span != "" {
		parts = append(parts, w.span)
	}
	if w.consumer > 0 {
		parts = append(parts, fmt.Sprintf("a consumer of %g s per batch", w.consumer))
	}
	return strings.Join(parts, ", ")
}

// throughput is the section that compares the same work in several libraries.
func throughput(s *section, cells []analysis.Cell) {
	slices.SortStableFunc(cells, func(a, b analysis.Cell) int { return photosFirst(a) - photosFirst(b) })
	at := processors(cells)
	some := only(cells, workersOf, at)
	if text := times(some, base); text != "" {
		s.find("With %s, %s.", plural(at, "worker"), text)
	}
	s.slower(cells)
	s.table(fmt.Sprintf("With %s", plural(at, "worker")), sidesSheet(some))
	for _, part := range split(cells, workOf) {
		s.rates(part)
	}
	s.detail("All numbers of workers", sidesSheet(cells))
}

// photosFirst sorts photos before all other data, because most users load photos.
func photosFirst(c analysis.Cell) int {
	if strings.HasPrefix(c.Data, "photos") {
		return 0
	}
	return 1
}

// processors is the number of workers that a chart with only one such number shows: the
// number of processors, or else the most common number of workers.
func processors(cells []analysis.Cell) int {
	if n := cells[0].Machine.Processors; len(only(cells, workersOf, n)) > 0 {
		return n
	}
	return usual(cells, workersOf)
}

// times says how many times as fast the base is as the sides of other libraries, over all configurations.
// It is empty if there is nothing to compare.
func times(cells []analysis.Cell, base string) string {
	var all []float64
	var others []string
	for _, c := range analysis.Compare(cells, base) {
		for i, side := range c.Sides[1:] {
			if r := c.Ratio(i + 1); r.Rounds > 0 && !strings.HasPrefix(side.Side, base) {
				all = append(all, r.Median)
				if !slices.Contains(others, side.Variant()) {
					others = append(others, side.Variant())
				}
			}
		}
	}
	switch len(others) {
	case 0:
		return ""
	case 1:
		return fmt.Sprintf("%s is %s times as fast as %s", base, leastToMost(all), others[0])
	}
	return fmt.Sprintf("%s is %s times as fast as the %d other sides", base, leastToMost(all), len(others))
}

// slower names the configurations in which the base is slower than another side.
func (s *section) slower(cells []analysis.Cell) {
	var list []string
	for _, c := range analysis.Compare(cells, base) {
		for i := range c.Sides[1:] {
			if r := c.Ratio(i + 1); r.Median < 1 && c.Differs(i+1) && !strings.HasPrefix(c.Sides[i+1].Side, base) {
				list = append(list, fmt.Sprintf("%s with %s (%s times the speed of %s)", workOf(c.Sides[0]), plural(c.Sides[0].Workers, "worker"),
					analysis.Digits(r.Median), c.Sides[i+1].Variant()))
			}
		}
	}
	if len(list) > 0 {
		s.find("%s is slower in %s.", base, strings.Join(list, "; "))
	}
}

// compared adds a table that compares the base with every other side, and counts in how many
// configurations it is faster and slower.
func (s *section) compared(cells []analysis.Cell) {
	sheet := analysis.Sheet{Head: []string{"data", "compared with", "times as fast", "configurations", "clearly faster", "no clear difference", "clearly slower"}}
	for _, part := range split(cells, workOf) {
		ratios, verdicts := map[string][]float64{}, map[string]*[3]int{}
		var names []string
		for _, c := range analysis.Compare(part, base) {
			for i, side := range c.Sides[1:] {
				r, name := c.Ratio(i+1), side.Variant()
				if r.Rounds == 0 {
					continue
				}
				if verdicts[name] == nil {
					names, verdicts[name] = append(names, name), new([3]int)
				}
				ratios[name] = append(ratios[name], r.Median)
				switch {
				case !c.Differs(i + 1):
					verdicts[name][1]++
				case r.Median > 1:
					verdicts[name][0]++
				default:
					verdicts[name][2]++
				}
			}
		}
		for _, name := range names {
			v := verdicts[name]
			sheet.Rows = append(sheet.Rows, []string{workOf(part[0]).String(), name, leastToMost(ratios[name]),
				fmt.Sprint(len(ratios[name])), fmt.Sprint(v[0]), fmt.Sprint(v[1]), fmt.Sprint(v[2])})
		}
	}
	s.table(base+" compared with the others, over batch sizes, models and numbers of workers", sheet)
}

// rates draws samples per second as bars. With one batch size it is one panel by workers, with
// a bar per side. With several, it is one panel per side, by batch size and workers.
func (s *section) rates(cells []analysis.Cell) {
	ch := s.chart(bars, "rate", "Samples per second", workOf(cells[0]).String())
	ch.Y.Name, ch.Note = "samples/s", intervals
	if len(values(cells, batchOf)) > 1 {
		ch.grouped(cells, batchOf, func(n int) string { return fmt.Sprintf("batch %d", n) }, workersOf, "workers")
		return
	}
	workers := values(cells, workersOf)
	for _, w := range workers {
		ch.Categories = append(ch.Categories, fmt.Sprint(w))
	}
	ch.X.Name = "workers"
	p := &panel{}
	parts := split(cells, analysis.Cell.Variant)
	for i, colour := range coloursOf(parts) {
		line := &series{Name: parts[i][0].Variant(), Colour: colour}
		for _, c := range parts[i] {
			line.add(float64(slices.Index(workers, c.Workers)), c.Rate())
		}
		p.Series = append(p.Series, line)
	}
	ch.Panels = []*panel{p}
}

const intervals = "Medians over rounds. The thin line is the 95 % confidence interval, or, with fewer than six rounds, the range."

// grouped draws one panel per side: groups of bars by one value, bars by another.
func (ch *chart) grouped(cells []analysis.Cell, by func(analysis.Cell) int, name func(int) string, inner func(analysis.Cell) int, unit string) {
	ch.X.Name = unit
	type place struct{ group, inner int }
	at := map[place]int{}
	for i, g := range values(cells, by) {
		if i > 0 {
			ch.Categories = append(ch.Categories, "") // a gap
		}
		from := len(ch.Categories)
		for _, v := range values(only(cells, by, g), inner) {
			at[place{g, v}] = len(ch.Categories)
			ch.Categories = append(ch.Categories, fmt.Sprint(v))
		}
		ch.Groups = append(ch.Groups, group{name(g), from, len(ch.Categories) - 1})
	}
	ch.sided(cells, func(p *panel, part []analysis.Cell) {
		line := &series{Name: p.Title, Colour: p.Colour}
		for _, c := range part {
			line.add(float64(at[place{by(c), inner(c)}]), c.Rate())
		}
		p.Series = []*series{line}
	})
}
