package dataset

import "slices"

// MayPass reports whether err says nothing about the sample: it, or an error that it wraps, has
// a method Temporary that returns true. The same read may succeed later, or in another run. Such
// are all errors of an objects.Client except that an object is missing: also that access is
// forbidden, that an object was replaced, or that a bucket is missing. So are an exceeded deadline
// and errors of the operating system if too many files are open. [Persists] tells those that come
// again until the program is started anew.
//
// A loader ends with such an error even if it skips or replaces samples that fail: which
// samples it delivers must not depend on the time.
func MayPass(err error) bool {
	return anyOf(err, func(err error) bool {
		e, ok := err.(interface{ Temporary() bool })
		return ok && e.Temporary()
	})
}

// Persists reports whether it is of no use to try again in this process: err, or an error that
// it wraps, has a method Persistent that returns true. Such are errors that an object was
// replaced, whose new version only another listing knows. They are true for [MayPass], too.
func Persists(err error) bool {
	return anyOf(err, func(err error) bool {
		e, ok := err.(interface{ Persistent() bool })
		return ok && e.Persistent()
	})
}

// anyOf reports whether is is true for err, or for an error that it wraps.
func anyOf(err error, is func(error) bool) bool {
	if err == nil || is(err) {
		return err != nil
	}
	switch e := err.(type) {
	case interface{ Unwrap() error }:
		return anyOf(e.Unwrap(), is)
	case interface{ Unwrap() []error }:
		return slices.ContainsFunc(e.Unwrap(), func(err error) bool { return anyOf(err, is) })
	}
	return false
}
