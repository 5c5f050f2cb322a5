package loader

import (
	"time"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/internal/slots"
)

// slowRead is the least average time of reads for which reading ahead helps. Reads
// from memory are faster, reads from a device slower.
const slowRead = 200 * time.Microsecond

// A readAhead knows whether its worker's recent reads were fast, because data that
// is in memory need not be read ahead.
type readAhead struct {
	reads int64         // number of reads up to the last look
	total time.Duration // of these reads
	fast  bool          // whether the reads between the last two looks were fast
}

// readAhead is called when the worker begins batch j. It tells the dataset the
// samples of a later batch.
func (w *worker) readAhead(j *job) {
	ahead, ok := w.l.ds.(dataset.ReadAheader)
	distance := w.l.distance()
	if !ok || distance == 0 || distance >= j.plan.count()-j.k || w.ahead.isFast(w.clock) {
		return
	}
	j.ahead, j.aheadDraws = j.plan.rows(j.k+distance, j.ahead[:0], j.aheadDraws[:0])
	ahead.ReadAhead(w.ctx, j.ahead)
}

// isFast looks at the dataset's stage "read". Without that stage it reports false.
func (a *readAhead) isFast(clock *slots.Clock) bool {
	reads, total := clock.Total(dataset.StageRead)
	if n := reads - a.reads; n > 0 {
		a.fast = (total-a.total)/time.Duration(n) < slowRead
		a.reads, a.total = reads, total
	}
	return a.fast
}
