package objects

import (
	"errors"
	"fmt"
	"io/fs"
	"time"
)

var (
	// ErrExpired is the error if a presigned URL or a credential is no longer valid.
	ErrExpired = errors.New("expired")
	// ErrReplaced is the error if the object is not the version that was listed or
	// read before.
	ErrReplaced = errors.New("replaced by another version")
)

// Permanent is err as an error after which a [Client] does not try again.
func Permanent(err error) error {
	if err == nil {
		return nil
	}
	return permanentError{err}
}

type permanentError struct{ error }

func (e permanentError) Unwrap() error { return e.error }

// final reports whether it is of no use to try again after err.
func final(err error) bool {
	var p permanentError
	return errors.As(err, &p) ||
		errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission) ||
		errors.Is(err, ErrExpired) || errors.Is(err, ErrReplaced)
}

// RetryAfter is err of a service that asks not to try again before d has passed.
func RetryAfter(d time.Duration, err error) error {
	if err == nil {
		return nil
	}
	return retryError{err, d}
}

type retryError struct {
	error
	after time.Duration
}

func (e retryError) Unwrap() error { return e.error }

// An objectError names the object. Package io/fs names it in another way: see [cause].
type objectError struct {
	op, name string
	err      error
}

func (e *objectError) Error() string { return fmt.Sprintf("objects: %s %s: %v", e.op, e.name, e.err) }
func (e *objectError) Unwrap() error { return e.err }

// named is err of an operation on the object of that name.
func named(op, name string, err error) error {
	if err == nil {
		return nil
	}
	if name == "" {
		name = "all objects"
	}
	return &objectError{op, name, err}
}

// cause is err without the object's name, for an [fs.PathError], which has the name.
func cause(err error) error {
	if e, ok := err.(*objectError); ok {
		return e.err
	}
	return err
}
