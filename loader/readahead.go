package loader

import (
	"sync"
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
	mean  time.Duration // of these; 0 if there were none yet
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
	w.tell(ahead, j.ahead)
}

// A telling knows whether the dataset takes long to be told what comes. It should not wait,
// but it has to open files, which is what takes long on some storage. Their opening again
// for the read takes as long, so that nothing is saved. All workers share it.
type telling struct {
	mu     sync.Mutex
	known  bool // whether the last call did not take long
	asking bool // whether a worker is finding out
	silent int  // batches that are not told
}

// silence is the number of batches after which the dataset is asked again.
const silence = 64

// tell tells the dataset the samples of a batch, unless that takes half as long as reading
// them. It finds out with a single sample.
func (w *worker) tell(ahead dataset.ReadAheader, indices []int) {
	n := w.l.telling.share(len(indices))
	if n == 0 {
		return
	}
	cheap := false
	defer func() { w.l.telling.took(cheap) }() // also if the dataset panics
	begun := time.Now()
	ahead.ReadAhead(w.ctx, indices[:n])
	cheap = time.Since(begun)/time.Duration(n) <= max(slowRead, w.ahead.mean/2)
	if cheap && n < len(indices) {
		ahead.ReadAhead(w.ctx, indices[n:])
	}
}

// share is how many of n samples the dataset is to be told at once.
func (t *telling) share(n int) int {
	t.mu.Lock()
	defer t.mu.Unlock()
	switch {
	case t.known:
		return n
	case t.silent > 0:
		t.silent--
		return 0
	case t.asking || n == 0:
		return 0
	}
	t.asking = true
	return 1
}

// took notes whether a call was cheap.
func (t *telling) took(cheap bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.asking = false
	if t.known = cheap; !cheap {
		t.silent = silence
	}
}

// isFast looks at the dataset's stage "read". Without that stage it reports false.
func (a *readAhead) isFast(clock *slots.Clock) bool {
	reads, total := clock.Total(dataset.StageRead)
	if n := reads - a.reads; n > 0 {
		a.mean = (total - a.total) / time.Duration(n)
		a.fast = a.mean < slowRead
		a.reads, a.total = reads, total
	}
	return a.fast
}
