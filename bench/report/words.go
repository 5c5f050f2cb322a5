package main

import (
	"fmt"
	"strings"

	"github.com/penstock-go/penstock/bench/analysis"
	"github.com/penstock-go/penstock/bench/result"
)

// rhythms are those of a cell's records.
func rhythms(c analysis.Cell) []analysis.Rhythm {
	var list []analysis.Rhythm
	for _, r := range c.Records {
		if len(r.Measured.Waits) > 0 {
			list = append(list, analysis.NewRhythm(r.Measured.Waits, c.Workers))
		}
	}
	return list
}

func count(list []analysis.Rhythm, is func(analysis.Rhythm) bool) int {
	n := 0
	for _, r := range list {
		if is(r) {
			n++
		}
	}
	return n
}

// rhythmWords say for every side and consumer in how many configurations of two
// workers or more a peak every W batches was seen, and a slow first batch.
func rhythmWords(cells []analysis.Cell) []string {
	var order []string
	type tally struct{ all, peaks, first int }
	tallies := map[string]*tally{}
	for _, c := range cells {
		list := rhythms(c)
		if c.Workers < 2 || len(list) == 0 {
			continue
		}
		name := c.Variant()
		if c.ConsumerSeconds > 0 {
			name += fmt.Sprintf(", consumer %g s per batch", c.ConsumerSeconds)
		}
		t := tallies[name]
		if t == nil {
			t = &tally{}
			tallies[name] = t
			order = append(order, name)
		}
		t.all++
		if 2*count(list, analysis.Rhythm.Peaks) > len(list) {
			t.peaks++
		}
		if 2*count(list, analysis.Rhythm.SlowFirst) > len(list) {
			t.first++
		}
	}
	var words []string
	for _, name := range order {
		t := tallies[name]
		words = append(words, fmt.Sprintf("%s: a peak every W batches in %d, and a first batch that is more than twice the longest wait after it in %d, of %s with two workers or more.",
			name, t.peaks, t.first, plural(t.all, "configuration")))
	}
	return words
}

func rhythmTable(cells []analysis.Cell) table {
	t := table{Title: "Waits, ms", Long: true, Sheet: analysis.Sheet{
		Head: []string{"side", "data", "consumer", "batch", "workers", "first batch", "median after it", "99th percentile", "longest", "peaks every W", "rounds"}}}
	for _, c := range sorted(cells) {
		list := rhythms(c)
		figure := func(of func(analysis.Rhythm) float64) string {
			var values []float64
			for _, r := range list {
				values = append(values, 1000*of(r))
			}
			return analysis.NewFigure(values...).String()
		}
		is := traitsOf(c)
		peaks := "–"
		if c.Workers > 1 {
			peaks = fmt.Sprintf("in %d of %d", count(list, analysis.Rhythm.Peaks), len(list))
		}
		t.Sheet.Rows = append(t.Sheet.Rows, []string{
			is.Side, is.Data, is.Consumer, is.Batch, is.Workers,
			figure(func(r analysis.Rhythm) float64 { return r.First }), figure(func(r analysis.Rhythm) float64 { return r.Median }),
			figure(func(r analysis.Rhythm) float64 { return r.P99 }), figure(func(r analysis.Rhythm) float64 { return r.Longest }),
			peaks, fmt.Sprint(len(list)),
		})
	}
	return t
}

