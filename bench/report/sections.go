package main

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/penstock-go/penstock/bench"
	"github.com/penstock-go/penstock/bench/analysis"
	"github.com/penstock-go/penstock/bench/result"
)

// throughput compares the same work in several libraries.
func throughput(s *section, cells []analysis.Cell) {
	for _, part := range split(cells, work) {
		some := usual(part, workersOf)
		text := faster(some, base)
		if text != "" {
			text = fmt.Sprintf("%s, with %s: %s", work(part[0]), workers(some[0]), text)
			s.find("%s.", text)
		}
		s.bars(cmp.Or(text, work(part[0])), "samples/s", some, work, variant, rate)
	}
}

// loading is study 1.
func loading(s *section, cells []analysis.Cell) {
	fast := only(cells, func(c analysis.Cell) bool { return c.ConsumerSeconds == 0 })
	slow := only(cells, func(c analysis.Cell) bool { return c.ConsumerSeconds > 0 })
	var counts []string
	long := func(c analysis.Cell) bool { return rhythm(c, peak).Median > 0 } // enough to tell
	for _, part := range split(only(fast, long), variant) {
		counts = append(counts, fmt.Sprintf("%s in %d of %d configurations", variant(part[0]), len(only(part, peaks)), len(part)))
	}
	if len(counts) > 0 {
		s.find("With W workers every W-th batch is late (peaks): %s.", strings.Join(counts, ", "))
	}
	if text := faster(fast, base); text != "" {
		s.find("%s, without a consumer.", text)
	}
	if len(slow) > 0 {
		s.find("With a slow consumer only the first batch is slow: the median wait of the others is %s ms, the first %s.",
			leastToMost(slow, func(c analysis.Cell) float64 { return rhythm(c, median).Times(1000).Median }),
			leastToMost(slow, func(c analysis.Cell) float64 { return firstBatch(c).Median }))
	}
	for _, part := range split(fast, work) {
		s.waits(usual(part, batchOf))
		most := usual(part, workersOf)
		s.lines(fmt.Sprintf("The first batch of %s, by workers", work(part[0])), "workers", "ms to the first batch", part, batch, variant, workersOf, firstBatch)
		s.lines(fmt.Sprintf("The median wait for %s by batch size, with %s", work(part[0]), workers(most[0])), "batch size", "median wait, ms", most, variant, variant, batchOf,
			func(c analysis.Cell) analysis.Figure { return rhythm(c, median).Times(1000) })
		s.lines(fmt.Sprintf("Samples per second of %s", work(part[0])), "workers", "samples/s", part, batch, variant, workersOf, rate)
	}
}

// waits draws the wait for every batch, a panel per side with a scale of its own.
func (s *section) waits(cells []analysis.Cell) {
	var panels []*panel
	for _, part := range split(cells, variant) {
		p := &panel{Title: variant(part[0])}
		for _, c := range part {
			if c.Workers > 8 && len(part) > 4 {
				continue // lines that nobody could tell apart
			}
			line := series{Name: workers(c)}
			for i, w := range c.Typical().Measured.Waits[:min(40, len(c.Typical().Measured.Waits))] {
				line.Points = append(line.Points, [4]float64{float64(i), 1000 * w, 1000 * w, 1000 * w})
			}
			p.Series = append(p.Series, line)
		}
		panels = append(panels, p)
	}
	s.chart("lines", fmt.Sprintf("Who waits, and when: %s, %s", work(cells[0]), batch(cells[0])), "batch", "wait, ms", "Each line is the round with the median time.", panels...)
}

func median(r analysis.Rhythm) float64  { return r.Median }
func peak(r analysis.Rhythm) float64    { return r.Peak }
func longest(r analysis.Rhythm) float64 { return r.Longest }

func rhythm(c analysis.Cell, of func(analysis.Rhythm) float64) analysis.Figure {
	var values []float64
	for _, r := range c.Records {
		values = append(values, of(analysis.NewRhythm(r.Measured.Waits, c.Workers)))
	}
	return analysis.NewFigure(values...)
}

