package main

import (
	"fmt"

	"github.com/penstock-go/penstock/bench/analysis"
	"github.com/penstock-go/penstock/bench/result"
	"gonum.org/v1/plot/vg"
)

// usageCharts draw memory and CPU over time, two charts for every kind of data.
func usageCharts(s *section, cells []analysis.Cell) {
	for _, q := range []struct {
		name, title, unit string
		of                func(result.Usage) float64
	}{
		{"memory", "memory over time", "resident memory, MB", func(u result.Usage) float64 { return float64(u.RSS) / 1e6 }},
		{"cpu", "CPU over time", "CPU, % of one processor", func(u result.Usage) float64 { return u.CPUPercent }},
	} {
		var items []item
		for _, c := range sorted(cells) {
			r := c.Typical(func(m result.Measured) float64 { return m.Seconds })
			if len(r.Measured.Usage) < 2 {
				continue
			}
			it := item{Is: traitsOf(c)}
			for _, u := range r.Measured.Usage {
				it.X, it.Y = append(it.X, round4(u.Seconds)), append(it.Y, round4(q.of(u)))
			}
			items = append(items, it)
		}
		_, parts := split(items, func(it item) string {
			return it.Is.Data + "\x00" + it.Is.Consumer + "\x00" + it.Is.Model + "\x00" + it.Is.Device
		})
		for _, part := range parts {
			ch := s.chart(lines, q.title, part[0].Is)
			ch.X, ch.Y = axis{Name: "time since the start, s"}, axis{Name: q.unit}
			ch.Note = "Each line is one round, that of the median time."
			ch.Items = part
			nameItems(ch.Items)
			batch := func(t traits) string { return t.Batch }
			fig := only(ch.Items, batch, usual(ch.Items, batch))
			sided(fig)
			panels, legend := linePanels(fig, ch.X, ch.Y)
			s.figure(ch, q.name, compose(fmt.Sprintf("%s, %s", ch.Title, fig[0].Is.batch()), ch.Subtitle, 4.5*vg.Centimeter, panels, legend))
		}
	}
}
