package analysis

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/penstock-go/penstock/bench/result"
)

// A Subject is all that two times must have in common to be compared: everything
// but model, batch size and workers.
type Subject struct {
	Study           result.Study
	Side            string
	Data            string
	Device          string
	Help            string  // "on", "off" or empty
	Span            string  // of a profile
	ConsumerSeconds float64 // for a batch
	Prefetch        int
	InFlight        int
	Simulated       string
	Machine         result.Machine // CPU and processors, and the GPU where Device is one
}

func subjectOf(r result.Record) Subject {
	c := r.Config
	m := result.Machine{CPU: strings.Join(strings.Fields(r.Machine.CPU), " "), Processors: r.Machine.Processors}
	if c.Device != "" && c.Device != "cpu" {
		m.GPU = r.Machine.GPU
	}
	return Subject{r.Study, r.Side, c.Data, c.Device, c.Help, c.Span, c.ConsumerSeconds, c.Prefetch, c.InFlight, c.Simulated, m}
}

// Variant is the side, with those of the loader's options that are not the
// default: "penstock without Help".
func (s Subject) Variant() string {
	v := s.Side
	if s.Help == result.HelpOff {
		v += " without Help"
	}
	if s.Prefetch > 0 && s.Simulated == "" {
		v += fmt.Sprintf(", prefetch %d", s.Prefetch)
	}
	if s.InFlight > 0 {
		v += fmt.Sprintf(", %d in flight", s.InFlight)
	}
	return v
}

// work is the subject without the side: what all sides of a [Comparison] share.
func (s Subject) work() Subject {
	s.Side, s.Help, s.Prefetch, s.InFlight = "", "", 0, 0
	return s
}

// A Cell is all that was measured of one configuration of a subject.
type Cell struct {
	Subject
	Model string
	Setting
	Records []result.Record // those that count, in the order given
	rounds  []round         // of Records
}

// Cells sorts records into cells, in the order of subjects' first records, then by
// batch size and workers.
//
// The first epoch of a loader, 0, which starts workers and fills caches, counts
// only where a configuration has no other epoch in any round, since it is other
// work. A round that was measured again, in another file say, is another round.
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

// perRound is a quantity of every round: the median over its epochs. Records of
// value 0, where it was not measured, are left out.
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

// Rate is the cell's samples per second, end to end where records have that.
func (c Cell) Rate() Figure { return c.Figure(perSample).Inverse() }

// perSample is the time of a sample, in seconds, end to end where that was measured.
func perSample(m result.Measured) float64 { return cmp.Or(m.EndToEnd, m.Seconds) / float64(m.Samples) }

// Typical is the record of the median time, the faster of two. It is what is drawn
// where a whole course is shown, since an average of courses is none that was seen.
func (c Cell) Typical() result.Record {
	sorted := slices.SortedStableFunc(slices.Values(c.Records), func(a, b result.Record) int {
		return cmp.Compare(a.Measured.Seconds, b.Measured.Seconds)
	})
	return sorted[(len(sorted)-1)/2]
}

// A Comparison is one configuration by several sides.
type Comparison struct {
	Sides []Cell // the first is the one that the others are compared with
}

// Compare groups cells by configuration. Base is the side that the others are
// compared with; its cell with the default options comes first. Configurations
// that one side alone has, or that base has not, are left out.
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

// Ratio is the first side's samples per second over those of side i, round by
// round: 2 where the first is twice as fast.
func (c Comparison) Ratio(i int) Figure {
	return ratio(c.Sides[i].perRound(perSample), c.Sides[0].perRound(perSample))
}

// Differs tells whether side i and the first differ in samples per second.
func (c Comparison) Differs(i int) bool { return c.Sides[i].Rate().Differs(c.Sides[0].Rate()) }
