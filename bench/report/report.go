package main

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/penstock-go/penstock/bench/analysis"
	"github.com/penstock-go/penstock/bench/result"
)

// base is the side with which the others are compared.
const base = "penstock"

// A report is the content of the page, the charts and the README.
type report struct {
	Sections []*section
	Errors   []string // what could not be read
}

// A section is one study on one machine. Simulated measurements have sections of their own, so
// that each of their figures is marked as simulated.
type section struct {
	ID       string
	Title    string
	Where    string   // machine and days
	Versions []string // a line per side
	Findings []string // sentences
	Tables   []table  // short ones, shown with the findings
	Charts   []*chart
	Details  []table // long ones, which the page folds
}

// A table with its title.
type table struct {
	Title string
	analysis.Sheet
	Class string // of the page's style
}

// Short marks a table that is shown with the findings, and Long one that is folded under its title.
func (t table) Short() table { t.Class = "short"; return t }
func (t table) Long() table  { t.Title = ""; return t }

// shown is the number of charts, and of tables, of a section that the page shows at once. It folds
// the others.
const shown = 2

// Short returns the tables that the page shows at once, and Longer the others.
func (s *section) Short() []table { return s.Tables[:min(shown, len(s.Tables))] }
func (s *section) Longer() []table {
	return append(s.Tables[len(s.Short()):len(s.Tables):len(s.Tables)], s.Details...)
}

// First returns the charts that the page shows at once.
func (s *section) First() []*chart { return s.Charts[:min(shown, len(s.Charts))] }

// More returns the other charts.
func (s *section) More() []*chart { return s.Charts[len(s.First()):] }

// studies maps a study to its title, and to the function that fills its section.
var studies = map[result.Study]struct {
	title string
	fill  func(*section, []analysis.Cell)
}{
	result.Throughput: {"Speed compared with other libraries", throughput},
	result.Loading:    {"Waiting for batches", loading},
	result.EndToEnd:   {"Loading and inference together", endToEnd},
	result.Profile:    {"Where loading spends its time", profile},
	result.Volumes:    {"Medical volumes", volumes},
	result.Inference:  {"Inference alone: time per item by batch size", inference},
}

func newReport(records []result.Record, errs []error) *report {
	r := &report{}
	for _, err := range errs {
		r.Errors = append(r.Errors, err.Error())
	}
	type part struct {
		study     result.Study
		machine   result.Machine
		simulated string
	}
	cells := analysis.Cells(printable(records))
	slices.SortStableFunc(cells, func(a, b analysis.Cell) int { return cmp.Compare(rank(a), rank(b)) })
	machines := map[result.Machine]bool{}
	for _, c := range cells {
		machines[c.Machine] = true
	}
	parts := split(cells, func(c analysis.Cell) part { return part{c.Study, c.Machine, c.Simulated} })
	slices.SortStableFunc(parts, func(a, b []analysis.Cell) int {
		at := func(list []analysis.Cell) int { return slices.Index(result.Studies(), list[0].Study) }
		return cmp.Compare(at(a), at(b))
	})
	var taken []string
	for _, part := range parts {
		study := studies[part[0].Study]
		s := &section{ID: numbered(string(part[0].Study), taken), Title: study.title, Where: where(part), Versions: versions(part)}
		taken = append(taken, s.ID)
		if what := part[0].Simulated; what != "" {
			s.Title += ", simulated (" + what + ")"
		}
		if len(machines) > 1 {
			s.Title += ", on " + part[0].Machine.String()
		}
		study.fill(s, part)
		for _, ch := range s.Charts {
			ch.Subtitle = s.Where
			if what := part[0].Simulated; what != "" {
				ch.Subtitle += "; simulated: " + what
			}
		}
		r.Sections = append(r.Sections, s)
	}
	return r
}

// printable returns the records with texts that are valid in XML.
func printable(records []result.Record) []result.Record {
	records = slices.Clone(records)
	for i := range records {
		r := &records[i]
		r.Measured.Stages = slices.Clone(r.Measured.Stages)
		texts := []*string{&r.Side, &r.Config.Data, &r.Config.Model, &r.Config.Device, &r.Config.Simulated,
			&r.Machine.CPU, &r.Machine.OS, &r.Machine.Kernel, &r.Machine.GPU}
		for k := range r.Measured.Stages {
			texts = append(texts, &r.Measured.Stages[k].Name)
		}
		for _, text := range texts {
			*text = strings.Map(func(c rune) rune {
				if c < ' ' || c == 0xfffe || c == 0xffff || c == 0x2028 || c == 0x2029 {
					return ' '
				}
				return c
			}, *text)
		}
	}
	return records
}

// rank sorts the base first, with its default options before others.
func rank(c analysis.Cell) int {
	switch {
	case c.Variant() == base:
		return 0
	case c.Side == base:
		return 1
	}
	return 2
}

// split groups the items with equal keys. The groups are in the order of their first items.
func split[T any, K comparable](list []T, by func(T) K) (parts [][]T) {
	index := map[K]int{}
	for _, v := range list {
		i, ok := index[by(v)]
		if !ok {
			i = len(parts)
			index[by(v)] = i
			parts = append(parts, nil)
		}
		parts[i] = append(parts[i], v)
	}
	return parts
}

// numbered returns a name, with a number added if the name is taken.
func numbered(name string, taken []string) string {
	found := name
	for n := 2; slices.Contains(taken, found); n++ {
		found = fmt.Sprintf("%s-%d", name, n)
	}
	return found
}

// where returns the machine, in its longest description, and the days of the records.
func where(cells []analysis.Cell) string {
	machine := ""
	var days []string
	for _, c := range cells {
		for _, r := range c.Records {
			if s := r.Machine.String(); len(s) > len(machine) {
				machine = s
			}
			days = append(days, r.Date.UTC().Format(time.DateOnly))
		}
	}
	first, last := slices.Min(days), slices.Max(days)
	if first != last {
		first += " to " + last
	}
	return machine + "; " + first
}

// versions returns one line per side and set of versions.
func versions(cells []analysis.Cell) []string {
	var list []string
	for _, c := range cells {
		for _, r := range c.Records {
			var parts []string
			for name, version := range r.Versions {
				parts = append(parts, name+" "+version)
			}
			slices.Sort(parts)
			line := r.Side + ": " + strings.Join(parts, ", ")
			if len(parts) > 0 && !slices.Contains(list, line) {
				list = append(list, line)
			}
		}
	}
	return list
}

// Headline returns the first sentence of the findings.
func (s *section) Headline() string {
	if len(s.Findings) == 0 {
		return ""
	}
	first, _, _ := strings.Cut(s.Findings[0], ". ")
	return strings.TrimSuffix(first, ".")
}

// find adds a finding, which is a sentence.
func (s *section) find(format string, values ...any) {
	s.Findings = append(s.Findings, fmt.Sprintf(format, values...))
}

func (s *section) table(title string, sheet analysis.Sheet) {
	if len(sheet.Rows) > 0 {
		s.Tables = append(s.Tables, table{Title: title, Sheet: sheet})
	}
}

func (s *section) detail(title string, sheet analysis.Sheet) {
	if len(sheet.Rows) > 0 {
		s.Details = append(s.Details, table{Title: title, Sheet: sheet})
	}
}
