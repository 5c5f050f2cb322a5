package main

import (
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// stageFigure draws a panel for every side, with its own stages, the longest
// first. Bars lie, because stages have long names.
func (s *section) stageFigure(ch *chart) {
	items := slices.Clone(ch.Items)
	for i := range items {
		items[i].Name = items[i].Is.workers()
	}
	names, _ := split(items, func(it item) string { return it.Name })
	sides, parts := split(items, func(it item) string { return it.Is.Side })
	var panels []*plot.Plot
	most := 0
	top := 0.0
	for i, part := range parts {
		stages, _ := split(part, func(it item) string { return it.Category })
		slices.Reverse(stages)
		most = max(most, len(stages))
		p := newPanel(sides[i], ch.Y.Name, "")
		b := &lyingBars{barGroups{part, stages, names}}
		p.Add(b)
		var short []string
		for _, name := range stages {
			short = append(short, clip(name, 34))
		}
		p.NominalY(short...)
		p.Y.Min, p.Y.Max = -0.5, float64(len(stages))-0.5
		p.X.Min = 0
		top = max(top, b.top())
		panels = append(panels, p)
	}
	for _, p := range panels {
		p.X.Max = top * 1.08
	}
	var legend []entry
	for i, name := range names {
		legend = append(legend, barEntry(name, shade(i, len(names))))
	}
	height := vg.Length(most)*max(14, 8*vg.Length(len(names))) + 60
	s.figure(ch, "stages", compose(ch.Title, ch.Subtitle, height, panels, legend))
}

// clip shortens a text to n letters.
func clip(text string, n int) string {
	if r := []rune(text); len(r) > n {
		return string(r[:n-1]) + "…"
	}
	return text
}

// lyingBars are barGroups turned, with the first name on top in each group.
type lyingBars struct{ barGroups }

func (b *lyingBars) Plot(c draw.Canvas, p *plot.Plot) {
	tx, ty := p.Transforms(&c)
	width := groupWidth / float64(len(b.names))
	style := textStyle(6.5)
	style.YAlign = draw.YCenter
	for _, it := range b.items {
		i := slices.Index(b.names, it.Name)
		upper := float64(slices.Index(b.categories, it.Category)) + groupWidth/2 - float64(i)*width
		y0, y1 := ty(upper-width), ty(upper)
		fillBox(c, shade(i, len(b.names)), tx(0), y0, tx(it.Y[0]), y1)
		mid := (y0 + y1) / 2
		if it.Most[0] > it.Least[0] {
			outlined(c, [][]vg.Point{{{X: tx(it.Least[0]), Y: mid}, {X: tx(it.Most[0]), Y: mid}}})
		}
		if y1-y0 >= 6 {
			c.FillText(style, vg.Point{X: max(tx(it.Y[0]), tx(it.Most[0])) + 2, Y: mid}, digits3(it.Y[0]))
		}
	}
}

func (b *lyingBars) DataRange() (x0, x1, y0, y1 float64) {
	y0, y1, x0, x1 = b.barGroups.DataRange()
	return x0, x1, y0, y1
}
