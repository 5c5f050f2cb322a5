package main

import (
	"slices"

	"github.com/penstock-go/penstock/bench/analysis"
	"github.com/penstock-go/penstock/bench/result"
)

// base is the side that others are compared with.
const base = "penstock"

// Kinds of conclusions that several studies have.
const (
	advice  = "What to set"
	sides   = "One side beside another"
	workers = "Numbers of workers"
)

// A report is all that is drawn and written.
type report struct {
	Sections []*section
	Errors   []string // what could not be read
}

func newReport(in input) *report {
	r := &report{}
	for _, err := range in.errs {
		r.Errors = append(r.Errors, err.Error())
	}
	type part struct {
		study     result.Study
		machine   result.Machine
		simulated string
	}
	var parts []part
	records := map[part][]result.Record{}
	for _, rec := range in.records {
		p := part{rec.Study, analysis.SubjectOf(rec).Machine, rec.Config.Simulated}
		if records[p] == nil {
			parts = append(parts, p)
		}
		records[p] = append(records[p], rec)
	}
	for _, study := range result.Studies() {
		several, machines := 0, map[result.Machine]bool{}
		for _, p := range parts {
			if p.study == study {
				several++
				machines[p.machine] = true
			}
		}
		for _, p := range parts {
			if p.study != study {
				continue
			}
			apart := ""
			if several > 1 {
				apart = kinds(records[p])
			}
			if several > 1 && p.simulated != "" {
				apart += "; simulated: " + p.simulated
			}
			if len(machines) > 1 {
				apart += "; on " + p.machine.String()
			}
			r.add(study, records[p], apart)
		}
	}
	r.addTables(in.tables)
	r.nameOnce()
	return r
}

// add makes the section of a study on a machine; what is simulated has a section
// of its own, so that no figure of it stands without the word. Apart tells it from
// the study's other sections, if there are any.
func (r *report) add(study result.Study, records []result.Record, apart string) {
	when, what := dates(records), simulated(records)
	if what != "" {
		when += "; simulated: " + what
	}
	s := newSection(study, machine(records), when)
	s.Apart, s.Simulated = apart, what != ""
	s.Versions = versions(records)
	cells := analysis.Cells(records)
	switch study {
	case result.Loading:
		waitCharts(s, cells)
		rateCharts(s, cells)
		s.conclude(sides, compareWords(records))
		s.conclude("Peaks and first batches", rhythmWords(cells))
		s.conclude(workers, fastestWorkers(slices.DeleteFunc(slices.Clone(cells), func(c analysis.Cell) bool {
			return c.ConsumerSeconds > 0 // who waits for the consumer says nothing about workers
		})))
		s.Tables = append(s.Tables, rhythmTable(cells), compareTable(records))
	case result.EndToEnd:
		rateCharts(s, cells)
		groups := analysis.Groups(records)
		heatCharts(s, groups)
		s.conclude(advice, adviceWords(groups))
		s.conclude(sides, compareWords(records))
		s.Tables = append(adviceTables(groups), timesTable(cells), compareTable(records))
	case result.Profile:
		stageCharts(s, cells)
		s.conclude(sides, compareWords(records))
		s.conclude(workers, fastestWorkers(cells))
		s.Tables = append(stageTables(cells), compareTable(records))
	case result.Volumes:
		rateCharts(s, cells)
		s.conclude(sides, compareWords(records))
		s.conclude(workers, fastestWorkers(cells))
		s.Tables = append(s.Tables, compareTable(records))
	case result.Inference:
		itemCharts(s, cells)
		s.conclude("Batch sizes", bestBatches(cells))
	}
	usageCharts(s, cells)
	r.Sections = append(r.Sections, s)
}

// addTables makes the section of tables that came as CSV.
func (r *report) addTables(groups []analysis.Group) {
	if len(groups) == 0 {
		return
	}
	s := newSection(result.EndToEnd, "", "")
	s.ID, s.Study = "tables", "Tables of times: end to end"
	heatCharts(s, groups)
	s.conclude(advice, adviceWords(groups))
	s.Tables = adviceTables(groups)
	r.Sections = append(r.Sections, s)
}

// nameOnce makes the names of sections differ, and so those of their charts and
// figures, which begin with them.
func (r *report) nameOnce() {
	var seen []string
	for _, s := range r.Sections {
		id := s.ID
		s.ID = numbered(id, func(name string) bool { return slices.Contains(seen, name) })
		seen = append(seen, s.ID)
		for _, ch := range s.Charts {
			ch.ID = s.ID + ch.ID[len(id):]
			for i := range ch.Figures {
				ch.Figures[i].Name = s.ID + ch.Figures[i].Name[len(id):]
			}
		}
	}
}

func (r *report) plots() int {
	n := 0
	for _, s := range r.Sections {
		for _, ch := range s.Charts {
			n += len(ch.Figures)
		}
	}
	return n
}

func (r *report) writeFigures(folder string) error {
	for _, s := range r.Sections {
		for _, ch := range s.Charts {
			for _, f := range ch.Figures {
				if err := f.write(folder); err != nil {
					return err
				}
			}
		}
	}
	return nil
}
