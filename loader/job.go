package loader

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// A job is a batch under construction: rows that workers claim one by one, in a
// slab. There is one job per slab, reused from batch to batch.
type job struct {
	slab *slab

	// Set by the worker that begins the batch, before it publishes the rows.
	seq     int // in the run
	plan    *plan
	k       int // in the plan
	worker  int // that begins it
	indices []int
	draws   []int
	begun   time.Time

	ahead, aheadDraws []int // scratch of the worker that begins the batch

	claims atomic.Uint64 // rows in all, times 2³², plus the next row to claim
	left   atomic.Int64  // rows that are not finished

	mu     sync.Mutex
	failed []failure
	broken error // ends the run in the batch's place, whatever the policy

	// Set by the worker that finishes the last row.
	rows int // that are good; they come first
	err  error

	// The loader's mutex guards these.
	complete bool
	strays   int  // workers that are left behind in the middle of it
	orphan   bool // the run has ended; the last of strays gives the slab back
}

// A failure is a sample that could not be placed.
type failure struct {
	row  int
	lost bool // no replacement took its place
	err  *SampleError
}

// publish opens the rows for claims.
func (j *job) publish() {
	j.failed = j.failed[:0]
	j.broken, j.err = nil, nil
	j.left.Store(int64(len(j.indices)))
	j.claims.Store(uint64(len(j.indices)) << 32)
}

// claim takes up to n rows: [from, to). Both are 0 when no rows are left.
//
// A worker may come late, when the job has moved on to another batch. Then it
// claims a row of that one, or none while it is unpublished; both are right,
// because one atomic number says how many rows there are and which is next.
func (j *job) claim(n int) (from, to int) {
	claims := j.claims.Add(uint64(n))
	rows, next := int(claims>>32), int(claims&math.MaxUint32)
	if next-n >= rows {
		return 0, 0
	}
	return next - n, min(next, rows)
}

// size is how many rows there are to claim in all. Like claim it may be asked
// for late.
func (j *job) size() int { return int(j.claims.Load() >> 32) }

// unclaimed is how many rows nobody works on yet.
func (j *job) unclaimed() int {
	claims := j.claims.Load()
	return max(0, int(claims>>32)-int(claims&math.MaxUint32))
}

// finished counts n rows as done and reports whether they were the last.
func (j *job) finished(n int) bool { return n > 0 && j.left.Add(int64(-n)) == 0 }

func (j *job) fail(f failure) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.failed = append(j.failed, f)
}

// refuse makes it a batch that could not be begun.
func (j *job) refuse(err error) {
	j.indices, j.failed, j.rows = j.indices[:0], j.failed[:0], 0
	j.err, j.complete = err, true
}

// named is an error of the batch.
func (j *job) named(err error) error {
	return fmt.Errorf("loader: epoch %d, batch %d: %w", j.plan.epoch, j.plan.number(j.k), err)
}

// breaks records what ends the run in the batch's place.
func (j *job) breaks(err error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.broken == nil {
		j.broken = err
	}
}

// seal makes the batch ready for delivery: failures in order, rows without
// holes, ragged fields joined. It belongs to whoever finished the last row.
func (j *job) seal(policy Policy) {
	j.claims.Store(0)
	slices.SortStableFunc(j.failed, func(a, b failure) int { return cmp.Compare(a.row, b.row) })
	j.rows = len(j.indices)
	switch {
	case j.broken != nil:
		j.err = j.broken
	case policy == Skip:
		j.closeHoles()
	default:
		j.err = j.batchError()
	}
	if j.err == nil {
		j.err = j.slab.pack(j.rows)
	}
}

// batchError is the failure that stands for the batch: that of its first row.
func (j *job) batchError() error {
	for _, f := range j.failed {
		if f.lost {
			return f.err
		}
	}
	return nil
}

// closeHoles moves good rows into the places of lost ones, keeping their order.
func (j *job) closeHoles() {
	if len(j.failed) == 0 {
		return
	}
	lost := make(map[int]bool, len(j.failed))
	for _, f := range j.failed {
		lost[f.row] = f.lost
	}
	to := 0
	for from := range len(j.indices) {
		if lost[from] {
			continue
		}
		if to < from {
			j.slab.move(to, from)
			j.indices[to] = j.indices[from]
		}
		to++
	}
	j.rows = to
	j.indices = j.indices[:to]
}
