package dataset

import (
	"context"
	"errors"
	"io"
)

// openAll opens a Reader of every dataset, or of none.
func openAll(datasets []Dataset) ([]Reader, error) {
	readers := make([]Reader, 0, len(datasets))
	for _, ds := range datasets {
		r, err := ds.Open()
		if err != nil {
			return nil, errors.Join(err, closeAll(readers))
		}
		readers = append(readers, r)
	}
	return readers, nil
}

func closeAll(readers []Reader) error {
	var errs []error
	for _, r := range readers {
		errs = append(errs, r.Close())
	}
	return errors.Join(errs...)
}

// anyBatchReader reports whether one of the readers can place whole batches.
func anyBatchReader(readers []Reader) bool {
	for _, r := range readers {
		if _, ok := r.(BatchReader); ok {
			return true
		}
	}
	return false
}

// placeParts places a sample, without field f if r can leave it out.
func placeParts(ctx context.Context, r Reader, i, f int, dst Slot) (int, io.ReaderAt, error) {
	if p, ok := r.(PartReader); ok {
		return p.PlaceParts(ctx, i, f, dst)
	}
	return 0, nil, r.Place(ctx, i, dst)
}

// placeAll places samples in the fastest way that r offers.
func placeAll(ctx context.Context, r Reader, indices []int, dst Slots) error {
	if b, ok := r.(BatchReader); ok {
		return b.PlaceBatch(ctx, indices, dst)
	}
	for k, i := range indices {
		if err := r.Place(ctx, i, dst.At(k)); err != nil {
			return err
		}
	}
	return nil
}
