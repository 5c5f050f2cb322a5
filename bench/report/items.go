package main

import (
	"fmt"
	"math"
	"slices"

	"github.com/penstock-go/penstock/bench/analysis"
	"github.com/penstock-go/penstock/bench/result"
	"gonum.org/v1/plot/vg"
)

// itemCharts draw a model's time per item against batch size, a line per model
// and a chart per device.
func itemCharts(s *section, cells []analysis.Cell) {
	var items []item
	type subject struct {
		analysis.Subject
		model   string
		workers int
	}
	index := map[subject]int{}
	for _, c := range sorted(cells) {
		f := c.Figure(func(m result.Measured) float64 { return 1000 * m.PerItem })
		if f.Rounds == 0 {
			continue
		}
		key := subject{c.Subject, c.Model, c.Workers}
		i, ok := index[key]
		if !ok {
			i = len(items)
			index[key] = i
			is := traitsOf(c)
			is.Batch, is.Workers = "", ""
			items = append(items, item{Is: is})
		}
		it := &items[i]
		it.X, it.Y = append(it.X, math.Log2(float64(c.Batch))), append(it.Y, round4(f.Median))
		it.Least, it.Most = append(it.Least, round4(f.Least)), append(it.Most, round4(f.Most))
	}
	_, parts := split(items, func(it item) string { return it.Is.Device + "\x00" + it.Is.Data })
	for _, part := range parts {
		is := part[0].Is
		is.Model = ""
		ch := s.chart(lines, "time per item by batch size", is)
		ch.X, ch.Y = axis{Name: "batch size, samples", Log: true}, axis{Name: "time per item, ms"}
		ch.Note = "Medians over rounds; the upright line at a point is the range."
		ch.Items = part
		nameItems(ch.Items)
		fig := slices.Clone(ch.Items)
		sided(fig)
		panels, legend := linePanels(fig, ch.X, ch.Y)
		s.figure(ch, "items", compose(ch.Title, ch.Subtitle, 6*vg.Centimeter, panels, legend))
	}
}

// bestBatches says for every model which batch size takes the least time per item.
func bestBatches(cells []analysis.Cell) []string {
	type subject struct {
		side, device, model string
	}
	var order []subject
	found := map[subject][]analysis.Cell{}
	for _, c := range sorted(cells) {
		k := subject{c.Variant(), c.Device, c.Model}
		if found[k] == nil {
			order = append(order, k)
		}
		found[k] = append(found[k], c)
	}
	perItem := func(m result.Measured) float64 { return m.PerItem }
	var words []string
	for _, k := range order {
		list := found[k]
		best := list[0]
		for _, c := range list[1:] {
			if c.Figure(perItem).Median < best.Figure(perItem).Median {
				best = c
			}
		}
		f := best.Figure(perItem)
		text := fmt.Sprintf("%s by %s: the least time per item, %s ms, is at batch %d", k.model, k.side, f.Times(1000), best.Batch)
		text += equalBatches(list, best, f, perItem)
		words = append(words, text)
	}
	return words
}

func equalBatches(list []analysis.Cell, best analysis.Cell, f analysis.Figure, of func(result.Measured) float64) string {
	if f.Rounds < 2 {
		return ", in one round; the spread is not known."
	}
	equal := ""
	for _, c := range list {
		if c.Batch != best.Batch && !c.Figure(of).Differs(f) {
			equal += fmt.Sprintf(" %d,", c.Batch)
		}
	}
	if equal == "" {
		return "; all others differ beyond the spread."
	}
	return "; not called different: batch" + equal[:len(equal)-1] + "."
}
