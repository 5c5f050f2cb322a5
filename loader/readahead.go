package loader

import (
	"time"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/internal/slots"
)

// slowRead is a time that a read from memory does not take and one from a device does.
const slowRead = 200 * time.Microsecond

// A readAhead says whether its worker's reads have been slow lately, so that
// data which is in memory anyway is not asked for.
type readAhead struct {
	reads int64 // when it was last looked at
	total time.Duration
	fast  bool
}

// readAhead tells the dataset of the samples of a batch that is not yet in
// flight, when the worker begins batch j.
func (w *worker) readAhead(j *job) {
	ahead, ok := w.l.ds.(dataset.ReadAheader)
	if !ok || w.l.cfg.readAhead == 0 || w.l.cfg.readAhead >= j.plan.count-j.k || w.ahead.isFast(w.clock) {
		return
	}
	j.ahead, j.aheadDraws = j.plan.rows(j.k+w.l.cfg.readAhead, j.ahead[:0], j.aheadDraws[:0])
	ahead.ReadAhead(w.ctx, j.ahead)
}

// isFast looks at the stage "read", if the dataset reports one.
func (a *readAhead) isFast(clock *slots.Clock) bool {
	reads, total := clock.Total(dataset.StageRead)
	if n := reads - a.reads; n > 0 {
		a.fast = (total-a.total)/time.Duration(n) < slowRead
		a.reads, a.total = reads, total
	}
	return a.fast
}
