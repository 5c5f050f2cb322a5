package analysis

import (
	"cmp"
	"slices"

	"github.com/penstock-go/penstock/bench/result"
)

// A Cell is all that was measured of one configuration of a subject.
type Cell struct {
	Subject
	Model string
	Setting
	Records []result.Record // those that count, see [Groups], in the order given
	rounds  []round         // of Records
}

// Cells sorts records into cells, in the order of their first records.
func Cells(records []result.Record) []Cell {
	var cells []Cell
	index := map[place]int{}
	counted := newRounds(records)
	for _, r := range records {
		at, ok := counted.next(r)
		if !ok {
			continue
		}
		p := place{Subject: SubjectOf(r), model: r.Config.Model, Setting: SettingOf(r)}
		i, ok := index[p]
		if !ok {
			i = len(cells)
			index[p] = i
			cells = append(cells, Cell{Subject: p.Subject, Model: p.model, Setting: p.Setting})
		}
		cells[i].Records = append(cells[i].Records, r)
		cells[i].rounds = append(cells[i].rounds, at)
	}
	return cells
}

// Figure sums up one quantity over the cell's rounds. Records of value 0, where it
// was not measured, are left out.
func (c Cell) Figure(value func(result.Measured) float64) Figure {
	values := map[round][]float64{}
	for i, r := range c.Records {
		if v := value(r.Measured); v != 0 {
			values[c.rounds[i]] = append(values[c.rounds[i]], v)
		}
	}
	var figures []float64
	for _, v := range values {
		figures = append(figures, median(v))
	}
	return NewFigure(figures...)
}

// Rate is the cell's samples per second: the [Figure.Inverse] of the times of a
// sample, end to end where records have it, so that it agrees with [Table.Time].
func (c Cell) Rate() Figure { return c.Figure(perSample).Inverse() }

// perSample is the time of a sample, in seconds, end to end where that was measured.
func perSample(m result.Measured) float64 {
	took := m.Seconds
	if m.EndToEnd > 0 {
		took = m.EndToEnd
	}
	return took / float64(m.Samples)
}

// Typical is the record whose value is the median, the lower of two. It stands
// for a cell where a whole course is to be drawn, since an average of courses is
// none that was seen.
func (c Cell) Typical(value func(result.Measured) float64) result.Record {
	sorted := slices.SortedStableFunc(slices.Values(c.Records), func(a, b result.Record) int {
		return cmp.Compare(value(a.Measured), value(b.Measured))
	})
	return sorted[(len(sorted)-1)/2]
}
