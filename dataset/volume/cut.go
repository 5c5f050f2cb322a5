package volume

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"slices"
	"sort"
	"strings"

	"github.com/penstock-go/penstock/dataset"
)

// A cut is a dataset of parts of a cohort's volumes: whole volumes, slices or
// patches. All volumes of a patient are cut at the same place.
type cut struct {
	cohort *Cohort
	spec   dataset.Spec
	first  int // field of the presence flags
	parts  parts
}

// parts says how volumes are cut.
type parts interface {
	fmt.Stringer
	len() int
	patient(i int) int // in the cohort
	name(i int) string // without the patient's
	// part sets b to the place of sample i in the volumes of e.
	part(i int, e *cacheEntry, r *rand.Rand, b *box) error
	// tell writes the fields that this cut adds, from field f on.
	tell(i int, b *box, dst dataset.Slot, f int)
}

// newCut makes a cut whose samples have the shape size, or any shape if size is nil.
func (c *Cohort) newCut(p parts, size []int, own ...dataset.Field) (*cut, error) {
	d := &cut{cohort: c, parts: p}
	for k, source := range c.sources {
		f := dataset.Field{Name: source.name, Dtype: source.dtype}
		if size != nil {
			f.Shape = append(dataset.Shape{c.channels[k]}, size...)
		}
		d.spec = append(d.spec, f)
	}
	d.first = len(d.spec)
	for _, source := range c.sources {
		if source.optional {
			d.spec = append(d.spec, dataset.Field{Name: source.name + "_present", Dtype: dataset.Bool})
		}
	}
	d.spec = append(d.spec, dataset.Field{Name: "patient", Dtype: dataset.Int64})
	d.spec = append(d.spec, own...)
	return d, d.spec.Validate()
}

// Len is the number of samples.
func (c *cut) Len() int { return c.parts.len() }

// Spec describes the fields, see [Cohort].
func (c *cut) Spec() dataset.Spec { return c.spec }

// Name is the name of the patient and the part, "p07, axial slice 12", or "" if
// i is out of range.
func (c *cut) Name(i int) string {
	if dataset.CheckIndex(i, c.Len()) != nil {
		return ""
	}
	name := c.cohort.patient(c.parts.patient(i)).name
	if part := c.parts.name(i); part != "" {
		name += ", " + part
	}
	return name
}

// Ends has, for every patient of the cohort of which ds was made, the index after its last
// sample. sampler.Grouped takes it to go through a few patients at a time, if the cache
// cannot hold all. It panics if no method of a [Cohort] made ds.
func Ends(ds dataset.Dataset) []int {
	if x, ok := ds.(*augmented); ok {
		return Ends(x.Dataset)
	}
	c := ds.(*cut)
	ends := make([]int, c.cohort.len())
	for p := range ends {
		ends[p] = sort.Search(c.Len(), func(i int) bool { return c.parts.patient(i) > p }) // the first of a later patient
	}
	return ends
}

// String is the plan: what is read, prepared, cached and cut, and the resulting
// fields.
func (c *cut) String() string {
	fields := make([]string, c.first)
	for k, f := range c.spec[:c.first] {
		fields[k] = f.String()
	}
	return fmt.Sprintf("%s\n  cut       %v: %d samples\n  store     %s", c.cohort.plan(), c.parts, c.Len(), strings.Join(fields, ", "))
}

// Foresee begins to fetch the files of patients before they are read, if they are not in the
// cache when their turn comes: see [dataset.ForeseeFiles]. Files of more than 64 MiB, folders, and
// data files of detached headers are left out.
func (c *cut) Foresee(f dataset.Future) (stop func()) {
	s := c.cohort
	return dataset.ForeseeFiles(s.fsys, f, dataset.FileBlocks{
		Len: s.len(),
		Of: func(sample int) int {
			if dataset.CheckIndex(sample, c.Len()) != nil {
				return -1
			}
			return c.parts.patient(sample)
		},
		At: func(patient int, dst []dataset.FilePart) []dataset.FilePart {
			if s.cache.has(s.patients[patient]) {
				return dst
			}
			for _, file := range s.patient(patient).files {
				if file == "" {
					continue
				}
				info, err := fs.Stat(s.fsys, file) // known since Open has read the header
				if err == nil && info.Mode().IsRegular() && info.Size() <= atOnce {
					dst = append(dst, dataset.FilePart{Path: file, Len: -1})
				}
			}
			return dst
		},
		Once: true,
	})
}

// Open makes a Reader. It holds no resources between two samples.
func (c *cut) Open() (dataset.Reader, error) { return &cutReader{cut: c}, nil }

