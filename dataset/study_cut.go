package dataset

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"gorgonia.org/tensor"
)

// A Cut is a dataset of parts of a study's volumes: wholes, slices or patches.
// All volumes of a sample are cut alike.
//
// Its fields are the study's volumes by their names, (channels, z, y, x) or, of a
// slice, (channels, rows, columns); a bool "…_present" for each that is optional;
// "patient", int64, the patient's place in [Study.Names]; and what the kind of
// cut adds. It prints its plan with %v.
//
// Samples are ordered by patient. Reading them allocates nothing once the
// patient is in the study's cache.
type Cut struct {
	study *Study
	spec  Spec
	first int // field of the presence flags
	parts parts
}

// parts is a way to cut.
type parts interface {
	fmt.Stringer
	len() int
	patient(i int) int // in the study
	name(i int) string // without the patient's
	// part is sample i of the volumes in e.
	part(i int, e *cacheEntry, r *rand.Rand, b *box) error
	// tell sets the cut's own fields, from field f on.
	tell(i int, b *box, dst Slot, f int)
}

// newCut makes a cut whose samples have the shape size, or any if it is nil.
func (s *Study) newCut(p parts, size []int, own ...Field) (*Cut, error) {
	c := &Cut{study: s, parts: p}
	for k, source := range s.sources {
		f := Field{Name: source.name, Dtype: source.dtype}
		if size != nil {
			f.Shape = append(tensor.Shape{s.channels[k]}, size...)
		}
		c.spec = append(c.spec, f)
	}
	c.first = len(c.spec)
	for _, source := range s.sources {
		if source.optional {
			c.spec = append(c.spec, Field{Name: source.name + "_present", Dtype: tensor.Bool})
		}
	}
	c.spec = append(c.spec, Field{Name: "patient", Dtype: tensor.Int64})
	c.spec = append(c.spec, own...)
	return c, c.spec.Validate()
}

// Len is the number of samples.
func (c *Cut) Len() int { return c.parts.len() }

// Spec describes the fields, see [Cut].
func (c *Cut) Spec() Spec { return c.spec }

// Name is the patient's name and the part: "p07, axial slice 12".
func (c *Cut) Name(i int) string {
	if CheckIndex(i, c.Len()) != nil {
		return ""
	}
	name := c.study.all[c.study.patients[c.parts.patient(i)]].name
	if part := c.parts.name(i); part != "" {
		name += ", " + part
	}
	return name
}

// Study is what was cut.
func (c *Cut) Study() *Study { return c.study }

// Ends are, for every patient of the study, where its samples end, that is one
// more than the last one's index. sampler.Grouped takes them, to go through few
// patients at a time where the cache cannot hold all.
func (c *Cut) Ends() []int {
	ends := make([]int, c.study.Len())
	n := c.Len()
	for p := range ends {
		// Samples are ordered by patient: find the first of a later one.
		lo, hi := 0, n
		for lo < hi {
			if mid := int(uint(lo+hi) >> 1); c.parts.patient(mid) > p {
				hi = mid
			} else {
				lo = mid + 1
			}
		}
		ends[p] = lo
	}
	return ends
}

// A VolumeField says that a field of a dataset holds volumes, channels first.
type VolumeField struct {
	Name string
	Mask bool // the values are labels
}

// VolumeFields are the fields that hold the study's volumes.
func (c *Cut) VolumeFields() []VolumeField {
	fields := make([]VolumeField, len(c.study.sources))
	for k, s := range c.study.sources {
		fields[k] = VolumeField{s.name, s.mask}
	}
	return fields
}

// String is the plan: what is read, prepared, kept and cut, and what comes out.
func (c *Cut) String() string {
	fields := make([]string, c.first)
	for k, f := range c.spec[:c.first] {
		fields[k] = f.String()
	}
	return fmt.Sprintf("%v\n  cut       %v: %d samples\n  store     %s", c.study, c.parts, c.Len(), strings.Join(fields, ", "))
}

// ReadAhead asks the operating system (Linux or macOS) to read the files of
// patients that are not in the cache. Data files of detached headers are not
// among them.
func (c *Cut) ReadAhead(ctx context.Context, indices []int) {
	last := -1
	for _, i := range indices {
		if ctx.Err() != nil {
			return
		}
		if CheckIndex(i, c.Len()) != nil {
			continue
		}
		p := c.study.patients[c.parts.patient(i)]
		if p == last || c.study.cache.has(p) {
			continue
		}
		last = p
		for _, file := range c.study.all[p].files {
			if file != "" {
				c.study.advisor.Advise(c.study.fsys, file)
			}
		}
	}
}

// Open makes a Reader, which holds no resources between two samples.
func (c *Cut) Open() (Reader, error) { return &cutReader{Cut: c}, nil }

type cutReader struct {
	*Cut
	box box
}

func (r *cutReader) Close() error { return nil }

func (r *cutReader) Place(ctx context.Context, i int, dst Slot) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := CheckIndex(i, r.Len()); err != nil {
		return err
	}
	dst.Stage(Decode)
	patient := r.parts.patient(i)
	s := r.study
	e, err := s.cache.acquire(ctx, s.patients[patient])
	if err != nil {
		return err
	}
	defer s.cache.release(e)
	dst.Stage(Store)
	if err := r.parts.part(i, e, dst.Rand(), &r.box); err != nil {
		return err
	}
	f := r.first
	for k := range s.sources {
		if err := r.store(dst.cells[k], k, e.volumes.list[k]); err != nil {
			return err
		}
		if s.sources[k].optional {
			Set(dst, f, e.volumes.list[k] != nil)
			f++
		}
	}
	Set(dst, f, int64(patient))
	r.parts.tell(i, &r.box, dst, f+1)
	return nil
}

// store copies the box of one volume.
func (r *cutReader) store(cell Cell, source int, v *Volume) error {
	s := &r.study.sources[source]
	if cell.ragged != nil {
		n := r.study.channels[source] * int(s.dtype.Size())
		for _, d := range r.box.size {
			n *= max(d, 1)
		}
		cell.Grow(n)
	}
	if v == nil {
		fillWith(cell.Bytes(), cell.is.dtype, s.fill)
		return nil
	}
	return copyBox(cell.Bytes(), cell.is.dtype, v, &r.box, s.fill)
}

// centred is where a part of that size begins so that it has the middle of n
// voxels, as MONAI's CenterSpatialCrop and SpatialPad place it; below 0 it
// reaches beyond on both sides.
func centred(n, size int) int {
	if size > n {
		return -((size - n) / 2)
	}
	return n/2 - size/2
}

// maskNamed is the place of the volume with that name, which has to be a mask.
func (s *Study) maskNamed(name string) (int, error) {
	k := slices.IndexFunc(s.sources, func(s Source) bool { return s.name == name })
	if k < 0 {
		return 0, fmt.Errorf("the study has no %q", name)
	}
	if !s.sources[k].mask {
		return 0, fmt.Errorf("%q is a Scan: want a Mask", name)
	}
	return k, nil
}

func floatsOf(labels []int) []float64 {
	x := make([]float64, len(labels))
	for i, l := range labels {
		x[i] = float64(l)
	}
	return x
}

var errNoPatients = errors.New("dataset: study of no patients")
