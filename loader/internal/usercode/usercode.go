// Package usercode calls code of users that may panic.
package usercode

import (
	"errors"
	"runtime/debug"

	"github.com/penstock-go/penstock/dataset"
)

// ErrGoexit is the cause of an error if code of a user has called runtime.Goexit, as testing.T.FailNow does.
var ErrGoexit = errors.New("runtime.Goexit was called")

// Call calls f. A panic becomes a [dataset.PanicError].
func Call(f func() error) (err error) {
	defer Recover(&err)
	return f()
}

// Recover is for defer: a panic becomes the error, a [dataset.PanicError].
func Recover(err *error) {
	if v := recover(); v != nil {
		*err = &dataset.PanicError{Value: v, Stack: debug.Stack()}
	}
}
