package main

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/penstock-go/penstock/bench"
	"github.com/penstock-go/penstock/bench/analysis"
	"github.com/penstock-go/penstock/bench/result"
)

// base is the side with which the others are compared.
const base = "penstock"

// A report is the content of the page and of a README's generated part.
type report struct {
	Sections []*section
	Errors   []string // what could not be read
}

// A section is one study on one machine. Simulated measurements have sections of their own, so that each of their figures
// is marked as simulated.
type section struct {
	ID       string
	Title    string
	Where    string   // machine, days and command
	Versions []string // a line per side
	Findings []string // sentences; the first is the headline
	Charts   []*chart
	Tables   []table
}

// A table with its title. Only short ones are in a README.
type table struct {
	Title string
	Short bool
	analysis.Sheet
}

// A chart has one finding as its title, and panels with scales of their own. page.js draws it.
type chart struct {
	ID     string   `json:"id"`
	Kind   string   `json:"kind"` // lines; bars, horizontal; or heat
	Title  string   `json:"title"`
	Note   string   `json:"note"`
	X      string   `json:"x"`
	Y      string   `json:"y"`
	Panels []*panel `json:"panels"`
	Single bool     `json:"-"` // has one panel, and so room for another chart beside it
}

// A panel's categories are those of its bars, of the X of its lines if they are not numbers, or of a heat map's columns.
type panel struct {
	Title      string   `json:"title"`
	Categories []string `json:"categories,omitempty"`
	Rows       []string `json:"rows,omitempty"` // of a heat map
	Series     []series `json:"series"`
}

// A series has points of x, y, and the least and greatest y of its interval; of a heat map, of column, row and value.
type series struct {
	Name   string       `json:"name"`
	Points [][4]float64 `json:"points"`
}

// studies are the titles of the sections, and what fills them.
var studies = map[result.Study]struct {
	title string
	fill  func(*section, []analysis.Cell)
}{
	result.Throughput: {"Speed compared with other libraries", throughput},
	result.Loading:    {"1. Waiting for batches", loading},
	result.EndToEnd:   {"2. Loading and inference together", endToEnd},
	result.Profile:    {"3. Where loading spends its time", profile},
	result.Volumes:    {"4. Medical volumes", volumes},
	result.Inference:  {"5. Inference alone", inference},
}

