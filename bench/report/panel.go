package main

import (
	"image/color"
	"math"
	"strconv"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// newPanel is an empty plot in our look. Its title says what sets it apart from
// the figure's other panels.
func newPanel(title, x, y string) *plot.Plot {
	p := plot.New()
	p.Title.Text, p.Title.Padding = title, 4
	restyle(&p.Title.TextStyle, 9)
	p.X.Label.Text, p.Y.Label.Text = x, y
	for _, a := range []*plot.Axis{&p.X, &p.Y} {
		restyle(&a.Label.TextStyle, smallSize)
		restyle(&a.Tick.Label, smallSize)
		a.Padding = 2
	}
	p.X.Tick.Marker, p.Y.Tick.Marker = plain{}, plain{}
	grid := plotter.NewGrid()
	grid.Vertical.Color, grid.Horizontal.Color = nil, pale
	grid.Horizontal.Width = vg.Points(0.5)
	p.Add(grid)
	return p
}

// restyle takes our face and ink, and leaves where the text stands.
func restyle(style *draw.TextStyle, size float64) {
	ours := textStyle(size)
	style.Font, style.Color, style.Handler = ours.Font, ours.Color, ours.Handler
}

// plain ticks are four to eight round numbers without exponents, fewer where only
// whole numbers make sense.
type plain struct{ whole bool }

func (t plain) Ticks(low, high float64) []plot.Tick {
	room := high - low
	if !(room > 0) {
		return []plot.Tick{{Value: low, Label: digits3(low)}}
	}
	step := math.Pow(10, math.Floor(math.Log10(room/4)))
	for _, factor := range []float64{5, 2} {
		if room/(step*factor) >= 3.5 {
			step *= factor
			break
		}
	}
	if t.whole {
		step = max(step, 1)
	}
	var ticks []plot.Tick
	for k := math.Ceil(low/step - 1e-9); k*step <= high+step*1e-9 && len(ticks) < 20; k++ {
		v := k*step + 0 // not -0
		ticks = append(ticks, plot.Tick{Value: v, Label: strconv.FormatFloat(v, 'f', max(0, -int(math.Floor(math.Log10(step)+1e-9))), 64)})
	}
	return ticks
}

// A course is a line with marks and, where it has them, the spread of its points.
// There are at most about 30 marks, however many points.
type course struct {
	item
	look, looks int // this is the look-th of looks lines
}

func (l course) Plot(c draw.Canvas, p *plot.Plot) {
	tx, ty := p.Transforms(&c)
	points := make([]vg.Point, len(l.Y))
	for i := range points {
		points[i] = vg.Point{X: tx(l.X[i]), Y: ty(l.Y[i])}
	}
	style := lineStyle(l.look, l.looks)
	c.StrokeLines(style, c.ClipLinesXY(points)...)
	step := max(1, len(points)/30)
	for i, at := range points {
		if len(l.Least) == len(points) && l.Most[i] > l.Least[i] {
			whisker(c, at.X, ty(l.Least[i]), ty(l.Most[i]))
		}
		if (i+l.look)%step == 0 {
			c.DrawGlyph(glyphStyle(l.look, l.looks), at)
		}
	}
}

func (l course) DataRange() (x0, x1, y0, y1 float64) {
	x0, x1, y0, y1 = math.Inf(1), math.Inf(-1), 0, 0
	for i := range l.Y {
		x0, x1, y1 = min(x0, l.X[i]), max(x1, l.X[i]), max(y1, l.Y[i])
		if len(l.Most) == len(l.Y) {
			y1 = max(y1, l.Most[i])
		}
	}
	return x0, x1, y0, y1
}

func (l course) entry() entry {
	return entry{l.Name, func(c draw.Canvas) {
		mid := c.Center()
		c.StrokeLine2(lineStyle(l.look, l.looks), c.Min.X, mid.Y, c.Max.X, mid.Y)
		c.DrawGlyph(glyphStyle(l.look, l.looks), mid)
	}}
}

// whisker draws a spread.
func whisker(c draw.Canvas, x, y0, y1 vg.Length) {
	outlined(c, [][]vg.Point{{{X: x, Y: y0}, {X: x, Y: y1}}, {{X: x - 2, Y: y0}, {X: x + 2, Y: y0}}, {{X: x - 2, Y: y1}, {X: x + 2, Y: y1}}})
}

// outlined draws thin lines in ink with a white outline, to be seen on dark bars
// and on white alike.
func outlined(c draw.Canvas, lines [][]vg.Point) {
	for _, style := range []draw.LineStyle{{Color: color.White, Width: vg.Points(2.4)}, {Color: ink, Width: vg.Points(0.8)}} {
		c.StrokeLines(style, lines...)
	}
}

// fillBox paints a rectangle with a thin outline.
func fillBox(c draw.Canvas, colour color.Color, x0, y0, x1, y1 vg.Length) {
	corners := []vg.Point{{X: x0, Y: y0}, {X: x1, Y: y0}, {X: x1, Y: y1}, {X: x0, Y: y1}}
	c.FillPolygon(colour, corners)
	c.StrokeLines(draw.LineStyle{Color: ink, Width: vg.Points(0.5)}, append(corners, corners[0]))
}

// linePanels draws lines in a panel for each side, all panels with the same
// axes, so that they can be compared. No panels come of no items.
func linePanels(items []item, x, y axis) ([]*plot.Plot, []entry) {
	names, _ := split(items, func(it item) string { return it.Name })
	sides, parts := split(items, func(it item) string { return it.Is.Side })
	var panels []*plot.Plot
	var legend []entry
	top, left, right := 0.0, math.Inf(1), math.Inf(-1)
	told := map[string]bool{}
	for i, part := range parts {
		title := sides[i]
		p := newPanel(title, x.Name, y.Name)
		if i < len(parts)-1 {
			p.X.Label.Text = ""
		}
		for _, it := range part {
			l := course{item: it, look: indexOf(names, it.Name), looks: len(names)}
			p.Add(l)
			if !told[it.Name] {
				told[it.Name] = true
				legend = append(legend, l.entry())
			}
		}
		if x.Log {
			p.X.Tick.Marker = doublings{}
			p.X.Min, p.X.Max = p.X.Min-0.1, p.X.Max+0.1
		}
		if x.Whole {
			p.X.Tick.Marker = plain{whole: true}
		}
		top, left, right = max(top, p.Y.Max), min(left, p.X.Min), max(right, p.X.Max)
		panels = append(panels, p)
	}
	for _, p := range panels {
		p.Y.Min, p.Y.Max = 0, top*1.05
		if top == 0 {
			p.Y.Max = 1
		}
		p.X.Min, p.X.Max = left, right
		if left == right {
			p.X.Min, p.X.Max = left-1, right+1
		}
	}
	return panels, legend
}

func indexOf(names []string, name string) int {
	for i, n := range names {
		if n == name {
			return i
		}
	}
	return 0
}

// doublings are the ticks of an axis of logarithms to base 2.
type doublings struct{}

func (doublings) Ticks(low, high float64) []plot.Tick {
	var ticks []plot.Tick
	for e := math.Ceil(low - 1e-9); e <= high+1e-9; e++ {
		ticks = append(ticks, plot.Tick{Value: e, Label: strconv.FormatFloat(math.Exp2(e), 'f', -1, 64)})
	}
	return ticks
}
