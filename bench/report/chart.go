package main

import (
	"math"
	"slices"
	"strings"

	"github.com/penstock-go/penstock/bench/analysis"
)

// A kind says how the series of a chart are drawn.
type kind string

const (
	lines  kind = "lines"  // a series is a line
	bars   kind = "bars"   // a series is a bar at each of its categories
	stages kind = "stages" // horizontal bars; every panel has its own categories
	heat   kind = "heat"   // a series is a heat map, with a value for each category and row
)

// A chart is the data of one chart. draw.js draws it, for the page and for SVG files.
type chart struct {
	ID         string   `json:"id"`
	Kind       kind     `json:"kind"`
	Title      string   `json:"title"`
	Subtitle   string   `json:"subtitle"`       // only in SVG files: machine, days, what is simulated
	Note       string   `json:"note,omitempty"` // how to read it
	X          axis     `json:"x"`
	Y          axis     `json:"y"`
	Categories []string `json:"categories,omitempty"` // of X, in order; an empty one is a gap
	Groups     []group  `json:"groups,omitempty"`     // of adjacent categories
	Rows       []string `json:"rows,omitempty"`       // of Y, in a heat map
	Panels     []*panel `json:"panels"`               // from top to bottom, with the same axes
}

// An axis has a name with its unit.
type axis struct {
	Name string `json:"name"`
	Log  bool   `json:"log,omitempty"`
}

// A group is a name for adjacent categories, from the first to the last.
type group struct {
	Name string `json:"name"`
	From int    `json:"from"`
	To   int    `json:"to"`
}

// A panel shows one side, or all sides in one if the chart needs no other distinction.
type panel struct {
	Title      string    `json:"title"`
	Colour     int       `json:"colour"`
	Categories []string  `json:"categories,omitempty"` // of stages
	Series     []*series `json:"series"`
}

// A series has the colour of its side, and a dash pattern of its own within the panel.
type series struct {
	Name   string    `json:"name"`
	View   string    `json:"view,omitempty"` // the series' view, if the chart shows one of several views at a time
	Colour int       `json:"colour"`
	Dash   int       `json:"dash"`
	X      []float64 `json:"x"`
	Y      []float64 `json:"y"`
	Low    []float64 `json:"lo,omitempty"` // the interval of each Y, or empty
	High   []float64 `json:"hi,omitempty"`
	Value  []float64 `json:"v,omitempty"` // of a heat map
}

// add appends a point with its interval.
func (s *series) add(x float64, f analysis.Figure) {
	s.X, s.Y = append(s.X, x), append(s.Y, round4(f.Median))
	s.Low, s.High = append(s.Low, round4(f.Low)), append(s.High, round4(f.High))
}

// chart adds a chart. The parts of the title after the first describe its data.
func (s *section) chart(k kind, id, title string, of ...string) *chart {
	of = slices.DeleteFunc(of, func(part string) bool { return part == "" })
	var taken []string
	for _, ch := range s.Charts {
		taken = append(taken, ch.ID)
	}
	ch := &chart{ID: numbered(slug(s.ID+" "+id+" "+strings.Join(of, " ")), taken), Kind: k, Title: title}
	if len(of) > 0 {
		ch.Title += ": " + strings.Join(of, ", ")
	}
	s.Charts = append(s.Charts, ch)
	return ch
}

// slug converts a text to a file name.
func slug(text string) string {
	words := strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !(r >= 'a' && r <= 'z' || r >= '0' && r <= '9') })
	name := strings.Join(words, "-")
	return name[:min(len(name), 70)]
}

// sided adds a panel for every side of the cells, and calls fill for each. The panels share their
// axes.
func (ch *chart) sided(cells []analysis.Cell, fill func(*panel, []analysis.Cell)) {
	parts := split(cells, analysis.Cell.Variant)
	colours := coloursOf(parts)
	for i, part := range parts {
		p := &panel{Title: part[0].Variant(), Colour: colours[i]}
		fill(p, part)
		ch.Panels = append(ch.Panels, p)
	}
}

// palette is the number of colours in draw.js.
const palette = 10

// coloursOf assigns colours to the sides of a chart. A side has the same colour in all charts if
// that colour is free. Two sides of a chart share a colour only if there are too many sides.
func coloursOf(sides [][]analysis.Cell) []int {
	var taken []int
	for _, part := range sides {
		c := preferred(part[0].Variant())
		for n := 0; slices.Contains(taken, c) && n < palette; n++ {
			c = (c + 1) % palette
		}
		taken = append(taken, c)
	}
	return taken
}

func preferred(side string) int {
	switch {
	case strings.Contains(side, "without Help"):
		return 1
	case strings.HasPrefix(side, base):
		return 0
	case strings.Contains(side, "tensors"):
		return 3
	case strings.HasPrefix(side, "PyTorch"):
		return 2
	case strings.HasSuffix(side, " loop"):
		return 7
	}
	return 4
}

// usual returns the most common value of the cells. If several are equally common, it returns the
// middle one.
func usual(cells []analysis.Cell, of func(analysis.Cell) int) int {
	parts := split(cells, of)
	most := 0
	for _, p := range parts {
		most = max(most, len(p))
	}
	var best []int
	for _, p := range parts {
		if len(p) == most {
			best = append(best, of(p[0]))
		}
	}
	slices.Sort(best)
	return best[len(best)/2]
}

func batchOf(c analysis.Cell) int   { return c.Batch }
func workersOf(c analysis.Cell) int { return c.Workers }

// only returns the cells with one value.
func only(cells []analysis.Cell, of func(analysis.Cell) int, value int) []analysis.Cell {
	return slices.DeleteFunc(slices.Clone(cells), func(c analysis.Cell) bool { return of(c) != value })
}

// values returns the different values of the cells, sorted.
func values(cells []analysis.Cell, of func(analysis.Cell) int) []int {
	var list []int
	for _, c := range cells {
		list = append(list, of(c))
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// round4 rounds to four significant digits, so that the page stays small.
func round4(v float64) float64 {
	if v == 0 || math.IsInf(v, 0) || math.IsNaN(v) {
		return 0
	}
	scale := math.Pow(10, 3-math.Floor(math.Log10(math.Abs(v))))
	if r := math.Round(v*scale) / scale; !math.IsInf(r, 0) && !math.IsNaN(r) {
		return r
	}
	return v
}
