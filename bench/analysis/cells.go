package analysis

import (
	"cmp"
	"slices"
	"strings"

	"github.com/penstock-go/penstock/bench/result"
)

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
	Machine         result.Machine // CPU and processors, and the GPU where Device is one
}

func subjectOf(r result.Record) Subject {
	c := r.Config
	m := result.Machine{CPU: strings.Join(strings.Fields(r.Machine.CPU), " "), Processors: r.Machine.Processors}
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