// peaks reports whether most rounds of a cell have peaks.
func peaks(c analysis.Cell) bool {
	n := 0
	for _, r := range c.Records {
		if analysis.NewRhythm(r.Measured.Waits, c.Workers).Peaks() {
			n++
		}
	}
	return 2*n > len(c.Records)
}

// studied are the settings with which study 2 ended on 64 processors and a GPU, and the average regrets that it gives for them.
var studied = map[string]struct {
	analysis.Setting
	regret float64
}{"photos": {analysis.Setting{Batch: 128, Workers: 12}, 0.02}, "preprocessed": {analysis.Setting{Batch: 256, Workers: 2}, 0.004}}

// endToEnd is study 2.
func endToEnd(s *section, cells []analysis.Cell) {
	groups := analysis.Groups(cells)
	if cells[0].Simulated == "" {
		s.find("The nets run on the processor, in gorgonia for penstock and in PyTorch for PyTorch, so that the sides' times differ as these libraries do (study 5). With simulated devices, the nets take equally long.")
	}
	top := analysis.Sheet{}
	for _, g := range groups {
		if advice, ok := g.Table.Recommend(); ok {
			s.find("%s, %s: %s", g.Data, g.Variant(), advice)
		}
		theirs, known := studied[g.Data]
		for _, a := range g.Table.Regrets() {
			if known && a.Setting == theirs.Setting {
				verdict := "confirmed"
				if a.Regret.Median > theirs.regret {
					verdict = "contradicted"
				}
				s.find("%s, %s: the study's %v, with a regret below %g %%, costs %s here: %s.", g.Data, g.Variant(), theirs.Setting, 100*theirs.regret, analysis.Percent(a.Regret), verdict)
			}
		}
		sheet := g.Table.RegretSheet(3)
		top.Head = append([]string{"data", "side"}, sheet.Head...)
		for _, row := range sheet.Rows {
			top.Rows = append(top.Rows, append([]string{g.Data, g.Variant()}, row...))
		}
	}
	s.table(true, "Average regret: the time lost, on average over models, by using one setting for all", top)
	s.heat(groups)
	for _, part := range split(cells, work) {
		fixed := usual(part, batchOf)
		s.lines(fmt.Sprintf("By workers: %s, %s", work(part[0]), batch(fixed[0])), "workers", "samples/s", fixed, model, variant, workersOf, rate)
		fixed = usual(part, workersOf)
		s.lines(fmt.Sprintf("By batch size: %s, %s", work(part[0]), workers(fixed[0])), "batch size", "samples/s", fixed, model, variant, batchOf, rate)
	}
	for _, g := range groups {
		s.table(false, fmt.Sprintf("%s, %s: settings that are among the best three of most models", g.Variant(), g.Data), g.Table.TopSheet(3))
	}
}

func model(c analysis.Cell) string { return c.Model }

// heat draws the average regret of every setting of the study's grid. Those that were not run have no value.
func (s *section) heat(groups []analysis.Group) {
	var batches, workers []int
	for _, c := range bench.Grids["2"]() {
		batches, workers = append(batches, c.Config.Batch), append(workers, c.Config.Workers)
	}
	for _, g := range groups {
		for _, setting := range g.Table.Settings() {
			batches, workers = append(batches, setting.Batch), append(workers, setting.Workers)
		}
	}
	slices.Sort(batches)
	slices.Sort(workers)
	batches, workers = slices.Compact(batches), slices.Compact(workers)
	var panels []*panel
	for _, g := range groups {
		p := &panel{Title: g.Data + ", " + g.Variant(), Categories: texts(batches), Rows: texts(workers)}
		m := series{Name: "regret, %"}
		for _, a := range g.Table.Regrets() {
			if a.Models == len(g.Table.Models()) {
				v := 100 * max(0, a.Regret.Median)
				m.Points = append(m.Points, [4]float64{float64(slices.Index(batches, a.Batch)), float64(slices.Index(workers, a.Workers)), v, v})
			}
		}
		p.Series = []series{m}
		panels = append(panels, p)
	}
	s.chart("heat", "Which setting to take: percent of time lost against each model's best setting, on average", "batch size", "workers",
		"Fields with a dash were not run.", panels...)
}

