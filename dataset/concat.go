package dataset

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"sort"
)

// Concat joins datasets one after the other, as PyTorch's ConcatDataset does.
// Their specs must be equal, kinds included. Every Reader opens all of the datasets.
func Concat(datasets ...Dataset) (Dataset, error) {
	if len(datasets) == 0 {
		return nil, errors.New("dataset: Concat of no datasets")
	}
	if k := slices.Index(datasets, nil); k >= 0 {
		return nil, fmt.Errorf("dataset: Concat: dataset %d is nil", k)
	}
	c := &concat{children: slices.Clone(datasets)}
	want := datasets[0].Spec()
	var errs []error
	n := 0
	for k, ds := range datasets {
		if err := needsLength(fmt.Sprintf("Concat: dataset %d", k), ds); err != nil {
			errs = append(errs, err)
		}
		if got := ds.Spec(); !sameSpec(got, want) {
			errs = append(errs, fmt.Errorf("dataset: Concat: dataset %d has the fields %v, dataset 0 has %v", k, got, want))
		} else if err := sameKinds(got, want); err != nil {
			errs = append(errs, fmt.Errorf("dataset: Concat: dataset %d: %w in dataset 0", k, err))
		}
		n += ds.Len()
		c.ends = append(c.ends, n)
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	return c, nil
}

// sameKinds is the error of a field that is of one kind in got, and of another one in want.
func sameKinds(got, want Spec) error {
	for k, f := range got {
		if w := want[k]; f.Kind != w.Kind || f.Of != w.Of {
			return fmt.Errorf("field %q is %s, but %s", f.Name, f.meaning(), w.meaning())
		}
	}
	return nil
}

// meaning is the field's kind, and to what it belongs.
func (f Field) meaning() string {
	if f.Of == "" {
		return f.Kind.String()
	}
	return fmt.Sprintf("%v of %q", f.Kind, f.Of)
}

// sameSpec reports whether samples of both have the same memory.
func sameSpec(a, b Spec) bool {
	return slices.EqualFunc(a, b, func(a, b Field) bool {
		return a.Name == b.Name && a.Dtype == b.Dtype && a.Ragged == b.Ragged && slices.Equal(a.Shape, b.Shape)
	})
}

type concat struct {
	children []Dataset
	ends     []int // of every child, in samples
}

func (c *concat) Len() int   { return c.ends[len(c.ends)-1] }
func (c *concat) Spec() Spec { return c.children[0].Spec() }

// locate finds the dataset of sample i, which must be in range, and its index there.
func (c *concat) locate(i int) (child, local int) {
	child = sort.SearchInts(c.ends, i+1)
	if child > 0 {
		i -= c.ends[child-1]
	}
	return child, i
}

func (c *concat) Name(i int) string {
	if CheckIndex(i, c.Len()) != nil {
		return ""
	}
	child, local := c.locate(i)
	return Name(c.children[child], local)
}

func (c *concat) Foresee(f Future) (stop func()) {
	return foreseeAll(c.children, func(child int) Future {
		return translated{f, func(indices []int) []int {
			own := indices[:0]
			for _, i := range indices {
				if CheckIndex(i, c.Len()) != nil {
					continue
				}
				if at, local := c.locate(i); at == child {
					own = append(own, local)
				}
			}
			return own
		}}
	})
}

// part is what one child has to place of a batch.
type part struct {
	indices []int // in the child
	rows    []int // in the batch
}

// divide appends every index to its child's part, up to the first that is out of range.
func (c *concat) divide(parts []part, indices []int) error {
	for row, i := range indices {
		if err := CheckIndex(i, c.Len()); err != nil {
			return err
		}
		child, local := c.locate(i)
		parts[child].indices = append(parts[child].indices, local)
		parts[child].rows = append(parts[child].rows, row)
	}
	return nil
}

func (c *concat) Open() (Reader, error) {
	readers, err := openAll(c.children)
	if err != nil {
		return nil, err
	}
	one := concatReader{c, readers}
	if anyBatchReader(readers) {
		return &concatBatchReader{concatReader: one, parts: make([]part, len(readers))}, nil
	}
	return one, nil
}

type concatReader struct {
	concat  *concat
	readers []Reader
}

func (r concatReader) Place(ctx context.Context, i int, dst Slot) error {
	if err := CheckIndex(i, r.concat.Len()); err != nil {
		return err
	}
	child, local := r.concat.locate(i)
	return r.readers[child].Place(ctx, local, dst)
}

func (r concatReader) PlaceParts(ctx context.Context, i, f int, dst Slot) (int, io.ReaderAt, error) {
	if err := CheckIndex(i, r.concat.Len()); err != nil {
		return 0, nil, err
	}
	child, local := r.concat.locate(i)
	return placeParts(ctx, r.readers[child], local, f, dst)
}

func (r concatReader) Close() error { return closeAll(r.readers) }

type concatBatchReader struct {
	concatReader
	parts []part
	slots someSlots
}

func (r *concatBatchReader) PlaceBatch(ctx context.Context, indices []int, dst Slots) error {
	for k := range r.parts {
		r.parts[k].indices, r.parts[k].rows = r.parts[k].indices[:0], r.parts[k].rows[:0]
	}
	if err := r.concat.divide(r.parts, indices); err != nil {
		return err
	}
	defer func() { r.slots = someSlots{} }()
	for k, p := range r.parts {
		if len(p.indices) == 0 {
			continue
		}
		r.slots = someSlots{dst, p.rows}
		if err := placeAll(ctx, r.readers[k], p.indices, &r.slots); err != nil {
			return err
		}
	}
	return nil
}

// someSlots are some rows of a batch.
type someSlots struct {
	all  Slots
	rows []int
}

func (s *someSlots) Len() int      { return len(s.rows) }
func (s *someSlots) At(k int) Slot { return s.all.At(s.rows[k]) }
