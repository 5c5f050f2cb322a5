// Package analysis turns the times of a sweep into advice: which settings are among the best
// for every model, how much time another setting costs on average, and which setting to use.
// Differences are those of a significance test, see [Figure.Differs].
package analysis

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/penstock-go/penstock/bench/result"
)

// A Setting is the loader's options that a sweep varies.
type Setting struct {
	Batch   int // loader.BatchSize
	Workers int // loader.Workers
}

// String returns a text such as "batch 128, 12 workers".
func (s Setting) String() string {
	if s.Workers == 1 {
		return fmt.Sprintf("batch %d, 1 worker", s.Batch)
	}
	return fmt.Sprintf("batch %d, %d workers", s.Batch, s.Workers)
}

// Compare orders settings by batch size, then by workers.
func (s Setting) Compare(t Setting) int {
	return cmp.Or(cmp.Compare(s.Batch, t.Batch), cmp.Compare(s.Workers, t.Workers))
}

// A Table holds the times of models with settings, one time per round. Cells may be missing.
// The zero Table is empty and ready for Add.
type Table struct {
	models []string
	cells  map[key]map[round][]float64
}

type key struct {
	model string
	Setting
}

// A round is identified by its number, and by how often that number has occurred before: round
// 0 of a second run is another round.
type round struct{ run, number int }

// Add adds the time of a model with a setting, in seconds. The work must be the same in all
// cells of a model. Several times of one round count as their median.
func (t *Table) Add(model string, s Setting, number int, seconds float64) {
	t.add(model, s, round{number: number}, seconds)
}

func (t *Table) add(model string, s Setting, r round, seconds float64) {
	if t.cells == nil {
		t.cells = map[key]map[round][]float64{}
	}
	if !slices.Contains(t.models, model) {
		t.models = append(t.models, model)
	}
	k := key{model, s}
	if t.cells[k] == nil {
		t.cells[k] = map[round][]float64{}
	}
	t.cells[k][r] = append(t.cells[k][r], seconds)
}

// A Group is the table of one subject.
type Group struct {
	Subject
	Table *Table
}

// Groups returns a table for each subject of the cells. Its times are seconds per sample.
func Groups(cells []Cell) []Group {
	var groups []Group
	for _, c := range cells {
		i := slices.IndexFunc(groups, func(g Group) bool { return g.Subject == c.Subject })
		if i < 0 {
			i = len(groups)
			groups = append(groups, Group{c.Subject, &Table{}})
		}
		for r, seconds := range c.perRound(perSample) {
			groups[i].Table.add(c.Model, c.Setting, r, seconds)
		}
	}
	return groups
}

// Models returns the models with at least one cell, in the order of their first cell.
func (t *Table) Models() []string { return slices.Clone(t.models) }

// Settings returns the settings of at least one model, sorted.
func (t *Table) Settings() []Setting {
	seen := map[Setting]bool{}
	for k := range t.cells {
		seen[k.Setting] = true
	}
	return slices.SortedFunc(maps.Keys(seen), Setting.Compare)
}

// Time is the time of a model with a setting, in seconds. If the cell is missing, the Figure
// has no rounds.
func (t *Table) Time(model string, s Setting) Figure { return overRounds(t.rounds(model, s)) }

// rounds returns the times of a cell, one per round.
func (t *Table) rounds(model string, s Setting) map[round]float64 {
	return medians(t.cells[key{model, s}])
}

func medians(values map[round][]float64) map[round]float64 {
	found := map[round]float64{}
	for r, v := range values {
		found[r] = median(v)
	}
	return found
}

func overRounds(values map[round]float64) Figure {
	return NewFigure(slices.Collect(maps.Values(values))...)
}

// ratio is a divided by b, for the rounds that both have.
func ratio(a, b map[round]float64) Figure {
	var ratios []float64
	for r, v := range a {
		if w, ok := b[r]; ok {
			ratios = append(ratios, v/w)
		}
	}
	return NewFigure(ratios...)
}

// Best returns the n fastest settings for a model by their medians, the fastest first, or fewer if the model has fewer.
func (t *Table) Best(model string, n int) []Setting {
	var list []Setting
	took := map[Setting]float64{}
	for k := range t.cells {
		if k.model == model {
			list = append(list, k.Setting)
			took[k.Setting] = t.Time(model, k.Setting).Median
		}
	}
	slices.SortFunc(list, func(a, b Setting) int { return cmp.Or(cmp.Compare(took[a], took[b]), a.Compare(b)) })
	return list[:min(max(n, 0), len(list))]
}

// A Count is the number of models that have a setting among their best.
type Count struct {
	Setting
	Models []string // those that have, in the table's order
}

// Top counts for how many models a setting is among the n fastest. The most frequent setting
// comes first.
func (t *Table) Top(n int) []Count {
	var counts []Count
	for _, model := range t.models {
		for _, s := range t.Best(model, n) {
			i := slices.IndexFunc(counts, func(c Count) bool { return c.Setting == s })
			if i < 0 {
				i = len(counts)
				counts = append(counts, Count{Setting: s})
			}
			counts[i].Models = append(counts[i].Models, model)
		}
	}
	slices.SortFunc(counts, func(a, b Count) int {
		return cmp.Or(cmp.Compare(len(b.Models), len(a.Models)), a.Compare(b.Setting))
	})
	return counts
}

// A Subject is what two times must have in common to be compared: everything other than the
// model, the batch size and the number of workers.
type Subject struct {
	Study           result.Study
	Side            string
	Data            string
	Device          string
	Help            string  // "on", "off" or empty
	Span            string  // of a profile
	ConsumerSeconds float64 // for a batch
	Simulated       string
	Machine         result.Machine // CPU, family, instructions and processors, and the GPU where Device is one
}