func texts(values []int) (list []string) {
	for _, v := range values {
		list = append(list, fmt.Sprint(v))
	}
	return list
}

// profile is study 3.
func profile(s *section, cells []analysis.Cell) {
	for _, part := range split(cells, work) {
		if text := faster(part, base); text != "" {
			s.find("%s: %s.", work(part[0]), text)
		}
		s.fastest(part)
	}
	s.lines("The first batch, and an epoch, by workers", "workers", "ms", cells, work, variant, workersOf,
		func(c analysis.Cell) analysis.Figure {
			return c.Figure(func(m result.Measured) float64 { return 1000 * m.Seconds })
		})
	for _, part := range split(cells, work) {
		var panels []*panel
		for _, c := range usual(part, workersOf) {
			p, bar := &panel{Title: variant(c)}, series{Name: "self time, ms"}
			for _, row := range analysis.StageSheet(c.Typical().Measured).Rows {
				f := c.Figure(func(m result.Measured) float64 {
					i := slices.IndexFunc(m.Stages, func(st result.Stage) bool { return st.Name == row[0] })
					if i < 0 {
						return 0
					}
					return 1000 * m.Stages[i].Self
				})
				if len(p.Categories) < 8 && f.Rounds > 0 {
					bar.Points = append(bar.Points, point(len(p.Categories), f))
					p.Categories = append(p.Categories, row[0])
				}
			}
			p.Series = []series{bar}
			panels = append(panels, p)
		}
		s.chart("bars", fmt.Sprintf("Where the time goes: %s, %s", work(part[0]), workers(usual(part, workersOf)[0])), "self time of all threads, ms", "",
			"penstock's times are wall-clock times, PyTorch's processor times of the consumer's process. "+intervals, panels...)
	}
	for _, c := range cells {
		s.table(false, fmt.Sprintf("%s, %s, %s", variant(c), work(c), c.Setting), analysis.StageSheet(c.Typical().Measured))
	}
}

// volumes is study 4.
func volumes(s *section, cells []analysis.Cell) {
	if text := faster(cells, base); text != "" {
		s.find("%s.", text)
	}
	s.fastest(cells)
	s.lines("Samples per second by workers and batch size", "workers", "samples/s", cells, variant, batch, workersOf, rate)
	for _, q := range []struct {
		title, unit string
		of          func(result.Usage) float64
	}{
		{"Memory over time", "MB", func(u result.Usage) float64 { return float64(u.RSS) / 1e6 }},
		{"Processor use over time", "% of a processor", func(u result.Usage) float64 { return u.CPUPercent }},
	} {
		var panels []*panel
		some := usual(cells, batchOf)
		for _, part := range split(some, variant) {
			p := &panel{Title: variant(part[0])}
			for _, c := range part {
				line := series{Name: workers(c)}
				for _, u := range c.Typical().Measured.Usage {
					line.Points = append(line.Points, [4]float64{u.Seconds, q.of(u), q.of(u), q.of(u)})
				}
				p.Series = append(p.Series, line)
			}
			panels = append(panels, p)
		}
		s.chart("lines", q.title+", "+batch(some[0]), "seconds", q.unit, "Each line is the round with the median time.", panels...)
	}
}

