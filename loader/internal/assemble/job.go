package assemble

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

// A Job is a batch that workers assemble in a slab. They claim its rows one by one.
type Job struct {
	plan.Ref
	Slab *slab.Slab

	// Set by the worker that begins the batch, before it publishes the rows.
	ID      int64           // of all batches of the Team
	Context context.Context // of the loop
	Worker  int             // the worker that begins it
	Begun   time.Time
	told    bool // whether the hooks know the batch, and are to be told of its end

	rows
	Outcome
	After plan.Mark // where the loop is when the batch is delivered

	// The Team's mutex guards these.
	complete bool
	aborted  error // ends the loop in the place of the batch, which is never complete
}

// rows are those of a Job that workers claim.
type rows struct {
	claims atomic.Uint64 // number of rows, times 2³², plus the next row to claim
	left   atomic.Int64  // rows that are not finished

	mu     sync.Mutex
	failed []rowFailure
	broken error // ends the loop in the batch's place, also with Skip
}

// Outcome is what the worker that finishes the last row says of a batch.
type Outcome struct {
	Finisher int        // that worker; -1 before
	Rows     int        // number of good rows, which come first
	Failures []*Failure // samples that could not be placed
	Dropped  int        // samples that a service could not place
	Err      error      // takes the batch's place
	Passing  bool       // whether Err may pass: then it ends the loop also with Skip
}

// A Failure is a sample that could not be placed. Package loader has the error that it becomes.
type Failure struct {
	Index int
	Name  string
	Epoch int
	Batch int
	Err   error
}

func (f *Failure) Error() string { return f.Err.Error() }

func (f *Failure) Unwrap() error { return f.Err }

// A rowFailure is one of a row.
type rowFailure struct {
	*Failure
	row int
	may bool // whether the error may pass: then it ends the loop also with Skip
}

// publish opens the rows for claims.
func (j *Job) publish() {
	rows := len(j.Slab.Indices)
	j.left.Store(int64(rows))
	j.claims.Store(uint64(rows) << 32)
}

// claim takes up to n rows: from up to, but not including, to. Both are 0 when no rows are left.
func (j *Job) claim(n int) (from, to int) {
	claims := j.claims.Add(uint64(n))
	rows, next := int(claims>>32), int(claims&math.MaxUint32)
	if next-n >= rows {
		return 0, 0
	}
	return next - n, min(next, rows)
}

// size is the number of all rows to claim; 0 once the batch is complete.
func (j *Job) size() int { return int(j.claims.Load() >> 32) }

// unclaimed is the number of rows that no worker has claimed yet.
func (j *Job) unclaimed() int {
	claims := j.claims.Load()
	return max(0, int(claims>>32)-int(claims&math.MaxUint32))
}

// claimed is the number of rows that workers have claimed.
func (j *Job) claimed() int {
	claims := j.claims.Load()
	return min(int(claims>>32), int(claims&math.MaxUint32))
}

// countDown counts n rows as finished and reports whether they were the last ones.
func (j *Job) countDown(n int) bool { return n > 0 && j.left.Add(int64(-n)) == 0 }

func (j *Job) addFailure(f rowFailure) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.failed = append(j.failed, f)
}

// wrap adds the batch's epoch and number to an error.
func (j *Job) wrap(err error) error {
	return fmt.Errorf("loader: epoch %d, batch %d: %w", j.Epoch(), j.Number(), err)
}

// Epoch is the epoch that the batch belongs to.
func (j *Job) Epoch() int { return j.Plan.Epoch }

// Number is the batch's number in its epoch, from 0.
func (j *Job) Number() int { return j.Plan.Number(j.K) }

// breakOff records an error that ends the loop in the batch's place.
func (j *Job) breakOff(err error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.broken == nil {
		j.broken = err
	}
}

// seal makes the batch ready for delivery: failures are sorted, good rows moved together, and ragged fields joined. The
// worker that finished the last row calls it.
func (j *Job) seal(skip bool) {
	j.claims.Store(0)
	slices.SortStableFunc(j.failed, func(a, b rowFailure) int { return cmp.Compare(a.row, b.row) })
	for _, f := range j.failed {
		j.Failures = append(j.Failures, f.Failure)
	}
	j.Rows = len(j.Slab.Indices)
	var passing error // the first one
	if k := slices.IndexFunc(j.failed, func(f rowFailure) bool { return f.may }); k >= 0 {
		passing = j.failed[k].Failure
	}
	switch {
	case j.broken != nil:
		j.Err = j.broken
	case skip && passing != nil:
		j.Err, j.Passing = passing, true
	case skip:
		j.closeHoles()
	case len(j.failed) > 0:
		j.Err = j.failed[0].Failure
	}
	if j.Err == nil {
		if err := j.Slab.Pack(j.Rows); err != nil {
			j.Err = j.wrap(err)
		}
	}
}

// closeHoles moves good rows into the places of lost ones and keeps their order.
func (j *Job) closeHoles() {
	if len(j.failed) == 0 {
		return
	}
	lost := make(map[int]bool, len(j.failed))
	for _, f := range j.failed {
		lost[f.row] = true
	}
	to := 0
	for from := range j.Slab.Indices {
		if lost[from] {
			continue
		}
		if to < from {
			j.Slab.Move(to, from)
		}
		to++
	}
	j.Rows = to
	j.Slab.Indices = j.Slab.Indices[:to]
}
