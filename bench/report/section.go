package main

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/penstock-go/penstock/bench/analysis"
	"github.com/penstock-go/penstock/bench/result"
)

// A section is one study on one machine.
type section struct {
	ID          string
	Study       string // in words
	Apart       string // what tells it from others of its study, empty where there are none
	Simulated   bool
	Machine     string
	Dates       string
	Versions    []string // a line per side
	Conclusions []conclusions
	Charts      []*chart
	Tables      []table
}

// Conclusions are sentences of one kind.
type conclusions struct {
	Title string
	Lines []string
}

// shownLines are how many conclusions of a kind the page shows; the others are
// folded, where that hides more than a few.
const shownLines = 5

func (c conclusions) Shown() []string {
	if len(c.Lines) <= shownLines+2 {
		return c.Lines
	}
	return c.Lines[:shownLines]
}

func (c conclusions) Folded() []string { return c.Lines[len(c.Shown()):] }

// conclude adds conclusions, if there are any.
func (s *section) conclude(title string, lines []string) {
	if len(lines) > 0 {
		s.Conclusions = append(s.Conclusions, conclusions{title, lines})
	}
}

// A table is long where it is better folded away.
type table struct {
	Title string
	Sheet analysis.Sheet
	Long  bool
}

// studies in words, in the order of the page.
var studies = map[result.Study]string{
	result.Loading:   "Loading: the wait for every batch",
	result.EndToEnd:  "End to end: loading and inference",
	result.Profile:   "Profile: where loading spends its time",
	result.Volumes:   "Volumes: medical images for segmentation",
	result.Inference: "Inference: time per item",
}

func newSection(study result.Study, machine string, dates string) *section {
	return &section{ID: string(study), Study: studies[study], Machine: machine, Dates: dates}
}

// chart adds an empty chart. Is are traits that all of its items share.
func (s *section) chart(k kind, what string, is traits) *chart {
	parts := []string{what}
	parts = append(parts, nonempty(is.Data, is.Model, is.Device, is.consumer())...)
	study, _, _ := strings.Cut(s.Study, ":")
	id := s.ID + "-" + slug(strings.Join(parts, " "))
	taken := func(id string) bool {
		return slices.ContainsFunc(s.Charts, func(c *chart) bool { return c.ID == id })
	}
	if s.Simulated {
		parts = append(parts, "simulated")
	}
	ch := &chart{
		ID:       numbered(id, taken),
		Kind:     k,
		Title:    study + ": " + strings.Join(parts, ", "),
		Subtitle: strings.Trim(s.Machine+"; "+s.Dates, "; "),
	}
	s.Charts = append(s.Charts, ch)
	return ch
}

// figure adds a plot for print to a chart, and names it.
func (s *section) figure(ch *chart, what string, f figure) {
	f.Name = ch.ID + "-" + what
	ch.Figures = append(ch.Figures, f)
}

// numbered is the id, with a number where it is taken.
func numbered(id string, taken func(string) bool) string {
	name := id
	for n := 2; taken(name); n++ {
		name = fmt.Sprintf("%s-%d", id, n)
	}
	return name
}

// slug makes a text fit for a file's name.
func slug(text string) string {
	var b strings.Builder
	dash := false
	for _, r := range strings.ToLower(text) {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' {
			if dash && b.Len() > 0 {
				b.WriteByte('-')
			}
			dash = false
			b.WriteRune(r)
		} else {
			dash = true
		}
		if b.Len() > 70 {
			break
		}
	}
	return b.String()
}

// dates are the first and the last day of records.
func dates(records []result.Record) string {
	first, last := records[0].Date, records[0].Date
	for _, r := range records {
		if r.Date.Before(first) {
			first = r.Date
		}
		if r.Date.After(last) {
			last = r.Date
		}
	}
	a, b := first.UTC().Format(time.DateOnly), last.UTC().Format(time.DateOnly)
	if a == b {
		return a
	}
	return a + " to " + b
}

// machine is the fullest of the records' descriptions of their machine.
func machine(records []result.Record) string {
	text := ""
	for _, r := range records {
		if s := r.Machine.String(); len(s) > len(text) {
			text = s
		}
	}
	return text
}

// versions are a line per side and set of versions.
func versions(records []result.Record) []string {
	var list []string
	for _, r := range records {
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
	return list
}

// kinds names the first few kinds of the records' data.
func kinds(records []result.Record) string {
	const most = 4
	var list []string
	for _, r := range records {
		if d := r.Config.Data; !slices.Contains(list, d) {
			list = append(list, d)
		}
	}
	if n := len(list) - most; n > 0 {
		list = append(list[:most], fmt.Sprintf("%d more", n))
	}
	return strings.Join(list, "; ")
}

// simulated is what of some records is not real.
func simulated(records []result.Record) string {
	var list []string
	for _, r := range records {
		if s := r.Config.Simulated; s != "" && !slices.Contains(list, s) {
			list = append(list, s)
		}
	}
	return strings.Join(list, "; ")
}
