package files

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
)

// Scanners is how many folders or headers are read at a time. Network storage has a
// high latency but answers many requests at once.
const Scanners = 16

// reports is how many errors are reported in full.
const reports = 10

// Scan calls do with 0 to n-1 in that many goroutines and waits for all calls. It
// joins their errors in order, as [Join] does.
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

// Join joins the first ten errors. It only counts the others.
func Join(errs []error) error {
	errs = slices.DeleteFunc(errs, func(err error) bool { return err == nil })
	if more := len(errs) - reports; more > 0 {
		errs = append(errs[:reports:reports], fmt.Errorf("and %d more errors", more))
	}
	return errors.Join(errs...)
}