type cutReader struct {
	*cut
	box box
}

func (r *cutReader) Close() error { return nil }

func (r *cutReader) Place(ctx context.Context, i int, dst dataset.Slot) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := dataset.CheckIndex(i, r.Len()); err != nil {
		return err
	}
	dst.Stage(dataset.StageDecode)
	patient := r.parts.patient(i)
	s := r.cohort
	e, err := s.cache.acquire(ctx, s.patients[patient])
	if err != nil {
		return err
	}
	dst.Stage(dataset.StageStore)
	if err := r.parts.part(i, e, dst.Rand(), &r.box); err != nil {
		return err
	}
	f := r.first
	for k := range s.sources {
		if err := r.store(dst.Cell(k), k, e.volumes.list[k]); err != nil {
			return err
		}
		if s.sources[k].optional {
			dataset.Set(dst, f, e.volumes.list[k] != nil)
			f++
		}
	}
	dataset.Set(dst, f, int64(patient))
	r.parts.tell(i, &r.box, dst, f+1)
	return nil
}

// store copies the box of one volume into its cell.
func (r *cutReader) store(cell dataset.Cell, source int, v *Volume) error {
	s := &r.cohort.sources[source]
	if cell.Ragged() {
		n := r.cohort.channels[source] * s.dtype.Size()
		for _, d := range r.box.size {
			n *= max(d, 1)
		}
		cell.Grow(n)
	}
	if v == nil {
		fill(cell.Bytes(), s.dtype, s.fill)
		return nil
	}
	return copyBox(cell.Bytes(), s.dtype, v, &r.box, s.fill)
}

// maskNamed is the index of the volume with that name, which must be a mask.
func (c *Cohort) maskNamed(name string) (int, error) {
	k := slices.IndexFunc(c.sources, func(s source) bool { return s.name == name })
	if k < 0 {
		return 0, fmt.Errorf("the cohort has no volume %q", name)
	}
	if !c.sources[k].mask {
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

var errNoPatients = errors.New("volume: the cohort has no patients")

// volumes are the fields that hold the cohort's volumes.
func (c *cut) volumes() []field {
	fields := make([]field, len(c.cohort.sources))
	for k, s := range c.cohort.sources {
		fields[k] = field{at: k, name: s.name, mask: s.mask}
	}
	return fields
}

// Whole makes a dataset with one sample per patient: the whole volumes. All
// patients must have the same shape after preparation. [PadOrCrop] gives them
// one; [Cohort.Ragged] accepts any.
func (c *Cohort) Whole() (dataset.Dataset, error) {
	if c.len() == 0 {
		return nil, errNoPatients
	}
	first := c.patient(0)
	for i := range c.patients {
		if q := c.patient(i); !slices.Equal(q.shape, first.shape) {
			return nil, fmt.Errorf("volume: whole volumes: patient %s has the shape %v, %s has %v: "+
				"prepare them with PadOrCrop, or use Cohort.Ragged", first.name, dims(first.shape), q.name, dims(q.shape))
		}
	}
	return c.newCut(wholes{c, false}, first.shape)
}

// Ragged makes a dataset with one sample per patient, of any shape, in ragged
// fields of single values, in C order. The field "shape", int64 of shape (3) or (2),
// holds the spatial shape of the sample.
func (c *Cohort) Ragged() (dataset.Dataset, error) {
	if c.len() == 0 {
		return nil, errNoPatients
	}
	rank := len(c.patient(0).shape)
	d, err := c.newCut(wholes{c, true}, nil, dataset.Field{Name: "shape", Dtype: dataset.Int64, Shape: dataset.Shape{rank}})
	if err != nil {
		return nil, err
	}
	for k := range c.sources {
		d.spec[k].Ragged = true
	}
	return d, d.spec.Validate()
}

type wholes struct {
	cohort *Cohort
	ragged bool
}

func (w wholes) len() int          { return w.cohort.len() }
func (w wholes) patient(i int) int { return i }
func (w wholes) name(int) string   { return "" }

func (w wholes) part(i int, _ *cacheEntry, _ *rand.Rand, b *box) error {
	*b = box{}
	copy(b.size[:], w.cohort.patient(i).shape)
	return nil
}

func (w wholes) tell(_ int, b *box, dst dataset.Slot, f int) {
	if !w.ragged {
		return
	}
	for k, row := 0, dataset.Row[int64](dst, f); k < len(row); k++ {
		row[k] = int64(b.size[k])
	}
}

func (w wholes) String() string {
	if w.ragged {
		return "Ragged()"
	}
	return "Whole()"
}