func newReport(records []result.Record, errs []error) *report {
	r := &report{}
	for _, err := range errs {
		r.Errors = append(r.Errors, err.Error())
	}
	cells := analysis.Cells(records)
	slices.SortStableFunc(cells, func(a, b analysis.Cell) int { return cmp.Compare(rank(a), rank(b)) })
	type part struct {
		study     result.Study
		machine   result.Machine
		simulated string
	}
	parts := split(cells, func(c analysis.Cell) part { return part{c.Study, c.Machine, c.Simulated} })
	slices.SortStableFunc(parts, func(a, b []analysis.Cell) int {
		at := func(list []analysis.Cell) int { return slices.Index(result.Studies(), list[0].Study) }
		return cmp.Compare(at(a), at(b))
	})
	machines := len(split(cells, func(c analysis.Cell) result.Machine { return c.Machine }))
	for n, part := range parts {
		study := studies[part[0].Study]
		s := &section{ID: fmt.Sprintf("s%d", n), Title: study.title, Where: where(part) + command(part), Versions: versions(part)}
		if what := part[0].Simulated; what != "" {
			s.Title += ", simulated (" + what + ")"
		}
		if machines > 1 {
			s.Title += ", on " + part[0].Machine.String()
		}
		study.fill(s, part)
		s.tables(part)
		r.Sections = append(r.Sections, s)
	}
	return r
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

// command returns the command that measures the cells, with all studies whose grids have their data. Data of no grid have none.
func command(cells []analysis.Cell) string {
	var names []string
	for _, name := range slices.Sorted(maps.Keys(bench.Grids)) {
		if slices.ContainsFunc(bench.Grids[name](), func(planned bench.Cell) bool {
			return slices.ContainsFunc(cells, func(c analysis.Cell) bool { return c.Study == planned.Study && c.Data == planned.Config.Data })
		}) {
			names = append(names, name)
		}
	}
	if len(names) == 0 {
		return ""
	}
	return "; go run ./bench/studies -studies " + strings.Join(names, ",")
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

// Headline returns the first finding.
func (s *section) Headline() string {
	if len(s.Findings) == 0 {
		return ""
	}
	return strings.TrimSuffix(s.Findings[0], ".")
}

// find adds a finding, which is a sentence.
func (s *section) find(format string, values ...any) {
	s.Findings = append(s.Findings, fmt.Sprintf(format, values...))
}

func (s *section) table(short bool, title string, sheet analysis.Sheet) {
	if len(sheet.Rows) > 0 {
		s.Tables = append(s.Tables, table{title, short, sheet})
	}
}

func (s *section) chart(kind, title, x, y, note string, panels ...*panel) {
	panels = slices.DeleteFunc(panels, func(p *panel) bool { return len(p.Series) == 0 })
	if len(panels) > 0 {
		s.Charts = append(s.Charts, &chart{fmt.Sprintf("%s-%d", s.ID, len(s.Charts)), kind, title, note, x, y, panels, len(panels) == 1})
	}
}

const intervals = "Medians over rounds; lines are their 95 % confidence intervals, or, with fewer than six rounds, ranges."

// lines draws one quantity of the cells: a panel for each value of one key, a line for each of another, over numbers of
// workers or batch sizes.
func (s *section) lines(title, xName, yName string, cells []analysis.Cell, panelOf, lineOf func(analysis.Cell) string, x func(analysis.Cell) int, y func(analysis.Cell) analysis.Figure) {
	all := values(cells, x)
	if len(all) < 2 {
		return
	}
	var panels []*panel
	for _, part := range split(cells, panelOf) {
		p := &panel{Title: panelOf(part[0])}
		for _, v := range all {
			p.Categories = append(p.Categories, fmt.Sprint(v))
		}
		for _, line := range split(part, lineOf) {
			sr := series{Name: lineOf(line[0])}
			for _, c := range line {
				if f := y(c); f.Rounds > 0 {
					sr.Points = append(sr.Points, point(slices.Index(all, x(c)), f))
				}
			}
			slices.SortFunc(sr.Points, func(a, b [4]float64) int { return cmp.Compare(a[0], b[0]) })
			if len(sr.Points) > 0 {
				p.Series = append(p.Series, sr)
			}
		}
		panels = append(panels, p)
	}
	s.chart("lines", title, xName, yName, intervals, panels...)
}

// bars draws one quantity as sorted bars, a panel for each value of a key.
func (s *section) bars(title, unit string, cells []analysis.Cell, panelOf, barOf func(analysis.Cell) string, y func(analysis.Cell) analysis.Figure) {
	var panels []*panel
	for _, part := range split(cells, panelOf) {
		slices.SortStableFunc(part, func(a, b analysis.Cell) int { return cmp.Compare(y(b).Median, y(a).Median) })
		p, sr := &panel{Title: panelOf(part[0])}, series{Name: unit}
		for i, c := range part {
			p.Categories = append(p.Categories, barOf(c))
			sr.Points = append(sr.Points, point(i, y(c)))
		}
		p.Series = []series{sr}
		panels = append(panels, p)
	}
	s.chart("bars", title, unit, "", intervals, panels...)
}

func point(x int, f analysis.Figure) [4]float64 {
	return [4]float64{float64(x), f.Median, f.Low, f.High}
}

func variant(c analysis.Cell) string       { return c.Variant() }
func batchOf(c analysis.Cell) int          { return c.Batch }
func workersOf(c analysis.Cell) int        { return c.Workers }
func workers(c analysis.Cell) string       { return plural(c.Workers, "worker") }
func batch(c analysis.Cell) string         { return fmt.Sprintf("batches of %d", c.Batch) }
func rate(c analysis.Cell) analysis.Figure { return c.Rate() }

func firstBatch(c analysis.Cell) analysis.Figure {
	return c.Figure(func(m result.Measured) float64 { return 1000 * m.FirstBatch })
}

// work describes what is loaded, without the processor as the device.
func work(c analysis.Cell) string {
	text := c.Data
	if c.Device != "" && c.Device != "cpu" {
		text += ", " + c.Device
	}
	if c.Span != "" {
		text += ", " + c.Span
	}
	if c.ConsumerSeconds > 0 {
		text += fmt.Sprintf(", a consumer of %g s per batch", c.ConsumerSeconds)
	}
	return text
}

// values returns the different values of the cells, sorted.
func values(cells []analysis.Cell, of func(analysis.Cell) int) []int {
	var list []int
	for _, c := range cells {
		list = append(list, of(c))
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// usual returns the cells with the value that most of them have, and the least of such values.
func usual(cells []analysis.Cell, of func(analysis.Cell) int) []analysis.Cell {
	parts := split(cells, of)
	slices.SortFunc(parts, func(a, b []analysis.Cell) int {
		return cmp.Or(cmp.Compare(len(b), len(a)), cmp.Compare(of(a[0]), of(b[0])))
	})
	return parts[0]
}

// only returns the cells for which is is true.
func only(cells []analysis.Cell, is func(analysis.Cell) bool) []analysis.Cell {
	return slices.DeleteFunc(slices.Clone(cells), func(c analysis.Cell) bool { return !is(c) })
}

func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
