package objects

import (
	"errors"
	"fmt"
	"io/fs"

	"github.com/penstock-go/penstock/dataset/objects/internal/response"
	"github.com/penstock-go/penstock/internal/figures"
)

var (
	// ErrExpired is the error if a presigned URL or a credential is no longer valid.
	ErrExpired = response.ErrExpired
	// ErrReplaced is the error if the object is not the version that was listed or
	// read before.
	ErrReplaced = response.ErrReplaced
)

// Permanent is err as an error after which a [Client] does not try again.
func Permanent(err error) error { return response.Permanent(err) }

// An objectError names the object. Package io/fs names it in another way: see [cause].
type objectError struct {
	op, name string
	err      error
}

func (e *objectError) Error() string {
	return fmt.Sprintf("objects: %s %s: %v", e.op, figures.OneLine(e.name), e.err)
}
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

// A passingError is an error of a store that says nothing about the object. See
// dataset.MayPass.
type passingError struct{ error }

func (e passingError) Unwrap() error   { return e.error }
func (e passingError) Temporary() bool { return true }

// final is err after which nobody tries again. Only a missing object counts as a damaged sample:
// anything else is an error of access, of the service, of the connection or of the program.
func final(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return passingError{err}
}

// cause is err without the object's name, for an [fs.PathError], which has the name.
func cause(err error) error {
	if e, ok := err.(*objectError); ok {
		return e.err
	}
	return err
}
