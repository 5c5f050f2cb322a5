package loader

import (
	"errors"
	"fmt"
	"strings"

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