// inference is study 5.
func inference(s *section, cells []analysis.Cell) {
	for _, side := range split(cells, variant) {
		if name := variant(side[0]); name != bench.Torch {
			pair := only(cells, func(c analysis.Cell) bool { return variant(c) == name || variant(c) == bench.Torch })
			if text := faster(pair, name); text != "" {
				s.find("%s, by model and batch size.", text)
			}
		}
	}
	perItem := func(c analysis.Cell) analysis.Figure {
		return c.Figure(func(m result.Measured) float64 { return 1000 * m.PerItem })
	}
	sheet := analysis.Sheet{Head: []string{"model", "side", "best batch", "ms per item", "gain over the smallest batch"}}
	smallest := map[string]float64{}
	key := func(c analysis.Cell) string { return variant(c) + work(c) + model(c) }
	for _, part := range split(cells, key) {
		smallest[key(part[0])] = perItem(part[0]).Median
		best := slices.MinFunc(part, func(a, b analysis.Cell) int { return cmp.Compare(perItem(a).Median, perItem(b).Median) })
		sheet.Rows = append(sheet.Rows, []string{model(best), variant(best), fmt.Sprint(best.Batch), perItem(best).String(),
			analysis.Digits(perItem(part[0]).Median/perItem(best).Median) + " times"})
	}
	for _, part := range split(sheet.Rows, func(row []string) string { return row[1] }) {
		var best []string
		for _, row := range part {
			best = append(best, fmt.Sprintf("%s for %s", row[2], row[0]))
		}
		s.find("%s: an item is cheapest in batches of %s.", part[0][1], strings.Join(best, ", "))
	}
	s.table(true, "The batch size with the lowest time per item", sheet)
	for _, family := range split(cells, transformer) {
		title := map[bool]string{false: "Convolutional nets: what a larger batch gains", true: "Transformers and mixers: what a larger batch gains"}[transformer(family[0])]
		s.lines(title, "batch size", "times as fast as the smallest batch", family, variant, model, batchOf, func(c analysis.Cell) analysis.Figure {
			return perItem(c).Inverse().Times(smallest[key(c)])
		})
	}
}

func transformer(c analysis.Cell) bool {
	return strings.Contains(c.Model, "vit") || strings.Contains(c.Model, "mixer")
}

// faster says how many times as fast a side is as the sides of other libraries, over all configurations. It is empty if there is nothing
// to compare.
func faster(cells []analysis.Cell, base string) string {
	var all []float64
	var others []string
	for _, c := range analysis.Compare(cells, base) {
		for i, side := range c.Sides[1:] {
			if r := c.Ratio(i + 1); r.Rounds > 0 && !strings.HasPrefix(side.Side, base) {
				all = append(all, r.Median)
				if !slices.Contains(others, side.Variant()) {
					others = append(others, side.Variant())
				}
			}
		}
	}
	switch len(others) {
	case 0:
		return ""
	case 1:
		return fmt.Sprintf("%s is %s times as fast as %s", base, span(all), others[0])
	}
	return fmt.Sprintf("%s is %s times as fast as the %d other sides", base, span(all), len(others))
}

// fastest says with how many workers each side is fastest.
func (s *section) fastest(cells []analysis.Cell) {
	for _, part := range split(cells, variant) {
		best := slices.MaxFunc(part, func(a, b analysis.Cell) int { return cmp.Compare(rate(a).Median, rate(b).Median) })
		s.find("%s, %s, is fastest with %s and %s: %s samples/s.", variant(best), work(best), workers(best), batch(best), rate(best))
	}
}

func leastToMost(cells []analysis.Cell, of func(analysis.Cell) float64) string {
	var values []float64
	for _, c := range cells {
		values = append(values, of(c))
	}
	return span(values)
}

// span is the least and the greatest value.
func span(values []float64) string {
	least, most := analysis.Digits(slices.Min(values)), analysis.Digits(slices.Max(values))
	if least == most {
		return least
	}
	return least + " to " + most
}

