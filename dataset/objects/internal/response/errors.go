// Package response says what the responses of services mean for a read: whether an
// object is missing, forbidden or replaced, and whether to try again. Package objects
// and its modules for buckets share it.
package response

import (
	"errors"
	"io/fs"
	"time"
)

var (
	// ErrExpired is objects.ErrExpired.
	ErrExpired error = &outdated{text: "expired"}
	// ErrReplaced is objects.ErrReplaced.
	ErrReplaced error = &outdated{text: "replaced by another version", persists: true}
)

// An outdated error is of what the program knows of an object, not of its bytes: it may not
// come again in another run. See dataset.MayPass.
type outdated struct {
	text     string
	persists bool // for those who know the object from one listing
}

func (e *outdated) Error() string    { return e.text }
func (e *outdated) Temporary() bool  { return true }
func (e *outdated) Persistent() bool { return e.persists }

// Permanent is err as an error after which nobody tries again.
func Permanent(err error) error {
	if err == nil {
		return nil
	}
	return permanentError{err}
}

type permanentError struct{ error }

func (e permanentError) Unwrap() error { return e.error }

// Final reports whether it is of no use to try again after err.
func Final(err error) bool {
	_, permanent := errors.AsType[permanentError](err)
	return permanent ||
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

// Asked is how long the service asks to wait, according to err.
func Asked(err error) time.Duration {
	asked, _ := errors.AsType[retryError](err)
	return asked.after
}
