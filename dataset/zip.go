package dataset

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
)

// Zip joins datasets of equal length side by side, as PyTorch's StackDataset
// does: sample i has the fields of sample i of every dataset. Two datasets must
// not have a field of the same name; [Rename] changes one. The name of a sample
// is the first that one of the datasets gives.
func Zip(datasets ...Dataset) (Dataset, error) {
	if len(datasets) == 0 {
		return nil, errors.New("dataset: Zip of no datasets")
	}
	if k := slices.Index(datasets, nil); k >= 0 {
		return nil, fmt.Errorf("dataset: Zip: dataset %d is nil", k)
	}
	z := &zip{children: slices.Clone(datasets), n: datasets[0].Len()}
	var errs []error
	for k, ds := range datasets {
		if err := needsLength(fmt.Sprintf("Zip: dataset %d", k), ds); err != nil {
			errs = append(errs, err)
		}
		if n := ds.Len(); n != z.n {
			errs = append(errs, fmt.Errorf("dataset: Zip: dataset %d has %d samples, dataset 0 has %d", k, n, z.n))
		}
		for _, f := range ds.Spec() {
			if z.spec.Index(f.Name) >= 0 {
				errs = append(errs, fmt.Errorf("dataset: Zip: dataset %d has another field %q: Rename one of them", k, f.Name))
			}
			z.spec = append(z.spec, f)
		}
		z.ends = append(z.ends, len(z.spec))
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	if err := z.spec.Validate(); err != nil {
		return nil, err
	}
	return z, nil
}

type zip struct {
	children []Dataset
	spec     Spec
	ends     []int // of every child, in fields
	n        int
}

func (z *zip) Len() int   { return z.n }
func (z *zip) Spec() Spec { return z.spec }

// fields is the part of a slot that belongs to child k.
func (z *zip) fields(k int, s Slot) Slot {
	start := 0
	if k > 0 {
		start = z.ends[k-1]
	}
	return s.Fields(start, z.ends[k])
}

func (z *zip) Name(i int) string {
	if CheckIndex(i, z.n) != nil {
		return ""
	}
	for _, ds := range z.children {
		if name := Name(ds, i); name != "" {
			return name
		}
	}
	return ""
}

// failed adds the name of child k's sample i to err, unless z gives sample i that
// name.
func (z *zip) failed(k, i int, err error) error {
	if name := Name(z.children[k], i); name != "" && name != z.Name(i) {
		return wrap(fmt.Sprintf("Zip: dataset %d (%s)", k, name), err)
	}
	return err
}

func (z *zip) Foresee(f Future) (stop func()) {
	return foreseeAll(z.children, func(int) Future { return f })
}

func (z *zip) Open() (Reader, error) {
	readers, err := openAll(z.children)
	if err != nil {
		return nil, err
	}
	one := zipReader{z, readers}
	if anyBatchReader(readers) {
		return &zipBatchReader{zipReader: one}, nil
	}
	return one, nil
}

type zipReader struct {
	zip     *zip
	readers []Reader
}

func (r zipReader) Place(ctx context.Context, i int, dst Slot) error {
	if err := CheckIndex(i, r.zip.n); err != nil {
		return err
	}
	for k, reader := range r.readers {
		if err := reader.Place(ctx, i, r.zip.fields(k, dst)); err != nil {
			return r.zip.failed(k, i, err)
		}
	}
	return nil
}

// PlaceParts leaves field f out if the dataset that has it can. The others place theirs.
func (r zipReader) PlaceParts(ctx context.Context, i, f int, dst Slot) (n int, parts io.ReaderAt, err error) {
	if err := CheckIndex(i, r.zip.n); err != nil {
		return 0, nil, err
	}
	start := 0
	for k, reader := range r.readers {
		own := r.zip.fields(k, dst)
		if f >= start && f < r.zip.ends[k] {
			n, parts, err = placeParts(ctx, reader, i, f-start, own)
		} else {
			err = reader.Place(ctx, i, own)
		}
		start = r.zip.ends[k]
		if err != nil {
			return 0, nil, r.zip.failed(k, i, err)
		}
	}
	return n, parts, nil
}

func (r zipReader) Close() error { return closeAll(r.readers) }

type zipBatchReader struct {
	zipReader
	slots fieldSlots
}

func (r *zipBatchReader) PlaceBatch(ctx context.Context, indices []int, dst Slots) error {
	defer func() { r.slots = fieldSlots{} }()
	for k, reader := range r.readers {
		r.slots = fieldSlots{dst, r.zip, k}
		if err := placeAll(ctx, reader, indices, &r.slots); err != nil {
			return err
		}
	}
	return nil
}

// fieldSlots are one child's fields of a batch's slots.
type fieldSlots struct {
	all   Slots
	zip   *zip
	child int
}

func (s *fieldSlots) Len() int      { return s.all.Len() }
func (s *fieldSlots) At(k int) Slot { return s.zip.fields(s.child, s.all.At(k)) }
