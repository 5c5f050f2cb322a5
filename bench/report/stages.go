package main

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/penstock-go/penstock/bench/analysis"
	"github.com/penstock-go/penstock/bench/result"
)

const stageRows = 15 // of a profile's table, as in PyTorch's

// stageCharts draw where loading spends its time, a chart for every kind of data,
// batch size and span.
func stageCharts(s *section, cells []analysis.Cell) {
	type key struct {
		data, span, device, model string
		batch                     int
	}
	var order []key
	parts := map[key][]item{}
	for _, c := range sorted(cells) {
		k := key{c.Data, c.Span, c.Device, c.Model, c.Batch}
		if parts[k] == nil {
			order = append(order, k)
		}
		for _, st := range stages(c) {
			f := c.Figure(func(m result.Measured) float64 {
				for _, other := range m.Stages {
					if other.Name == st.Name {
						return 1000 * other.Self
					}
				}
				return 0
			})
			it := bar(traitsOf(c), f, "ms")
			it.Category = st.Name
			parts[k] = append(parts[k], it)
		}
	}
	for _, k := range order {
		ch := s.chart(bars, fmt.Sprintf("time by stage, %s, batch %d", cmp.Or(k.span, "epoch"), k.batch), parts[k][0].Is)
		ch.X, ch.Y = axis{Name: "stage"}, axis{Name: "self time of all threads, ms"}
		ch.Note = "Medians over rounds; the line in a bar is the range. A side's stages are those that it reports."
		_, sides := split(parts[k], func(it item) string { return it.Is.Side })
		ch.Items = slices.Concat(sides...)
		ch.X.Categories, _ = split(ch.Items, func(it item) string { return it.Category })
		nameItems(ch.Items)
		s.stageFigure(ch)
	}
}

// stages are a typical record's, those of most self time first, the rest left out.
func stages(c analysis.Cell) []result.Stage {
	r := c.Typical(func(m result.Measured) float64 { return m.Seconds })
	list := slices.SortedStableFunc(slices.Values(r.Measured.Stages), func(a, b result.Stage) int {
		return cmp.Compare(b.Self+b.SelfDevice, a.Self+a.SelfDevice)
	})
	return list[:min(stageRows, len(list))]
}

// stageTables are the profiler's tables, one for each cell.
func stageTables(cells []analysis.Cell) []table {
	var tables []table
	for _, c := range sorted(cells) {
		r := c.Typical(func(m result.Measured) float64 { return m.Seconds })
		var self float64
		for _, st := range r.Measured.Stages {
			self += st.Self
		}
		t := table{
			Title: fmt.Sprintf("%s, %s, %s, %s: %s ms in all", c.Variant(), c.Data, c.Setting, cmp.Or(c.Span, "epoch"), digits3(1000*r.Measured.Seconds)),
			Sheet: analysis.Sheet{Head: []string{"name", "self CPU %", "self CPU, ms", "CPU total %", "CPU total, ms", "CPU time average, µs", "self device, ms", "device total, ms", "calls"}},
			Long:  true,
		}
		for _, st := range stages(c) {
			average := "–"
			if st.Calls > 0 {
				average = digits3(1e6 * st.Total / float64(st.Calls))
			}
			t.Sheet.Rows = append(t.Sheet.Rows, []string{
				st.Name, share(st.Self, self), digits3(1000 * st.Self), share(st.Total, self), digits3(1000 * st.Total),
				average, digits3(1000 * st.SelfDevice), digits3(1000 * st.TotalDevice), fmt.Sprint(st.Calls),
			})
		}
		tables = append(tables, t)
	}
	return tables
}

func share(part, whole float64) string {
	if whole <= 0 {
		return "–"
	}
	return fmt.Sprintf("%.1f", 100*part/whole)
}

// fastestWorkers says for every subject and batch size how many workers were
// fastest, and warns of more of them than there are processors.
func fastestWorkers(cells []analysis.Cell) []string {
	names, parts := []string{}, map[string][]string{}
	warn := map[string]bool{}
	processors := ""
	for _, part := range byOther(cells) {
		if len(part) < 2 {
			continue
		}
		best := part[0]
		for _, c := range part {
			if c.Rate().Median > best.Rate().Median {
				best = c
			}
		}
		name := strings.Join(nonempty(best.Variant(), best.Data, best.Model, best.Span, traitsOf(best).consumer()), ", ")
		if parts[name] == nil {
			names = append(names, name)
		}
		for _, c := range part {
			warn[name] = warn[name] || c.Workers > c.Machine.Processors
		}
		processors = plural(best.Machine.Processors, "processor")
		f := best.Rate()
		text := fmt.Sprintf("%d at batch %d, %s samples/s", best.Workers, best.Batch, f)
		if equal := notDifferent(part, best); f.Rounds > 1 && equal != "" {
			text += " (not called different: " + equal + ")"
		} else if f.Rounds < 2 {
			text += " (one round, spread not known)"
		}
		parts[name] = append(parts[name], text)
	}
	var words []string
	for _, name := range names {
		text := name + ": the fastest number of workers is " + strings.Join(parts[name], "; ") + "."
		if warn[name] {
			text += " More workers than the machine's " + processors + " help only where they wait for storage."
		}
		words = append(words, text)
	}
	return words
}

func nonempty(words ...string) []string {
	return slices.DeleteFunc(words, func(w string) bool { return w == "" })
}

// byOther sorts cells into those that differ in workers alone.
func byOther(cells []analysis.Cell) [][]analysis.Cell {
	type key struct {
		analysis.Subject
		model string
		batch int
	}
	var parts [][]analysis.Cell
	index := map[key]int{}
	for _, c := range sorted(cells) {
		k := key{c.Subject, c.Model, c.Batch}
		i, ok := index[k]
		if !ok {
			i = len(parts)
			index[k] = i
			parts = append(parts, nil)
		}
		parts[i] = append(parts[i], c)
	}
	return parts
}

func notDifferent(list []analysis.Cell, best analysis.Cell) string {
	text := ""
	for _, c := range list {
		if c.Workers != best.Workers && !c.Rate().Differs(best.Rate()) {
			if text != "" {
				text += ", "
			}
			text += fmt.Sprint(c.Workers)
		}
	}
	return text
}
