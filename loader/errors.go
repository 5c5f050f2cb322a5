package loader

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/penstock-go/penstock/dataset"
)

var (
	// ErrClosed is the error of a loop over a closed Loader, and of the loop that
	// Close ends.
	ErrClosed = errors.New("loader: closed")
	// ErrBusy is the error of a loop while another one over the same Loader runs.
	ErrBusy = errors.New("loader: another loop over this loader is running")
)

// A SampleError says which sample could not be placed, and why. [errors.Is] and
// [errors.As] see through it.
type SampleError struct {
	Index int    // in the dataset
	Name  string // the dataset's name for it, such as the file's path; may be empty
	Epoch int
	Batch int   // number in the epoch, from 0
	Err   error // the cause
}

func (e *SampleError) Error() string {
	cause, name := fmt.Sprint(e.Err), ""
	if e.Name != "" && !strings.Contains(cause, e.Name) { // an error of a file names it
		name = " (" + e.Name + ")"
	}
	return fmt.Sprintf("loader: sample %d%s, epoch %d, batch %d: %s", e.Index, name, e.Epoch, e.Batch, cause)
}

func (e *SampleError) Unwrap() error { return e.Err }

// A PanicError is the error that a panic of user code becomes: of a dataset, a
// transform, a sampler, an [Allocator] or a hook. It prints with its stack.
type PanicError = dataset.PanicError

// A TimeoutError says that a batch was not complete within [Timeout], or that
// [Loader.Close] waited that long. It also says what the workers were doing, in one line.
// Where in the code a call hangs, a goroutine profile shows: its goroutine has the label "worker".
// errors.Is(err, os.ErrDeadlineExceeded) is true for it.
type TimeoutError struct {
	Epoch, Batch int        // the batch that the loop waited for; -1 and -1 from Close
	Stuck        []Activity // calls that have not returned, the longest first

	after time.Duration // the Timeout
	kept  int           // slabs that Batch.Keep holds
}

func (e *TimeoutError) Error() string {
	var b strings.Builder
	if e.Batch < 0 {
		fmt.Fprintf(&b, "loader: Close: calls have not returned for %v; their memory is freed when they do", e.after)
	} else {
		fmt.Fprintf(&b, "loader: epoch %d, batch %d: not ready after %v", e.Epoch, e.Batch, e.after)
	}
	if len(e.Stuck) == 0 && e.kept > 0 {
		fmt.Fprintf(&b, ": %d slabs are kept, release them or raise InFlight", e.kept)
	}
	for i, s := range e.Stuck {
		if i == 3 {
			fmt.Fprintf(&b, "; and %d more", len(e.Stuck)-i)
			break
		}
		fmt.Fprintf(&b, "; %v", s)
	}
	return b.String()
}

// Is reports whether target is [os.ErrDeadlineExceeded].
func (e *TimeoutError) Is(target error) bool { return target == os.ErrDeadlineExceeded }

// timedOut is the error of a loop that waited too long.
func (r *run) timedOut() error {
	l := r.l
	l.mu.Lock()
	e := &TimeoutError{after: l.cfg.timeout, kept: l.pool.Out() - len(l.orphans())}
	plannings := l.plannings
	epoch, planning := r.cursor.Planning()
	switch at := r.cursor.At(); {
	case len(r.inFlight) > 0:
		j := r.inFlight[0]
		e.Epoch, e.Batch = j.Plan.Epoch, j.Plan.Number(j.K)
		plannings = nil // the batch does not need them
	case planning:
		e.Epoch = epoch
	case at.Plan != nil:
		e.Epoch, e.Batch = at.Plan.Epoch, at.Plan.Number(at.K)
	}
	calls := activities(slices.Concat(l.workers, l.strays), plannings)
	l.mu.Unlock()
	e.Stuck = l.stuck(calls)
	return e
}

// stuck lists those activities that are calls, the longest first, with the names of their samples.
func (l *Loader) stuck(all []activity) []Activity {
	all = slices.DeleteFunc(all, func(a activity) bool { return !a.Calls() })
	slices.SortFunc(all, func(a, b activity) int { return cmp.Compare(b.For, a.For) })
	calls := make([]Activity, len(all))
	for i, a := range all {
		calls[i] = a.Activity
	}
	if len(calls) > 0 {
		l.nameInTime(calls, all)
	}
	return calls
}

// nameInTime gives the calls the names of their samples. It waits for the dataset no longer than the
// Timeout, because a name may have to wait for the call that hangs.
func (l *Loader) nameInTime(calls []Activity, of []activity) {
	names := make(chan string, len(calls)) // has room for all
	name := func() error {
		for _, a := range of {
			names <- l.name(a.Index, a.samples)
		}
		return nil
	}
	l.mu.Lock()
	l.background("naming samples", name, func(error) { close(names) })
	l.mu.Unlock()
	timer := time.NewTimer(l.cfg.timeout)
	defer timer.Stop()
	for i := range calls {
		select {
		case calls[i].Name = <-names: // empty if the dataset has ended the goroutine
		case <-timer.C:
			return
		}
	}
}
