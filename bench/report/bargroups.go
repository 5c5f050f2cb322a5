package main

import (
	"image/color"
	"math"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// barGroups draws bars in groups by category, with spreads, and with the value
// above each bar: lying where there is room, upright where there is not.
type barGroups struct {
	items      []item
	categories []string
	names      []string // in the order in which bars stand within a group
}

const groupWidth = 0.84 // of the room of a category

func (b *barGroups) top() float64 {
	top := 0.0
	for _, it := range b.items {
		top = max(top, it.Y[0], it.Most[0])
	}
	if top == 0 {
		return 1
	}
	return top
}

func (b *barGroups) Plot(c draw.Canvas, p *plot.Plot) {
	tx, ty := p.Transforms(&c)
	width := groupWidth / float64(len(b.names))
	for _, it := range b.items {
		i := slices.Index(b.names, it.Name)
		left := float64(slices.Index(b.categories, it.Category)) - groupWidth/2 + float64(i)*width
		x0, x1 := tx(left), tx(left+width)
		fillBox(c, shade(i, len(b.names)), x0, ty(0), x1, ty(it.Y[0]))
		mid := (x0 + x1) / 2
		if it.Most[0] > it.Least[0] {
			whisker(c, mid, ty(it.Least[0]), ty(it.Most[0]))
		}
		b.label(c, mid, x1-x0, max(ty(it.Y[0]), ty(it.Most[0])), digits3(it.Y[0]))
	}
}

func (b *barGroups) label(c draw.Canvas, x, room, y vg.Length, text string) {
	style := textStyle(6.5)
	switch {
	case style.Width(text)+1 <= room:
		style.XAlign = draw.XCenter
		c.FillText(style, vg.Point{X: x, Y: y + 2}, text)
	case room >= 6:
		style.Rotation = math.Pi / 2
		style.YAlign = draw.YCenter
		c.FillText(style, vg.Point{X: x, Y: y + 2}, text)
	}
}

func (b *barGroups) DataRange() (x0, x1, y0, y1 float64) {
	return -0.5, float64(len(b.categories)) - 0.5, 0, b.top()
}

func barEntry(name string, colour color.Color) entry {
	return entry{name, func(c draw.Canvas) { fillBox(c, colour, c.Min.X+8, c.Min.Y, c.Max.X, c.Max.Y) }}
}
