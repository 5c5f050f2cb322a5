package files

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
)

// Scanners is how many folders or headers are read at a time: network storage
// answers slowly, but many at once.
const Scanners = 16

// reports is how many errors are told in full.
const reports = 10

// Scan calls do with 0 to n-1, in so many goroutines at a time, and waits for
// all of them. It joins their errors in order, as [Join] does.
func Scan(n, goroutines int, do func(k int) error) error {
	errs := make([]error, n)
	var next atomic.Int64
	var group sync.WaitGroup
	for range min(goroutines, n) {
		group.Go(func() {
			for k := next.Add(1) - 1; k < int64(n); k = next.Add(1) - 1 {
				errs[k] = do(int(k))
			}
		})
	}
	group.Wait()
	return Join(errs)
}

// Join joins the errors, but after the first ten says only how many more there are.
func Join(errs []error) error {
	errs = slices.DeleteFunc(errs, func(err error) bool { return err == nil })
	if more := len(errs) - reports; more > 0 {
		errs = append(errs[:reports:reports], fmt.Errorf("and %d more errors", more))
	}
	return errors.Join(errs...)
}
