package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/penstock-go/penstock/bench/analysis"
)

// A kind of chart says how its items are drawn.
type kind string

const (
	lines kind = "lines" // an item is a line
	bars  kind = "bars"  // an item is a bar with its spread, in the group of its category
	heat  kind = "heat"  // an item is a cell, at batch and workers
)

// A chart is a plot of the page. The page's script draws it from Items; figures
// are the same as PNG and SVG.
type chart struct {
	ID       string   `json:"id"`
	Kind     kind     `json:"kind"`
	Title    string   `json:"title"`
	Subtitle string   `json:"subtitle"` // machine, date, what is simulated
	Note     string   `json:"note,omitempty"`
	X        axis     `json:"x"`
	Y        axis     `json:"y"`
	Items    []item   `json:"items"`
	Figures  []figure `json:"-"`
}

// An axis has a name with its unit.
type axis struct {
	Name       string   `json:"name"`
	Log        bool     `json:"log,omitempty"`        // to base 2, for batch sizes
	Whole      bool     `json:"whole,omitempty"`      // ticks at whole numbers alone
	Categories []string `json:"categories,omitempty"` // of bars, in order
}

// An item is a line, a bar or a cell.
type item struct {
	Name     string    `json:"name"` // for the legend: what sets it apart within its chart
	Is       traits    `json:"is"`
	Category string    `json:"cat,omitempty"`
	X        []float64 `json:"x,omitempty"`
	Y        []float64 `json:"y,omitempty"`
	Least    []float64 `json:"lo,omitempty"` // as long as Y, or none
	Most     []float64 `json:"hi,omitempty"`
	Label    string    `json:"label,omitempty"` // the value in words, with its spread
	View     string    `json:"view,omitempty"`  // of cells: one of several maps of the chart
}

// traits are what one can filter by. Empty ones pass every filter.
type traits struct {
	Batch    string `json:"batch,omitempty"`
	Workers  string `json:"workers,omitempty"`
	Data     string `json:"data,omitempty"`
	Model    string `json:"model,omitempty"`
	Side     string `json:"side,omitempty"`
	Device   string `json:"device,omitempty"`
	Consumer string `json:"consumer,omitempty"`
}

func traitsOf(c analysis.Cell) traits {
	t := traits{
		Batch: fmt.Sprint(c.Batch), Workers: fmt.Sprint(c.Workers),
		Data: c.Data, Model: c.Model, Side: c.Variant(), Device: c.Device,
	}
	if c.ConsumerSeconds > 0 {
		t.Consumer = fmt.Sprintf("%g s per batch", c.ConsumerSeconds)
	} else {
		t.Consumer = "none"
	}
	return t
}

// words are the traits for people, in the order in which they are told.
func (t traits) words() []string {
	return []string{t.Side, t.Data, t.Model, t.Device, t.batch(), t.workers()}
}

func (t traits) batch() string {
	if t.Batch == "" {
		return ""
	}
	return "batch " + t.Batch
}

func (t traits) workers() string {
	switch t.Workers {
	case "":
		return ""
	case "1":
		return "1 worker"
	}
	return t.Workers + " workers"
}

// consumer is empty where it takes no time.
func (t traits) consumer() string {
	if t.Consumer == "" || t.Consumer == "none" {
		return ""
	}
	return "consumer " + t.Consumer
}

// nameItems gives items the names that set them apart from each other: those
// traits that are not the same in all. But is what the axis shows already.
func nameItems(items []item, but ...string) {
	differ := make([]bool, 6)
	for _, it := range items {
		for i, w := range it.Is.words() {
			differ[i] = differ[i] || w != items[0].Is.words()[i]
		}
	}
	for i := range items {
		var parts []string
		for k, w := range items[i].Is.words() {
			if differ[k] && w != "" && !slices.ContainsFunc(but, func(b string) bool { return strings.HasPrefix(w, b) }) {
				parts = append(parts, w)
			}
		}
		items[i].Name = printable(strings.Join(parts, ", "))
		if items[i].Name == "" {
			items[i].Name = items[i].Is.Side
		}
	}
}

// split sorts items by one of their traits, in the order of their first.
func split(items []item, by func(item) string) (names []string, parts [][]item) {
	for _, it := range items {
		i := slices.Index(names, by(it))
		if i < 0 {
			i = len(names)
			names, parts = append(names, by(it)), append(parts, nil)
		}
		parts[i] = append(parts[i], it)
	}
	return names, parts
}

// only are the items whose trait is the value.
func only(items []item, of func(traits) string, value string) []item {
	return slices.DeleteFunc(slices.Clone(items), func(it item) bool { return of(it.Is) != value })
}

// usual is the value that most items have, of those the one in the middle of the
// order of their first.
func usual(items []item, of func(traits) string) string {
	names, parts := split(items, func(it item) string { return of(it.Is) })
	most := 0
	for _, p := range parts {
		most = max(most, len(p))
	}
	var best []string
	for i, p := range parts {
		if len(p) == most {
			best = append(best, names[i])
		}
	}
	return best[len(best)/2]
}
