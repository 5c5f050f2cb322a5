package main

import (
	"fmt"
	"image/color"
	"math"
	"slices"
	"strconv"

	"github.com/penstock-go/penstock/bench/analysis"
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// heatCharts draw the regret of every setting, on average and of every model, a
// chart for every subject.
func heatCharts(s *section, groups []analysis.Group) {
	for _, g := range groups {
		if len(g.Table.Settings()) < 2 {
			continue
		}
		is := traitsOf(analysis.Cell{Subject: g.Subject})
		is.Batch, is.Workers = "", ""
		ch := s.chart(heat, "regret in percent, "+g.Variant(), is)
		ch.X, ch.Y = axis{Name: "batch size, samples"}, axis{Name: "workers"}
		ch.Note = "Percent of time lost against the best setting of the model; the frame is the least, what is empty or – was not measured."
		models := g.Table.Models()
		average := fmt.Sprintf("average of %d models", len(models))
		if len(models) > 1 {
			for _, a := range g.Table.Regrets() {
				ch.Items = append(ch.Items, regretItem(is, a.Setting, a.Regret, average))
			}
		}
		for _, model := range models {
			for _, setting := range g.Table.Settings() {
				if r := g.Table.Regret(model, setting); r.Rounds > 0 {
					ch.Items = append(ch.Items, regretItem(is, setting, r, view(model)))
				}
			}
		}
		s.heatFigures(ch)
	}
}

func view(model string) string {
	if model == "" {
		return "loading alone"
	}
	return model
}

func regretItem(is traits, s analysis.Setting, r analysis.Figure, view string) item {
	is.Batch, is.Workers = fmt.Sprint(s.Batch), fmt.Sprint(s.Workers)
	it := bar(is, r, "")
	it.Y[0], it.Least[0], it.Most[0] = round4(100*r.Median), round4(100*r.Least), round4(100*r.Most)
	it.View, it.Name = view, s.String()
	it.Label = fmt.Sprintf("regret %s, %s", analysis.Percent(r), plural(r.Rounds, "round"))
	return it
}

// heatFigures are the first view by itself, and all models' below each other.
func (s *section) heatFigures(ch *chart) {
	views, parts := split(ch.Items, func(it item) string { return it.View })
	batches := numbers(ch.Items, func(t traits) string { return t.Batch })
	workers := numbers(ch.Items, func(t traits) string { return t.Workers })
	height := vg.Length(len(workers))*14 + 62
	panel := func(i int) *plot.Plot {
		p := newPanel(views[i], ch.X.Name, ch.Y.Name)
		p.Add(&squares{parts[i], batches, workers})
		p.NominalX(batches...)
		p.NominalY(workers...)
		p.X.Min, p.X.Max = -0.5, float64(len(batches))-0.5
		p.Y.Min, p.Y.Max = -0.5, float64(len(workers))-0.5
		return p
	}
	s.figure(ch, "regret", compose(ch.Title, ch.Subtitle, height, []*plot.Plot{panel(0)}, nil))
	if len(views) > 2 {
		var rest []*plot.Plot
		for i := range views[1:] {
			p := panel(i + 1)
			if i < len(views)-2 {
				p.X.Label.Text = ""
			}
			rest = append(rest, p)
		}
		s.figure(ch, "regret-models", compose(ch.Title+", by model", ch.Subtitle, height, rest, nil))
	}
}

// numbers are the values of a trait in order of size.
func numbers(items []item, of func(traits) string) []string {
	names, _ := split(items, func(it item) string { return of(it.Is) })
	slices.SortFunc(names, func(a, b string) int {
		x, _ := strconv.Atoi(a)
		y, _ := strconv.Atoi(b)
		return x - y
	})
	return names
}

// squares draw cells with their numbers, dark where regret is small.
type squares struct {
	items            []item
	batches, workers []string
}

func (q *squares) Plot(c draw.Canvas, p *plot.Plot) {
	tx, ty := p.Transforms(&c)
	style := textStyle(smallSize)
	style.XAlign, style.YAlign = draw.XCenter, draw.YCenter
	best := 0
	for i, it := range q.items {
		if it.Y[0] < q.items[best].Y[0] {
			best = i
		}
	}
	for x := range q.batches {
		for y := range q.workers {
			at := func(dx, dy float64) vg.Point { return vg.Point{X: tx(float64(x) + dx), Y: ty(float64(y) + dy)} }
			c.FillPolygon(color.White, []vg.Point{at(-.5, -.5), at(.5, -.5), at(.5, .5), at(-.5, .5)})
			c.FillText(style, at(0, 0), "–")
		}
	}
	for i, it := range q.items {
		x, y := float64(slices.Index(q.batches, it.Is.Batch)), float64(slices.Index(q.workers, it.Is.Workers))
		x0, x1, y0, y1 := tx(x-0.5), tx(x+0.5), ty(y-0.5), ty(y+0.5)
		colour := between(heatAt(it.Y[0]))
		fillBox(c, colour, x0, y0, x1, y1)
		text := style
		text.Color = legible(colour)
		label := digits3(it.Y[0])
		if i == best {
			frame := draw.LineStyle{Color: legible(colour), Width: vg.Points(1.2)}
			c.StrokeLines(frame, []vg.Point{{X: x0 + 2, Y: y0 + 2}, {X: x1 - 2, Y: y0 + 2}, {X: x1 - 2, Y: y1 - 2}, {X: x0 + 2, Y: y1 - 2}, {X: x0 + 2, Y: y0 + 2}})
		}
		c.FillText(text, vg.Point{X: (x0 + x1) / 2, Y: (y0 + y1) / 2}, label)
	}
}

// heatAt places a regret in percent on the ramp: its square root up to 100 %, so
// that the small ones that matter differ. The page's script does the same.
func heatAt(percent float64) float64 { return math.Sqrt(min(max(percent, 0), 100) / 100) }
