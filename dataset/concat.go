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
			itsOwn, wanted := unlike(got, want)
			errs = append(errs, fmt.Errorf("dataset: Concat: dataset %d has the %s, dataset 0 has %s", k, itsOwn, wanted))
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

// unlike says how a spec differs from the wanted one: by a field that has the same name in both, or by all fields.
func unlike(got, want Spec) (itsOwn, wanted string) {
	for k := range min(len(got), len(want)) {
		if got[k].Name == want[k].Name && !sameSpec(got[k:k+1], want[k:k+1]) {
			return "field " + got[k].String(), want[k].String()
		}
	}
	return "fields " + got.String(), want.String()
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