// compareWords sum up how the first side compares with each of the others.
func compareWords(records []result.Record) []string {
	type tally struct {
		all, faster, slower, same, once int
		least, most                     float64
	}
	var order []string
	tallies := map[string]*tally{}
	for _, c := range analysis.Compare(records, base) {
		for _, s := range c.Sides[1:] {
			if s.Ratio.Rounds == 0 {
				continue
			}
			name := c.Sides[0].Variant + " beside " + s.Variant
			t := tallies[name]
			if t == nil {
				t = &tally{least: s.Ratio.Median, most: s.Ratio.Median}
				tallies[name] = t
				order = append(order, name)
			}
			t.all++
			t.least, t.most = min(t.least, s.Ratio.Median), max(t.most, s.Ratio.Median)
			switch {
			case s.Ratio.Rounds == 1:
				t.once++
			case s.Verdict != analysis.Differs:
				t.same++
			case s.Ratio.Median > 1:
				t.faster++
			default:
				t.slower++
			}
		}
	}
	var words []string
	for _, name := range order {
		t := tallies[name]
		text := fmt.Sprintf("%s: %s to %s times the samples/s in %s: faster in %d, slower in %d, not called a difference in %d",
			name, digits3(t.least), digits3(t.most), plural(t.all, "configuration"), t.faster, t.slower, t.same)
		if t.once > 0 {
			text += fmt.Sprintf(", one round and so no spread in %d", t.once)
		}
		words = append(words, text+".")
	}
	return words
}

func compareTable(records []result.Record) table {
	t := table{Title: "Samples per second by side; the ratio is the first side's over this one's, round by round", Long: true, Sheet: analysis.Sheet{
		Head: []string{"data", "model", "batch", "workers", "side", "samples/s", "first batch, ms", "ratio", "difference"}}}
	for _, c := range analysis.Compare(records, base) {
		data := []string{c.Data}
		if c.Span != "" {
			data = append(data, c.Span)
		}
		if c.ConsumerSeconds > 0 {
			data = append(data, fmt.Sprintf("consumer %g s", c.ConsumerSeconds))
		}
		for i, s := range c.Sides {
			ratio, verdict := s.Ratio.String(), "not called one: "+s.Verdict.String()
			switch {
			case i == 0:
				ratio, verdict = "1", ""
			case s.Ratio.Rounds < 2:
				verdict = "not known"
			case s.Verdict == analysis.Differs:
				verdict = "yes"
			}
			t.Sheet.Rows = append(t.Sheet.Rows, []string{
				strings.Join(data, ", "), c.Model, fmt.Sprint(c.Batch), fmt.Sprint(c.Workers), s.Variant,
				s.PerSecond.String(), s.FirstBatch.Times(1000).String(), ratio, verdict,
			})
		}
	}
	return t
}

// adviceWords are what to set.
func adviceWords(groups []analysis.Group) []string {
	var words []string
	for _, g := range groups {
		if advice, ok := g.Table.Recommend(); ok {
			g.Study, g.Simulated = "", "" // the section says it
			words = append(words, g.String()+": "+advice.String())
		}
	}
	return words
}

func adviceTables(groups []analysis.Group) []table {
	var tables []table
	for _, g := range groups {
		g.Study, g.Simulated = "", ""
		tables = append(tables,
			table{Title: g.String() + ": average regret", Sheet: g.Table.RegretSheet(10)},
			table{Title: g.String() + ": settings among the best three of most models", Sheet: g.Table.TopSheet(3)})
	}
	return tables
}

// timesTable are the times of the second study.
func timesTable(cells []analysis.Cell) table {
	t := table{Title: "Times, s", Long: true, Sheet: analysis.Sheet{
		Head: []string{"side", "data", "model", "batch", "workers", "waiting", "transfer", "compute", "end of loading", "end to end"}}}
	for _, c := range sorted(cells) {
		row := []string{c.Variant(), c.Data, c.Model, fmt.Sprint(c.Batch), fmt.Sprint(c.Workers)}
		for _, of := range []func(result.Measured) float64{
			func(m result.Measured) float64 { return m.Waiting }, func(m result.Measured) float64 { return m.Transfer },
			func(m result.Measured) float64 { return m.Compute }, func(m result.Measured) float64 { return m.LoadingEnd },
			func(m result.Measured) float64 { return m.EndToEnd },
		} {
			row = append(row, c.Figure(of).String())
		}
		t.Sheet.Rows = append(t.Sheet.Rows, row)
	}
	return t
}
