package jpeg

import (
	"errors"
	"fmt"
	"io"
)

// An Error says what is wrong with a file and where. It wraps
// io.ErrUnexpectedEOF if the file ends too early, and errors.ErrUnsupported if it
// uses a part of the standard that the decoder does not implement.
type Error struct {
	Offset int // in bytes from the start of the file
	Err    error
}

func (e *Error) Error() string { return fmt.Sprintf("jpeg: at byte %d: %v", e.Offset, e.Err) }

func (e *Error) Unwrap() error { return e.Err }

func corrupt(offset int, format string, args ...any) error {
	return &Error{Offset: offset, Err: fmt.Errorf(format, args...)}
}

func truncated(offset int, where string) error {
	return &Error{Offset: offset, Err: fmt.Errorf("%s: %w", where, io.ErrUnexpectedEOF)}
}

func unsupported(offset int, what string) error {
	return &Error{Offset: offset, Err: fmt.Errorf("%s: %w", what, errors.ErrUnsupported)}
}
