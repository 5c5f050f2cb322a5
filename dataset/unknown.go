package dataset

import (
	"context"
	"errors"
	"fmt"
)

// Unknown is the Len of a dataset whose number of samples is known only at its end, if it
// has one: PyTorch calls it an IterableDataset. Such a dataset is an [Awaiter]. Package
// stream makes one. A loader reads it, and [Map], [Select], [Rename] and
// transform.Images pass it on. What needs a length refuses it: [Concat], [Zip],
// [Subset], [Cached], splits, and functions that write datasets.
const Unknown = -1

// An Awaiter is a Dataset whose Len is [Unknown]. Its samples are numbered in the order
// in which a loader takes them.
type Awaiter interface {
	// Await waits until the samples 0 to n-1 can be placed, or until it is known that
	// there are fewer. It returns how many samples can be placed now. If ended is true,
	// there will never be more. Place of these samples does not wait for others.
	//
	// A loader that has nothing else to do closes idle while it waits: then its loop body
	// does not run. A dataset that waits for something that the loop body does, such as
	// giving memory back, returns an error then, instead of waiting for ever.
	//
	// Await returns soon after ctx is done. An error ends the loop after the batches that
	// are complete. Several goroutines may call Await at once.
	Await(ctx context.Context, n int, idle <-chan struct{}) (have int, ended bool, err error)
}

// Await asks ds if it is an [Awaiter]. Datasets that wrap another one use it. A dataset
// with a known length has ended.
func Await(ctx context.Context, ds Dataset, n int, idle <-chan struct{}) (have int, ended bool, err error) {
	switch a, ok := ds.(Awaiter); {
	case ds.Len() >= 0:
		return ds.Len(), true, nil
	case ok:
		return a.Await(ctx, n, idle)
	}
	return 0, false, fmt.Errorf("dataset: Len of %T is %d, and it is not an Awaiter", ds, ds.Len())
}

// errUnknown is the error of what needs to know the length of a dataset.
var errUnknown = errors.New("its length is unknown, because it is read from a stream")

// given reports an error if there is no dataset.
func given(what string, ds Dataset) error {
	if ds == nil {
		return fmt.Errorf("dataset: %s: the dataset is nil", what)
	}
	return nil
}

// needsLength reports an error if there is no dataset, or if its length is not known.
func needsLength(what string, ds Dataset) error {
	if err := given(what, ds); err != nil {
		return err
	}
	if ds.Len() < 0 {
		return fmt.Errorf("dataset: %s: %T: %w", what, ds, errUnknown)
	}
	return nil
}
