package assemble

import (
	"fmt"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/internal/slots"
)

// placeRows places several rows by one call. If it fails, the caller places them one by one, to find out which of them
// fail.
func (w *worker) placeRows(j *Job, from, to int) (err error) {
	for _, index := range j.Slab.Indices[from:to] {
		if err := j.Plan.InRange(index); err != nil {
			return err
		}
	}
	for row := from; w.ragged && row < to; row++ {
		j.Slab.Empty(row) // not in At, which may be called several times for a row
	}
	err = w.calls(j.Slab.Indices[from], func() error {
		w.rows.begin(w, j, from, to)
		err := w.batch.PlaceBatch(w.ctx, j.Slab.Indices[from:to:to], &w.rows)
		for row := from; err == nil && w.ragged && row < to; row++ {
			err = j.Slab.CheckRow(row)
		}
		return err
	})
	w.clock.Stop()
	return err
}

// place makes the reader write a sample into row. A panic becomes an error.
func (w *worker) place(j *Job, row, attempt, index int) error {
	if err := j.Plan.InRange(index); err != nil {
		return err
	}
	if w.reader == nil {
		if err := w.open(); err != nil {
			err = fmt.Errorf("loader: worker %d: open dataset: %w", w.id, err)
			j.breaks(err)
			return err
		}
	}
	err := w.calls(index, func() error {
		if w.ragged {
			j.Slab.Empty(row)
		}
		w.reset(w.draw, j, row, attempt)
		err := w.reader.Place(w.ctx, index, w.slot(j, row, w.draw))
		if err == nil && w.ragged {
			err = j.Slab.CheckRow(row)
		}
		return err
	})
	w.yield(j, w.clock.Stop())
	return err
}

// slot is the slot of a row, with the random numbers of draw.
func (w *worker) slot(j *Job, row int, draw *slots.Draw) dataset.Slot {
	j.Slab.Cells(row, w.cells)
	return dataset.Slot(slots.New(w.cells, draw))
}

// reset gives draw the random numbers of a row. Every attempt at the row has its own.
func (w *worker) reset(draw *slots.Draw, j *Job, row, attempt int) {
	draw.Reset(w.t.cfg.Seed+uint64(attempt)<<32, j.Epoch(), j.Slab.Draws[row])
}

// A rowSlots is a range of a job's rows as [dataset.Slots]. Every row has a draw of its own. If At is called again for
// a row, its random numbers continue.
type rowSlots struct {
	w        *worker
	j        *Job
	from, to int
	draws    []slots.Draw
}

func (s *rowSlots) begin(w *worker, j *Job, from, to int) {
	s.w, s.j, s.from, s.to = w, j, from, to
	if len(s.draws) < to-from {
		s.draws = slots.NewDraws(to-from, w.clock)
	}
	for k := range to - from {
		w.reset(&s.draws[k], j, from+k, 0)
	}
}

func (s *rowSlots) Len() int { return s.to - s.from }

// At panics if there is no slot k. A row beyond the range is another worker's, or in other memory.
func (s *rowSlots) At(k int) dataset.Slot {
	if uint(k) >= uint(s.Len()) {
		panic(fmt.Sprintf("loader: Slots.At(%d): want an index from 0 to %d", k, s.Len()-1))
	}
	return s.w.slot(s.j, s.from+k, &s.draws[k])
}
