package transform

import (
	"fmt"
	"runtime/debug"

	"github.com/penstock-go/penstock/dataset"
)

// guard calls code of the user that works on images of this field. A panic is an error, with its
// stack.
func guard(field string, call func() error) (err error) {
	defer guarded(field, &err)
	return call()
}

// guarded is deferred where code of the user may panic, and makes an error of that.
func guarded(field string, err *error) {
	if v := recover(); v != nil {
		*err = fmt.Errorf("field %q: %w", field, &dataset.PanicError{Value: v, Stack: debug.Stack()})
	}
}
