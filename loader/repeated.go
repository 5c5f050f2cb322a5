package loader

import (
	"errors"
	"strings"
)

// A repeated is the error of a panic whose stack is in another error already. It prints without
// the stack.
type repeated struct {
	err   error
	panic *PanicError
}

func (r repeated) Error() string {
	return strings.Replace(r.err.Error(), "\n\n"+string(r.panic.Stack), "", 1)
}

func (r repeated) Unwrap() error { return r.err }

// listed is the error as a list of failures has it: of several panics at one place, only the
// first one prints its stack.
func (c *counts) listed(e *SampleError) *SampleError {
	var p *PanicError
	if !errors.As(e.Err, &p) {
		return e
	}
	place := placeOf(p.Stack)
	if place == "" {
		return e // of user code, with a stack of another form
	}
	if !c.panicked[place] {
		if c.panicked == nil {
			c.panicked = map[string]bool{}
		}
		c.panicked[place] = true
		return e
	}
	again := *e
	again.Err = repeated{e.Err, p}
	return &again
}

// placeOf is the lines of code in a stack from the panic up to the worker.
func placeOf(stack []byte) string {
	var place strings.Builder
	_, calls, _ := strings.Cut(string(stack), "\npanic(")
	for line := range strings.Lines(calls) {
		if strings.HasPrefix(line, "github.com/penstock-go/penstock/loader.(*worker)") {
			break
		}
		if strings.HasPrefix(line, "\t") {
			line, _, _ = strings.Cut(line, " +0x")
			place.WriteString(line)
		}
	}
	return place.String()
}
