package main

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/penstock-go/penstock/bench/analysis"
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
)

// rateCharts draw samples per second as bars, batch by workers, a chart for every
// kind of data, consumer and model.
func rateCharts(s *section, cells []analysis.Cell) {
	items := make([]item, 0, len(cells))
	for _, c := range sorted(cells) {
		f := c.Rate()
		it := bar(traitsOf(c), f, "samples/s")
		it.Category = it.Is.Batch
		items = append(items, it)
	}
	_, parts := split(items, func(it item) string {
		return it.Is.Data + "\x00" + it.Is.Consumer + "\x00" + it.Is.Model + "\x00" + it.Is.Device
	})
	for _, part := range parts {
		ch := s.chart(bars, "samples per second", part[0].Is)
		ch.X, ch.Y = axis{Name: "batch size, samples"}, axis{Name: "samples/s"}
		ch.Note = "Medians over rounds; the line in a bar is the range."
		ch.Items = part
		ch.X.Categories, _ = split(part, func(it item) string { return it.Category })
		nameItems(ch.Items, "batch ")
		s.barFigure(ch)
	}
}

// bar is an item of one value.
func bar(is traits, f analysis.Figure, unit string) item {
	return item{
		Is: is, Y: []float64{round4(f.Median)}, Least: []float64{round4(f.Least)}, Most: []float64{round4(f.Most)},
		Label: fmt.Sprintf("%s %s, %s", f, unit, plural(f.Rounds, "round")),
	}
}

func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// sorted are cells by batch and workers, and otherwise as they come.
func sorted(cells []analysis.Cell) []analysis.Cell {
	return slices.SortedStableFunc(slices.Values(cells), func(a, b analysis.Cell) int {
		return cmp.Or(cmp.Compare(a.Batch, b.Batch), cmp.Compare(a.Workers, b.Workers))
	})
}

// barFigure draws a panel for every side, all with the same axis.
func (s *section) barFigure(ch *chart) {
	items := slices.Clone(ch.Items)
	for i := range items {
		items[i].Name = items[i].Is.workers()
	}
	panels, legend := barPanels(items, ch.X, ch.Y)
	s.figure(ch, "bars", compose(ch.Title, ch.Subtitle, 4.8*vg.Centimeter, panels, legend))
}

func barPanels(items []item, x, y axis) ([]*plot.Plot, []entry) {
	names, firsts := split(items, func(it item) string { return it.Name })
	sides, parts := split(items, func(it item) string { return it.Is.Side })
	var panels []*plot.Plot
	top := 0.0
	for i, part := range parts {
		p := newPanel(sides[i], x.Name, y.Name)
		if i < len(parts)-1 {
			p.X.Label.Text = ""
		}
		b := &barGroups{part, x.Categories, names}
		p.Add(b)
		p.NominalX(x.Categories...)
		p.X.Min, p.X.Max = -0.5, float64(len(x.Categories))-0.5
		top = max(top, b.top())
		panels = append(panels, p)
	}
	room := 1.15
	if len(names)*len(x.Categories) > 15 {
		room = 1.4 // values stand upright
	}
	for _, p := range panels {
		p.Y.Min, p.Y.Max = 0, top*room
	}
	var legend []entry
	for i := range firsts {
		legend = append(legend, barEntry(names[i], shade(i, len(names))))
	}
	return panels, legend
}
