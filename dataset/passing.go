package dataset

import "slices"

// MayPass reports whether err says nothing about the sample, so that the same read may succeed later
// or in another run: it, or an error that it wraps, has a method Temporary that returns true. A
// loader ends with such an error even if it skips or replaces samples that fail, because which
// samples it delivers must not depend on the time.
func MayPass(err error) bool {
	switch e := err.(type) {
	case nil:
		return false
	case interface{ Temporary() bool }:
		if e.Temporary() {
			return true
		}
	}
	switch e := err.(type) {
	case interface{ Unwrap() error }:
		return MayPass(e.Unwrap())
	case interface{ Unwrap() []error }:
		return slices.ContainsFunc(e.Unwrap(), MayPass)
	}
	return false
}
