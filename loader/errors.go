package loader

import (
	"errors"
	"fmt"
	"strings"
)

var (
	// ErrClosed is the error of loops over a closed Loader.
	ErrClosed = errors.New("loader: closed")
	// ErrBusy is the error of a loop while another one over the same Loader runs.
	ErrBusy = errors.New("loader: another loop over this loader is running")
	// ErrGoexit is a sample's error when placing it called runtime.Goexit, as
	// testing.T.FailNow does.
	ErrGoexit = errors.New("runtime.Goexit was called")
)

// A SampleError says which sample could not be placed, and why. [errors.Is] and
// [errors.As] see through it.
type SampleError struct {
	Index int    // in the dataset
	Name  string // as the dataset names it, such as the file's path; may be empty
	Epoch int
	Batch int // in the epoch
	Err   error
}

func (e *SampleError) Error() string {
	cause, name := fmt.Sprint(e.Err), ""
	if e.Name != "" && !strings.Contains(cause, e.Name) { // an error of a file names it
		name = " (" + e.Name + ")"
	}
	return fmt.Sprintf("loader: sample %d%s, epoch %d, batch %d: %s", e.Index, name, e.Epoch, e.Batch, cause)
}

func (e *SampleError) Unwrap() error { return e.Err }

// A PanicError is a panic in a dataset, a sampler or a transform, as an error.
type PanicError struct {
	Value any    // what was given to panic
	Stack []byte // of the panicking goroutine, as debug.Stack prints it
}

func (e *PanicError) Error() string { return fmt.Sprintf("panic: %v\n\n%s", e.Value, e.Stack) }

// Unwrap is the value given to panic, if it was an error.
func (e *PanicError) Unwrap() error {
	err, _ := e.Value.(error)
	return err
}

// A LimitError ends a run in which more samples failed than [OnError] allows.
type LimitError struct {
	Failed int // samples, so far
	Limit  int
	Err    error // the last failure of the batch in which the limit was exceeded
}

func (e *LimitError) Error() string {
	return fmt.Sprintf("loader: %d samples failed, OnError allows %d; the last: %v", e.Failed, e.Limit, e.Err)
}

func (e *LimitError) Unwrap() error { return e.Err }
