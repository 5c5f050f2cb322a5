package main

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/penstock-go/penstock/bench/analysis"
	"github.com/penstock-go/penstock/bench/result"
	"gonum.org/v1/plot/vg"
)

// waitCharts draw how long every single batch was waited for, a chart for every
// kind of data, consumer and model.
func waitCharts(s *section, cells []analysis.Cell) {
	var items []item
	for _, c := range cells {
		r := c.Typical(func(m result.Measured) float64 { return m.Seconds })
		if len(r.Measured.Waits) == 0 {
			continue
		}
		it := item{Is: traitsOf(c)}
		for i, w := range r.Measured.Waits {
			it.X, it.Y = append(it.X, float64(i)), append(it.Y, round4(1000*w))
		}
		items = append(items, it)
	}
	_, parts := split(items, func(it item) string {
		return it.Is.Data + "\x00" + it.Is.Consumer + "\x00" + it.Is.Model + "\x00" + it.Is.Device
	})
	for _, part := range parts {
		ch := s.chart(lines, "wait for every single batch", part[0].Is)
		ch.X, ch.Y = axis{Name: "batch, in the order of the epoch", Whole: true}, axis{Name: "wait, ms"}
		ch.Note = "Each line is one round, that of the median time."
		ch.Items = part
		nameItems(ch.Items)
		s.waitFigures(ch)
	}
}

// waitFigures are two: the workers vary for one batch size, and the batch size
// for one number of workers.
func (s *section) waitFigures(ch *chart) {
	batch := func(t traits) string { return t.Batch }
	workers := func(t traits) string { return t.Workers }
	for _, f := range []struct {
		fixed, varies func(traits) string
		by            string
		words         func(traits) string
	}{
		{batch, workers, "workers", traits.batch},
		{workers, batch, "batch", traits.workers},
	} {
		items := only(ch.Items, f.fixed, usual(ch.Items, f.fixed))
		values := numbers(items, f.varies)
		if len(values) < 2 && f.by == "batch" {
			continue
		}
		subtitle := ch.Subtitle
		if n := len(values); n > waitLines {
			values = spreadOver(values, waitLines)
			items = slices.DeleteFunc(items, func(it item) bool { return !slices.Contains(values, f.varies(it.Is)) })
			subtitle += fmt.Sprintf("; %d of %d lines", len(values), n)
		}
		sided(items)
		title := fmt.Sprintf("%s, %s", ch.Title, f.words(items[0].Is))
		if n := firstBatches(items); n > 0 {
			items = cut(items, n)
			title += fmt.Sprintf(", the first %d batches", n)
		}
		panels, legend := linePanels(items, ch.X, ch.Y)
		s.figure(ch, "by-"+f.by, compose(title, subtitle, 4.2*vg.Centimeter, panels, legend))
	}
}

// firstBatches are how many batches to draw of lines of which one is more than
// four times as long as another, which could hardly be seen: four times the
// shortest, and at least a period of the most workers with the start of the next.
// It is 0 where all are to be drawn.
func firstBatches(items []item) int {
	shortest, longest, period := len(items[0].Y), 0, 0
	for _, it := range items {
		workers, _ := strconv.Atoi(it.Is.Workers)
		shortest, longest, period = min(shortest, len(it.Y)), max(longest, len(it.Y)), max(period, workers)
	}
	if n := max(4*shortest, period+period/4); longest > 4*shortest && n < longest {
		return n
	}
	return 0
}

// cut are lines of at most n points.
func cut(items []item, n int) []item {
	list := slices.Clone(items)
	for i := range list {
		k := min(n, len(list[i].Y))
		list[i].X, list[i].Y = list[i].X[:k], list[i].Y[:k]
	}
	return list
}

// waitLines are as many as can be told apart on paper where all of them jump.
const waitLines = 5

// spreadOver are n of the values, the first and the last among them.
func spreadOver(values []string, n int) []string {
	var some []string
	for k := range n {
		some = append(some, values[k*(len(values)-1)/(n-1)])
	}
	return some
}

// sided names items by what sets them apart within a side, since each side has a
// panel of its own.
func sided(items []item) {
	sides := make([]string, len(items))
	for i := range items {
		sides[i], items[i].Is.Side = items[i].Is.Side, ""
	}
	nameItems(items)
	for i := range items {
		items[i].Is.Side = sides[i]
		if items[i].Name == "" {
			items[i].Name = items[i].Is.workers()
		}
	}
}
