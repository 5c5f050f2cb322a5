package main

import (
	"math"
	"slices"
	"strings"

	"github.com/penstock-go/penstock/bench/analysis"
)

// A kind of chart says how its series are drawn.
type kind string

const (
	lines  kind = "lines"  // a series is a line
	bars   kind = "bars"   // a series is a bar at each of its categories
	stages kind = "stages" // the same, lying, with categories of each panel
	heat   kind = "heat"   // a series is a map, with a value at each category and row
)

// A chart is one image. draw.js draws it, for the page and for SVG files.
type chart struct {
	ID         string   `json:"id"`
	Kind       kind     `json:"kind"`
	Title      string   `json:"title"`
	Subtitle   string   `json:"subtitle"`       // of an image by itself: machine, days, what is simulated
	Note       string   `json:"note,omitempty"` // how to read it
	X          axis     `json:"x"`
	Y          axis     `json:"y"`
	Categories []string `json:"categories,omitempty"` // of X, in order; empty ones are gaps
	Groups     []group  `json:"groups,omitempty"`     // of neighbouring categories
	Rows       []string `json:"rows,omitempty"`       // of Y, in a heat map
	Panels     []*panel `json:"panels"`               // from top to bottom, with the same axes
}

// An axis has a name with its unit.
type axis struct {
	Name string `json:"name"`
	Log  bool   `json:"log,omitempty"`
}

// A group is a name under some categories, from the first to the last.
type group struct {
	Name string `json:"name"`
	From int    `json:"from"`
	To   int    `json:"to"`
}

// A panel is what one side did, or several where a number needs no other mark.
type panel struct {
	Title      string    `json:"title"`
	Colour     int       `json:"colour"`
	Categories []string  `json:"categories,omitempty"` // of stages
	Series     []*series `json:"series"`
}

// A series has the colour of its side, and the dashes of its number.
type series struct {
	Name   string    `json:"name"`
	View   string    `json:"view,omitempty"` // where a chart shows one of several views at a time: which
	Colour int       `json:"colour"`
	Dash   int       `json:"dash"`
	X      []float64 `json:"x"`
	Y      []float64 `json:"y"`
	Low    []float64 `json:"lo,omitempty"` // the interval of Y, as long as Y, or none
	High   []float64 `json:"hi,omitempty"`
	Value  []float64 `json:"v,omitempty"` // of a heat map
}

// add appends a point with its interval.
func (s *series) add(x float64, f analysis.Figure) {
	s.X, s.Y = append(s.X, x), append(s.Y, round4(f.Median))
	s.Low, s.High = append(s.Low, round4(f.Low)), append(s.High, round4(f.High))
}

// chart adds a chart. Parts of the title after the first say what it is of.
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

// slug makes a text fit for a file's name.
func slug(text string) string {
	words := strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !(r >= 'a' && r <= 'z' || r >= '0' && r <= '9') })
	name := strings.Join(words, "-")
	return name[:min(len(name), 70)]
}

// sided adds a panel to the chart for every side of the cells, which share their
// axes, with what fill adds.
func (ch *chart) sided(cells []analysis.Cell, fill func(*panel, []analysis.Cell)) {
	parts := split(cells, analysis.Cell.Variant)
	colours := coloursOf(parts)
	for i, part := range parts {
		p := &panel{Title: part[0].Variant(), Colour: colours[i]}
		fill(p, part)
		ch.Panels = append(ch.Panels, p)
	}
}

// Colours are numbers of draw.js's palette.
const palette = 8

// coloursOf are the colours of sides, the same ones in all charts as long as they
// are free: two sides of a chart never share one, unless there are too many.
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

// usual is the value that most cells have; of those with as many, the one in the
// middle.
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

// only are the cells of one value.
func only(cells []analysis.Cell, of func(analysis.Cell) int, value int) []analysis.Cell {
	return slices.DeleteFunc(slices.Clone(cells), func(c analysis.Cell) bool { return of(c) != value })
}

// values are those of cells, in order.
func values(cells []analysis.Cell, of func(analysis.Cell) int) []int {
	var list []int
	for _, c := range cells {
		list = append(list, of(c))
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// round4 leaves four significant digits, so that the page stays small.
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