// tables adds what all sections have: the base compared with every other side, and all figures.
func (s *section) tables(cells []analysis.Cell) {
	compared := analysis.Sheet{Head: []string{"data", "compared with", "times as fast", "configurations", "clearly faster", "no clear difference", "clearly slower"}}
	for _, part := range split(cells, work) {
		ratios, verdicts := map[string][]float64{}, map[string]*[3]int{}
		var names []string
		for _, c := range analysis.Compare(part, base) {
			for i, side := range c.Sides[1:] {
				r, name := c.Ratio(i+1), side.Variant()
				if r.Rounds == 0 {
					continue
				}
				if verdicts[name] == nil {
					names, verdicts[name] = append(names, name), new([3]int)
				}
				ratios[name] = append(ratios[name], r.Median)
				switch {
				case !c.Differs(i + 1):
					verdicts[name][1]++
				case r.Median > 1:
					verdicts[name][0]++
				default:
					verdicts[name][2]++
				}
			}
		}
		for _, name := range names {
			v := verdicts[name]
			compared.Rows = append(compared.Rows, []string{work(part[0]), name, span(ratios[name]), fmt.Sprint(len(ratios[name])), fmt.Sprint(v[0]), fmt.Sprint(v[1]), fmt.Sprint(v[2])})
		}
	}
	s.table(true, base+" compared with the others, over batch sizes, models and numbers of workers", compared)
	s.table(false, "All figures", figures(cells))
}

// figures has a row for every cell, with the columns that have values.
func figures(cells []analysis.Cell) analysis.Sheet {
	columns := []struct {
		name string
		of   func(analysis.Cell) string
	}{
		{"data", work}, {"model", model}, {"batch", func(c analysis.Cell) string { return fmt.Sprint(c.Batch) }},
		{"workers", func(c analysis.Cell) string { return fmt.Sprint(c.Workers) }}, {"side", variant},
		{"samples/s", func(c analysis.Cell) string { return rate(c).String() }},
		{"first batch, ms", func(c analysis.Cell) string { return firstBatch(c).String() }},
		{"median wait after it, ms", func(c analysis.Cell) string { return rhythm(c, median).Times(1000).String() }},
		{"longest, ms", func(c analysis.Cell) string { return rhythm(c, longest).Times(1000).String() }},
		{"peaks", func(c analysis.Cell) string { return map[bool]string{true: "yes", false: "–"}[peaks(c)] }},
		{"waiting, s", figure(func(m result.Measured) float64 { return m.Waiting })},
		{"transfer, s", figure(func(m result.Measured) float64 { return m.Transfer })},
		{"compute, s", figure(func(m result.Measured) float64 { return m.Compute })},
		{"end of loading, s", figure(func(m result.Measured) float64 { return m.LoadingEnd })},
		{"end to end, s", figure(func(m result.Measured) float64 { return m.EndToEnd })},
		{"ms per item", figure(func(m result.Measured) float64 { return 1000 * m.PerItem })},
		{"CPU µs/sample", figure(func(m result.Measured) float64 { return 1e6 * m.CPU / float64(m.Samples) })},
		{"memory, MB", figure(func(m result.Measured) float64 { return float64(m.MostMemory()) / 1e6 })},
		{"data, MB", figure(func(m result.Measured) float64 { return float64(m.DataBytes) / 1e6 })},
		{"in flight", func(c analysis.Cell) string {
			if n := c.Records[0].Config.InFlight; n > 0 {
				return fmt.Sprint(n)
			}
			return "–"
		}},
	}
	sheet := analysis.Sheet{Rows: make([][]string, len(cells))}
	for _, column := range columns {
		var texts []string
		there := false
		for _, c := range cells {
			texts = append(texts, column.of(c))
			there = there || !slices.Contains([]string{"", "–", "0"}, texts[len(texts)-1])
		}
		if !there {
			continue
		}
		sheet.Head = append(sheet.Head, column.name)
		for i, text := range texts {
			sheet.Rows[i] = append(sheet.Rows[i], text)
		}
	}
	return sheet
}

func figure(of func(result.Measured) float64) func(analysis.Cell) string {
	return func(c analysis.Cell) string { return c.Figure(of).String() }
}
