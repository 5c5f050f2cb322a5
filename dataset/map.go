package dataset

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
)

// Map makes a dataset with other fields computed from those of ds: one-hot
// labels, casts, sums. spec lists its fields.
//
//	dataset.Map(ds, spec, func(dst, src dataset.Slot) error {
//		dataset.Row[float32](dst, 1)[dataset.Row[int64](src, 1)[0]] = 1
//		return nil
//	})
//
// For every sample f gets src, with the fields of ds, and dst, with those of spec, which are
// zeros or empty. A field with the same name, dtype and shape in both is passed on: both
// slots share its memory. All workers share f, so many goroutines call it at once. It must
// not keep the slots.
func Map(ds Dataset, spec Spec, f func(dst, src Slot) error) (Dataset, error) {
	if f == nil {
		return nil, errors.New("dataset: Map: no function")
	}
	if err := given("Map", ds); err != nil {
		return nil, err
	}
	return newMapped(ds, spec, f)
}

// mapped is a dataset of some fields of another one and of fields that are computed
// from them.
type mapped struct {
	Wrap
	before Spec // of the Dataset
	spec   Spec
	shared []int // for every field of before, its index in spec if it is passed on, or -1
	made   []int // the other fields of spec
	f      func(dst, src Slot) error
}

func newMapped(ds Dataset, spec Spec, f func(dst, src Slot) error) (*mapped, error) {
	m := &mapped{Wrap: Wrap{ds}, before: ds.Spec(), spec: slices.Clone(spec), f: f}
	m.passKinds()
	if err := errors.Join(m.before.Validate(), m.spec.Validate()); err != nil {
		return nil, err
	}
	for _, f := range m.before {
		k := m.spec.Index(f.Name)
		if k >= 0 && !sameSpec(Spec{f}, m.spec[k:k+1]) {
			k = -1
		}
		m.shared = append(m.shared, k)
	}
	for k := range m.spec {
		if !slices.Contains(m.shared, k) {
			m.made = append(m.made, k)
		}
	}
	return m, nil
}

// passKinds gives the fields that are passed on the kinds that they have in the dataset.
func (m *mapped) passKinds() {
	passed := func(name string) (Field, bool) {
		from, to := m.before.Index(name), m.spec.Index(name)
		if from < 0 || to < 0 || !sameSpec(m.before[from:from+1], m.spec[to:to+1]) {
			return Field{}, false
		}
		return m.before[from], true
	}
	for k, f := range m.spec {
		before, ok := passed(f.Name)
		if !ok || f.Kind != Plain || f.Of != "" {
			continue
		}
		m.spec[k].Kind = before.Kind
		if _, ok := passed(before.Of); ok {
			m.spec[k].Of = before.Of
		}
	}
}

func (m *mapped) Spec() Spec { return m.spec }

func (m *mapped) Open() (Reader, error) {
	inner, err := m.Wrap.Open()
	if err != nil {
		return nil, err
	}
	one := mapReader{mapped: m, inner: inner, cells: m.cells()}
	if b, ok := inner.(BatchReader); ok {
		return &mapBatchReader{mapReader: one, batch: b}, nil
	}
	return &one, nil
}

// cells makes the cells of an inner sample. Fields that are passed on have none yet.
func (m *mapped) cells() []Cell {
	cells := make([]Cell, len(m.before))
	for k, f := range m.before {
		if m.shared[k] < 0 {
			cells[k] = NewCell(f)
		}
	}
	return cells
}

// source is the slot of the inner sample from which dst is computed. It uses cells.
func (m *mapped) source(cells []Cell, dst Slot) Slot {
	for k, to := range m.shared {
		if to >= 0 {
			cells[k] = dst.Cell(to)
		}
	}
	return dst.With(cells)
}

// stageMap lasts while the function of a Map runs.
const stageMap = "map"

