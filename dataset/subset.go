package dataset

import (
	"context"
	"fmt"
	"io"
	"slices"
)

// Subset is the samples of ds at indices, in that order, as in PyTorch's Subset.
// An index may occur more than once. An index out of range is an error.
func Subset(ds Dataset, indices []int) (Dataset, error) {
	if err := needsLength("Subset", ds); err != nil {
		return nil, err
	}
	n := ds.Len()
	for k, i := range indices {
		if i < 0 || i >= n {
			return nil, fmt.Errorf("dataset: Subset: index %d at place %d: want one from 0 to %d", i, k, n-1)
		}
	}
	return &subset{ds, slices.Clone(indices)}, nil
}

// Indices are the indices in the underlying dataset of the samples of ds, if [Subset] or one of
// the splits made it, as PyTorch's Subset.indices: for the weights or labels of a part.
// Otherwise they are nil. The slice is a copy.
func Indices(ds Dataset) []int {
	if s, ok := ds.(*subset); ok {
		return slices.Clone(s.indices)
	}
	return nil
}

type subset struct {
	inner   Dataset
	indices []int
}

func (s *subset) Len() int   { return len(s.indices) }
func (s *subset) Spec() Spec { return s.inner.Spec() }

func (s *subset) Name(i int) string {
	if CheckIndex(i, s.Len()) != nil {
		return ""
	}
	return Name(s.inner, s.indices[i])
}

func (s *subset) Foresee(f Future) (stop func()) {
	return Foresee(s.inner, translated{f, func(indices []int) []int {
		inner := indices[:0]
		for _, i := range indices {
			if CheckIndex(i, s.Len()) == nil {
				inner = append(inner, s.indices[i])
			}
		}
		return inner
	}})
}

// translate appends the inner dataset's indices, up to the first that is out of range.
func (s *subset) translate(to, indices []int) ([]int, error) {
	for _, i := range indices {
		if err := CheckIndex(i, s.Len()); err != nil {
			return to, err
		}
		to = append(to, s.indices[i])
	}
	return to, nil
}

func (s *subset) Open() (Reader, error) {
	r, err := s.inner.Open()
	if err != nil {
		return nil, err
	}
	one := subsetReader{r, s}
	if b, ok := r.(BatchReader); ok {
		return &subsetBatchReader{one, b, nil}, nil
	}
	return one, nil
}

type subsetReader struct {
	Reader
	subset *subset
}

func (r subsetReader) Place(ctx context.Context, i int, dst Slot) error {
	if err := CheckIndex(i, r.subset.Len()); err != nil {
		return err
	}
	return r.Reader.Place(ctx, r.subset.indices[i], dst)
}

func (r subsetReader) PlaceParts(ctx context.Context, i, f int, dst Slot) (int, io.ReaderAt, error) {
	if err := CheckIndex(i, r.subset.Len()); err != nil {
		return 0, nil, err
	}
	return placeParts(ctx, r.Reader, r.subset.indices[i], f, dst)
}

type subsetBatchReader struct {
	subsetReader
	batch BatchReader
	inner []int // the batch's indices in the inner dataset
}

func (r *subsetBatchReader) PlaceBatch(ctx context.Context, indices []int, dst Slots) error {
	var err error
	if r.inner, err = r.subset.translate(r.inner[:0], indices); err != nil {
		return err
	}
	return r.batch.PlaceBatch(ctx, r.inner, dst)
}
