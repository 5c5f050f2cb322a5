package loader

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/penstock-go/penstock/loader/internal/plan"
	"github.com/penstock-go/penstock/loader/internal/slab"
)

// A job is a batch that workers assemble in a slab. They claim its rows one by one.
type job struct {
	plan.Ref
	slab *slab.Slab

	// Set by the worker that begins the batch, before it publishes the rows.
	id     int64           // of all batches of the loader
	ctx    context.Context // of the run
	worker int             // the worker that begins it
	begun  time.Time
	traced *traceTask // in the execution trace, if one is taken
	told   bool       // whether the hooks know the batch, and are to be told of its end

	claims atomic.Uint64 // number of rows, times 2³², plus the next row to claim
	left   atomic.Int64  // rows that are not finished

	mu     sync.Mutex
	failed []failure
	broken error // ends the run in the batch's place, under any policy

	// Set by the worker that finishes the last row.
	finisher int   // that worker; -1 before
	rows     int   // number of good rows, which come first
	dropped  int   // samples that a service could not place
	err      error // takes the batch's place

	// The loader's mutex guards these.
	complete bool
	strays   int  // workers that became strays while they worked on the batch
	orphan   bool // the run has ended, and the last of these strays gives the slab back
}

// A failure is a sample that could not be placed.
type failure struct {
	row  int
	lost bool // whether no replacement took its place
	err  *SampleError
	may  bool // whether the error may pass: then it ends the run under any policy
}

// publish opens the rows for claims.
func (j *job) publish() {
	rows := len(j.slab.Indices)
	j.left.Store(int64(rows))
	j.claims.Store(uint64(rows) << 32)
}

// claim takes up to n rows: from up to, but not including, to. Both are 0 when no
// rows are left. One atomic number holds the number of rows and the next one, so that
// a late worker claims nothing of a batch that is over.
func (j *job) claim(n int) (from, to int) {
	claims := j.claims.Add(uint64(n))
	rows, next := int(claims>>32), int(claims&math.MaxUint32)
	if next-n >= rows {
		return 0, 0
	}
	return next - n, min(next, rows)
}

// claimRest takes all rows that are left, and returns their number.
func (j *job) claimRest() int {
	for {
		claims := j.claims.Load()
		rows, next := claims>>32, claims&math.MaxUint32
		if next >= rows {
			return 0
		}
		if j.claims.CompareAndSwap(claims, rows<<32|rows) {
			return int(rows - next)
		}
	}
}

// size is the number of all rows to claim.
func (j *job) size() int { return int(j.claims.Load() >> 32) }

// unclaimed is the number of rows that no worker has claimed yet.
func (j *job) unclaimed() int {
	claims := j.claims.Load()
	return max(0, int(claims>>32)-int(claims&math.MaxUint32))
}

// claimed is the number of rows that workers have claimed.
func (j *job) claimed() int {
	claims := j.claims.Load()
	return min(int(claims>>32), int(claims&math.MaxUint32))
}

// finished counts n rows as finished and reports whether they were the last ones.
func (j *job) finished(n int) bool { return n > 0 && j.left.Add(int64(-n)) == 0 }

func (j *job) fail(f failure) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.failed = append(j.failed, f)
}

// refuse completes a batch that could not be begun, with the error in its place.
func (j *job) refuse(err error) {
	j.err, j.complete = err, true
}

// named adds the batch's epoch and number to an error.
func (j *job) named(err error) error {
	return fmt.Errorf("loader: epoch %d, batch %d: %w", j.Plan.Epoch, j.Plan.Number(j.K), err)
}

// breaks records an error that ends the run in the batch's place.
func (j *job) breaks(err error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.broken == nil {
		j.broken = err
	}
}

// seal makes the batch ready for delivery: failures are sorted, good rows moved
// together, and ragged fields joined. The worker that finished the last row calls
// it.
func (j *job) seal(policy Policy) {
	j.claims.Store(0)
	slices.SortStableFunc(j.failed, func(a, b failure) int { return cmp.Compare(a.row, b.row) })
	j.rows = len(j.slab.Indices)
	switch {
	case j.broken != nil:
		j.err = j.broken
	case policy != Stop && j.passing() != nil:
		j.err = j.passing()
	case policy == Skip:
		j.closeHoles()
	default:
		j.err = j.batchError()
	}
	if j.err == nil {
		if err := j.slab.Pack(j.rows); err != nil {
			j.err = j.named(err)
		}
	}
}

// batchError is the error of the batch: that of its first row that is lost.
func (j *job) batchError() error {
	for _, f := range j.failed {
		if f.lost {
			return f.err
		}
	}
	return nil
}

// passing is the first error that may pass.
func (j *job) passing() error {
	for _, f := range j.failed {
		if f.may {
			return f.err
		}
	}
	return nil
}

// closeHoles moves good rows into the places of lost ones and keeps their order.
func (j *job) closeHoles() {
	if len(j.failed) == 0 {
		return
	}
	lost := make(map[int]bool, len(j.failed))
	for _, f := range j.failed {
		lost[f.row] = f.lost
	}
	to := 0
	for from := range j.slab.Indices {
		if lost[from] {
			continue
		}
		if to < from {
			j.slab.Move(to, from)
		}
		to++
	}
	j.rows = to
	j.slab.Indices = j.slab.Indices[:to]
}
