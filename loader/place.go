package loader

import (
	"fmt"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/internal/slots"
)

// placeRows places several rows by one call. After an error they are placed
// again one by one, to find out which are to blame.
func (w *worker) placeRows(j *job, from, to int) (err error) {
	for _, index := range j.indices[from:to] {
		if err := j.plan.inRange(index); err != nil {
			return err
		}
	}
	for row := from; w.l.ragged && row < to; row++ {
		j.slab.empty(row) // here, because a slot may be asked for several times
	}
	returned := false
	defer func() {
		w.call.end()
		w.clock.Stop()
		if !returned {
			err = w.interrupted(recover())
		}
	}()
	w.enter(j.indices[from])
	w.rows.begin(w, j, from, to)
	err = w.batch.PlaceBatch(w.ctx, j.indices[from:to:to], &w.rows)
	for row := from; err == nil && w.l.ragged && row < to; row++ {
		err = j.slab.checkRow(row)
	}
	returned = true
	return err
}

// place has the reader write a sample into row. A panic is an error.
func (w *worker) place(j *job, row, attempt, index int) (err error) {
	if err := j.plan.inRange(index); err != nil {
		return err
	}
	if w.reader == nil {
		if err := w.open(); err != nil {
			err = fmt.Errorf("loader: worker %d: open dataset: %w", w.id, err)
			j.breaks(err)
			return err
		}
	}
	returned := false
	defer func() {
		w.call.end()
		w.yield(w.clock.Stop())
		if !returned {
			err = w.interrupted(recover())
		}
	}()
	w.enter(index)
	if w.l.ragged {
		j.slab.empty(row)
	}
	w.reset(w.draw, j, row, attempt)
	err = w.reader.Place(w.ctx, index, w.slot(j, row, w.draw))
	if err == nil && w.l.ragged {
		err = j.slab.checkRow(row)
	}
	returned = true
	return err
}

// slot is the place of a row, with the random numbers of a draw.
func (w *worker) slot(j *job, row int, draw *slots.Draw) dataset.Slot {
	j.slab.cells(row, w.cells)
	return dataset.Slot(slots.New(w.cells, draw))
}

// reset makes draw that of a row. Another attempt at the row has another.
func (w *worker) reset(draw *slots.Draw, j *job, row, attempt int) {
	draw.Reset(w.l.cfg.seed+uint64(attempt)<<32, j.plan.epoch, j.draws[row])
}

// A rowSlots is some rows of a job as [dataset.Slots]. Every row has a draw of its
// own, whose random numbers go on where the slot is asked for again.
type rowSlots struct {
	w        *worker
	j        *job
	from, to int
	draws    []slots.Draw
}

func (s *rowSlots) begin(w *worker, j *job, from, to int) {
	s.w, s.j, s.from, s.to = w, j, from, to
	if len(s.draws) < to-from {
		s.draws = slots.NewDraws(to-from, w.clock)
	}
	for k := range to - from {
		w.reset(&s.draws[k], j, from+k, 0)
	}
}

func (s *rowSlots) Len() int { return s.to - s.from }

func (s *rowSlots) At(k int) dataset.Slot { return s.w.slot(s.j, s.from+k, &s.draws[k]) }
