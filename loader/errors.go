package loader

import (
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/penstock-go/penstock/loader/internal/assemble"
)

// ErrClosed is the error of a loop over a closed Loader, and of the loop that Close ends.
var ErrClosed = assemble.ErrClosed

// A SampleError says which sample could not be placed, and why. [errors.Is] and [errors.As] see through it.
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

// A TimeoutError says that a batch was not complete within [Timeout], or that [Loader.Close] waited that long, and which
// calls have not returned. Where in the code a call hangs, a goroutine profile shows: its goroutine has the label
// "worker". errors.Is(err, os.ErrDeadlineExceeded) is true for it.
type TimeoutError struct{ text string }

func (e *TimeoutError) Error() string { return e.text }

// Is reports whether target is [os.ErrDeadlineExceeded].
func (e *TimeoutError) Is(target error) bool { return target == os.ErrDeadlineExceeded }

// public is the error that users of the loader know.
func (l *Loader) public(err error) error {
	switch e := err.(type) {
	case *assemble.Failure:
		return (*SampleError)(e)
	case *assemble.Timeout:
		return l.timedOut(e)
	}
	return err
}

// timedOut is the error of a loop, or of Close, that waited too long.
func (l *Loader) timedOut(e *assemble.Timeout) *TimeoutError {
	var b strings.Builder
	if e.Batch < 0 {
		fmt.Fprintf(&b, "loader: Close: calls have not returned for %v; their memory is freed when they do", l.cfg.timeout)
	} else {
		fmt.Fprintf(&b, "loader: epoch %d, batch %d: not ready after %v", e.Epoch, e.Batch, l.cfg.timeout)
	}
	if len(e.Stuck) == 0 && e.Kept > 0 {
		fmt.Fprintf(&b, ": %d slabs are kept, release them or raise InFlight", e.Kept)
	}
	for i, a := range e.Stuck {
		if i == 3 {
			fmt.Fprintf(&b, "; and %d more", len(e.Stuck)-i)
			break
		}
		fmt.Fprintf(&b, "; %v", Activity(a))
	}
	return &TimeoutError{b.String()}
}

// An Activity is what a goroutine of a loader does at the moment.
type Activity struct {
	Worker int    // the worker's number; -1 for the loop itself and for a goroutine that plans an epoch
	Doing  string // such as "placing a sample", "waiting for memory" or "running the loop body"; empty between two activities

	Epoch, Batch int    // the batch that the worker works on; -1 and -1 if it waits
	Index        int    // the sample that is placed; -1 if none is
	Name         string // the dataset's name for the sample; may be empty
	Stage        string // the stage that the dataset reports, such as read or decode; may be empty

	// For is how long this has lasted. With neither a [Timeout] nor hooks, calls are not timed one by one, and count
	// from when the worker began with the batch.
	For time.Duration
}

// String describes the activity, as in "worker 0: sample 5 (cat.jpg) for 1m0s in stage read".
func (a Activity) String() string {
	var b strings.Builder
	if a.Worker >= 0 {
		fmt.Fprintf(&b, "worker %d: ", a.Worker)
	}
	if a.Index >= 0 {
		fmt.Fprintf(&b, "sample %d", a.Index)
	} else {
		b.WriteString(a.Doing)
	}
	if a.Name != "" {
		fmt.Fprintf(&b, " (%s)", a.Name)
	}
	fmt.Fprintf(&b, " for %v", a.For.Round(time.Millisecond))
	if a.Stage != "" {
		fmt.Fprintf(&b, " in stage %s", a.Stage)
	}
	return b.String()
}

// Calls reports whether the goroutine is in a call of the dataset, the sampler or a hook, or waits for samples of a
// dataset of unknown length.
func (a Activity) Calls() bool { return assemble.Activity(a).Calls() }

// Working says what the loop and the workers are doing: first the loop, if one runs, then the workers by number, then
// goroutines that plan epochs. It may be called at any time, by any goroutine. It calls the dataset for the names of
// samples.
func (l *Loader) Working() []Activity {
	var all []Activity
	if loop, ok := l.counts.loop(); ok {
		all = append(all, loop)
	}
	for _, a := range l.team.Activities() {
		all = append(all, Activity(a))
	}
	return all
}