func subjectOf(r result.Record) Subject {
	c := r.Config
	m := result.Machine{CPU: strings.Join(strings.Fields(r.Machine.CPU), " "), Family: r.Machine.Family, Instructions: r.Machine.Instructions, Processors: r.Machine.Processors}
	if c.Device != "" && c.Device != "cpu" {
		m.GPU = r.Machine.GPU
	}
	return Subject{r.Study, r.Side, c.Data, c.Device, c.Help, c.Span, c.ConsumerSeconds, c.Simulated, m}
}

// Variant returns the side, with the option that is not the default: "penstock without Help".
func (s Subject) Variant() string {
	if s.Help == result.HelpOff {
		return s.Side + " without Help"
	}
	return s.Side
}

// work is the subject without the side: what all sides of a [Comparison] share.
func (s Subject) work() Subject {
	s.Side, s.Help = "", ""
	return s
}

// A Cell holds all measurements of one configuration of a subject.
type Cell struct {
	Subject
	Model string
	Setting
	Records []result.Record // those that count, in the order given
	rounds  []round         // of Records
}

// Cells groups records into cells. The cells are sorted by the first record of their
// subject, then by batch size and number of workers.
//
// Epoch 0 of a loader also starts workers and fills caches. It counts only if the
// configuration has no other epoch in any round. If a round was measured again, for example
// in another file, it counts as another round.
func Cells(records []result.Record) []Cell {
	type place struct {
		Subject
		model string
		Setting
	}
	type epoch struct {
		place
		round, epoch int
	}
	placeOf := func(r result.Record) place {
		return place{subjectOf(r), r.Config.Model, Setting{r.Config.Batch, r.Config.Workers}}
	}
	warm := map[place]bool{}
	for _, r := range records {
		warm[placeOf(r)] = warm[placeOf(r)] || r.Epoch > 0
	}
	var cells []Cell
	index, runs, first := map[place]int{}, map[epoch]int{}, map[Subject]int{}
	for _, r := range records {
		p := placeOf(r)
		if warm[p] && r.Epoch == 0 {
			continue
		}
		i, ok := index[p]
		if !ok {
			i = len(cells)
			index[p] = i
			cells = append(cells, Cell{Subject: p.Subject, Model: p.model, Setting: p.Setting})
			if _, ok := first[p.Subject]; !ok {
				first[p.Subject] = i
			}
		}
		e := epoch{p, r.Round, r.Epoch}
		cells[i].Records = append(cells[i].Records, r)
		cells[i].rounds = append(cells[i].rounds, round{runs[e], r.Round})
		runs[e]++
	}
	slices.SortStableFunc(cells, func(a, b Cell) int {
		return cmp.Or(cmp.Compare(first[a.Subject], first[b.Subject]), a.Setting.Compare(b.Setting))
	})
	return cells
}

// perRound returns the value of a quantity for every round: the median over the round's
// epochs. It leaves out records with value 0, which means not measured.
func (c Cell) perRound(of func(result.Measured) float64) map[round]float64 {
	values := map[round][]float64{}
	for i, r := range c.Records {
		if v := of(r.Measured); v != 0 {
			values[c.rounds[i]] = append(values[c.rounds[i]], v)
		}
	}
	return medians(values)
}

// Figure sums up one quantity over the cell's rounds.
func (c Cell) Figure(of func(result.Measured) float64) Figure { return overRounds(c.perRound(of)) }

// Rate is the cell's samples per second, end to end if the records have that time.
func (c Cell) Rate() Figure { return c.Figure(perSample).Inverse() }

// perSample is the time of a sample in seconds, end to end if that was measured.
func perSample(m result.Measured) float64 { return cmp.Or(m.EndToEnd, m.Seconds) / float64(m.Samples) }

// Typical returns the record with the median time, and the faster one if there are two. Charts
// of a whole epoch draw it, because an average over epochs would be none that was measured.
func (c Cell) Typical() result.Record {
	sorted := slices.SortedStableFunc(slices.Values(c.Records), func(a, b result.Record) int {
		return cmp.Compare(a.Measured.Seconds, b.Measured.Seconds)
	})
	return sorted[(len(sorted)-1)/2]
}

// A Comparison is one configuration, measured for several sides.
type Comparison struct {
	Sides []Cell // the first is the one that the others are compared with
}

// Compare groups cells by configuration. The other sides are compared with the side base,
// whose cell with the default options comes first. Compare leaves out configurations without
// base or without another side.
func Compare(cells []Cell, base string) []Comparison {
	type key struct {
		Subject
		model string
		Setting
	}
	var list []Comparison
	index := map[key]int{}
	for _, c := range cells {
		k := key{c.work(), c.Model, c.Setting}
		i, ok := index[k]
		if !ok {
			i = len(list)
			index[k] = i
			list = append(list, Comparison{})
		}
		at := len(list[i].Sides)
		if c.Variant() == base {
			at = 0
		}
		list[i].Sides = slices.Insert(list[i].Sides, at, c)
	}
	return slices.DeleteFunc(list, func(c Comparison) bool { return len(c.Sides) < 2 || c.Sides[0].Variant() != base })
}

// Ratio is the first side's samples per second divided by those of side i, round by round. It
// is 2 if the first side is twice as fast.
func (c Comparison) Ratio(i int) Figure {
	return ratio(c.Sides[i].perRound(perSample), c.Sides[0].perRound(perSample))
}

// Differs reports whether side i and the first side clearly differ in samples per second; see
// [Figure.Differs].
func (c Comparison) Differs(i int) bool { return c.Sides[i].Rate().Differs(c.Sides[0].Rate()) }
