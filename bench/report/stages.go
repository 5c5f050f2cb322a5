package main

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/penstock-go/penstock/bench/analysis"
	"github.com/penstock-go/penstock/bench/result"
)

const (
	stageRows = 15   // of a profile's table, as in PyTorch's
	leastPart = 0.01 // share of a side's time below which a stage is not drawn
)

// profile is the section of the third study.
func profile(s *section, cells []analysis.Cell) {
	for _, part := range split(cells, workOf) {
		if text := times(part, base); text != "" {
			s.find("%s: %s.", workOf(part[0]), text)
		}
	}
	s.compared(cells)
	s.workers(cells)
	for _, part := range split(cells, workOf) {
		s.rates(part)
	}
	for _, part := range split(cells, workOf) {
		s.stages(part)
	}
	for _, c := range cells {
		r := c.Typical()
		s.detail(fmt.Sprintf("%s, %s, %s: %s ms in all", c.Variant(), workOf(c), c.Setting, analysis.Digits(1000*r.Measured.Seconds)), stageSheet(r))
	}
}

// stages draws the time of every stage, in one panel per side, with as many workers as
// there are processors or with the most common number of workers. It leaves out stages with
// less than leastPart of the side's time.
func (s *section) stages(cells []analysis.Cell) {
	at := processors(cells)
	cells = only(cells, workersOf, at)
	ch := s.chart(stages, "stages", "Time by stage", workOf(cells[0]).String(), plural(at, "worker"))
	ch.X.Name = "self time in ms, all threads added up"
	ch.Note = fmt.Sprintf("Each side reports its own stages. Stages with less than %g %% of a side's time are left out. %s", 100*leastPart, intervals)
	ch.sided(cells, func(p *panel, part []analysis.Cell) {
		list := longest(part[0].Typical())
		all := 0.0
		for _, st := range list {
			all += st.Self
		}
		bar := &series{Name: p.Title, Colour: p.Colour}
		for _, st := range list {
			if len(p.Categories) > 0 && st.Self < leastPart*all {
				break
			}
			bar.add(float64(len(p.Categories)), part[0].Figure(func(m result.Measured) float64 { return 1000 * self(m, st.Name) }))
			p.Categories = append(p.Categories, clip(st.Name, 40))
		}
		p.Series = []*series{bar}
	})
}

// clip shortens a text to n characters.
func clip(text string, n int) string {
	if r := []rune(text); len(r) > n {
		return string(r[:n-1]) + "…"
	}
	return text
}

func self(m result.Measured, name string) float64 {
	for _, st := range m.Stages {
		if st.Name == name {
			return st.Self
		}
	}
	return 0
}

// longest returns the stages of a record with the most self time.
func longest(r result.Record) []result.Stage {
	list := slices.SortedStableFunc(slices.Values(r.Measured.Stages), func(a, b result.Stage) int {
		return cmp.Compare(b.Self+b.SelfDevice, a.Self+a.SelfDevice)
	})
	return list[:min(stageRows, len(list))]
}

// stageSheet is the profile as a table.
func stageSheet(r result.Record) analysis.Sheet {
	all, device := 0.0, false
	for _, st := range r.Measured.Stages {
		all += st.Self
		device = device || st.TotalDevice > 0
	}
	sheet := analysis.Sheet{Head: []string{"name", "self CPU %", "self CPU, ms", "CPU total %", "CPU total, ms", "CPU time average, µs", "calls"}}
	if device {
		sheet.Head = append(sheet.Head, "self device, ms", "device total, ms")
	}
	share := func(part float64) string {
		if all == 0 {
			return "–"
		}
		return fmt.Sprintf("%.1f", 100*part/all)
	}
	for _, st := range longest(r) {
		row := []string{st.Name, share(st.Self), analysis.Digits(1000 * st.Self), share(st.Total), analysis.Digits(1000 * st.Total),
			analysis.Digits(1e6 * st.Total / float64(max(st.Calls, 1))), fmt.Sprint(st.Calls)}
		if device {
			row = append(row, analysis.Digits(1000*st.SelfDevice), analysis.Digits(1000*st.TotalDevice))
		}
		sheet.Rows = append(sheet.Rows, row)
	}
	return sheet
}

// volumes is the section of the fourth study.
func volumes(s *section, cells []analysis.Cell) {
	if text := times(cells, base); text != "" {
		s.find("%s.", text)
	}
	s.compared(cells)
	s.workers(cells)
	for _, part := range split(cells, workOf) {
		s.rates(part)
		s.usage(part)
	}
	s.detail("All samples per second", sidesSheet(cells))
}