// make computes the fields of dst that are not passed on.
func (m *mapped) make(dst, src Slot) error {
	if m.f == nil {
		return nil
	}
	dst.Stage(stageMap)
	for _, k := range m.made {
		if c := dst.Cell(k); c.Ragged() {
			c.Grow(0)
		} else {
			clear(c.Bytes())
		}
	}
	return m.f(dst, src)
}

type mapReader struct {
	*mapped
	inner Reader
	cells []Cell // of the inner slot
}

func (r *mapReader) Close() error { return r.inner.Close() }

func (r *mapReader) Place(ctx context.Context, i int, dst Slot) error {
	src := r.source(r.cells, dst)
	if err := r.inner.Place(ctx, i, src); err != nil {
		return err
	}
	return r.make(dst, src)
}

// PlaceParts leaves field f out only if there is no function, which may read it.
func (r *mapReader) PlaceParts(ctx context.Context, i, f int, dst Slot) (int, io.ReaderAt, error) {
	k := slices.Index(r.shared, f)
	if r.f != nil || k < 0 {
		return 0, nil, r.Place(ctx, i, dst)
	}
	return placeParts(ctx, r.inner, i, k, r.source(r.cells, dst))
}

type mapBatchReader struct {
	mapReader
	batch BatchReader
	rows  [][]Cell // of the inner slot of every row
	slots mapSlots
}

func (r *mapBatchReader) PlaceBatch(ctx context.Context, indices []int, dst Slots) error {
	for len(r.rows) < len(indices) {
		r.rows = append(r.rows, r.mapped.cells())
	}
	r.slots = mapSlots{r, dst}
	defer func() { r.slots = mapSlots{} }()
	if err := r.batch.PlaceBatch(ctx, indices, &r.slots); err != nil {
		return err
	}
	for k := range indices {
		to := dst.At(k)
		if err := r.make(to, r.source(r.rows[k], to)); err != nil {
			return err
		}
	}
	return nil
}

// mapSlots are the inner slots of a batch.
type mapSlots struct {
	reader *mapBatchReader
	all    Slots
}

func (s *mapSlots) Len() int { return s.all.Len() }

func (s *mapSlots) At(k int) Slot { return s.reader.source(s.reader.rows[k], s.all.At(k)) }

// Select is ds with only the named fields, in that order. An unknown name is an
// error. The other fields are still read, but take no room in a batch.
func Select(ds Dataset, fields ...string) (Dataset, error) {
	if err := given("Select", ds); err != nil {
		return nil, err
	}
	all := ds.Spec()
	spec := make(Spec, len(fields))
	for k, name := range fields {
		at := all.Index(name)
		if at < 0 {
			return nil, fmt.Errorf("dataset: Select: no field %q: the dataset has %v", name, all)
		}
		if spec[k] = all[at]; !slices.Contains(fields, spec[k].Of) {
			spec[k].Of = ""
		}
	}
	return newMapped(ds, spec, nil)
}

// Rename gives fields of ds new names: names maps old names to new ones. A name
// that ds does not have is an error. Use it before [Zip] where two datasets
// have a field of the same name.
func Rename(ds Dataset, names map[string]string) (Dataset, error) {
	if err := given("Rename", ds); err != nil {
		return nil, err
	}
	before := ds.Spec()
	r := &renamed{Wrap{ds}, slices.Clone(before)}
	var errs []error
	for _, old := range slices.Sorted(maps.Keys(names)) {
		k := before.Index(old)
		if k < 0 {
			errs = append(errs, fmt.Errorf("dataset: Rename: no field %q: the dataset has %v", old, before))
			continue
		}
		r.spec[k].Name = names[old]
		for i, f := range before {
			if f.Of == old {
				r.spec[i].Of = names[old]
			}
		}
	}
	if err := errors.Join(append(errs, r.spec.Validate())...); err != nil {
		return nil, err
	}
	return r, nil
}

// renamed uses the Readers of the underlying dataset, because they do not know names.
type renamed struct {
	Wrap
	spec Spec
}

func (r *renamed) Spec() Spec { return r.spec }
