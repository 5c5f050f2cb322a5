package dataset

import "fmt"

// A PanicError is the error that a panic of your own code becomes where samples are placed: in a
// dataset, a transform, a decoder, a sampler or a hook. Errors around it say whose code it was, and
// which sample it worked on.
type PanicError struct {
	Value any    // the argument of panic
	Stack []byte // of the panicking goroutine, as debug.Stack prints it
}

func (e *PanicError) Error() string { return fmt.Sprintf("panic: %v\n\n%s", e.Value, e.Stack) }

// Unwrap is the argument of panic if it was an error, otherwise nil.
func (e *PanicError) Unwrap() error {
	err, _ := e.Value.(error)
	return err
}
