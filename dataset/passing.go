package dataset

import "slices"

// MayPass reports whether err says nothing about the sample, because the same read may
// succeed later or in another run: it, or an error that it wraps, has a method Temporary
// that returns true. Such are errors of package objects after which it has given up, those
// that an object was replaced or a credential has expired, an exceeded deadline, those
// of the operating system if too many files are open, and steps of package transform that
// turn out to be wrong only once a sample is read (see transform.PassThrough).
//
// A loader ends with such an error even if it skips or replaces samples that fail: which
// samples it delivers must not depend on the time.
func MayPass(err error) bool {
	if e, ok := err.(interface{ Temporary() bool }); ok && e.Temporary() {
		return true
	}
	switch e := err.(type) {
	case interface{ Unwrap() error }:
		return MayPass(e.Unwrap())
	case interface{ Unwrap() []error }:
		return slices.ContainsFunc(e.Unwrap(), MayPass)
	}
	return false
}
