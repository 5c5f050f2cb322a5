package volume

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"sort"
	"strings"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/internal/dense"
	"github.com/penstock-go/penstock/internal/figures"
	"github.com/penstock-go/penstock/internal/files"
)

// A View is one of the three anatomical planes. [Views] selects them, and the
// field "view" of [Cohort.Slices] holds them.
type View int

// The views.
const (
	Axial    View = iota // seen from below: slices from feet to head
	Coronal              // seen from the front: slices from front to back
	Sagittal             // seen from the side: slices from side to side
)

// String is the view's name in lower case.
func (v View) String() string {
	if v < Axial || v > Sagittal {
		return "unknown view"
	}
	return [...]string{"axial", "coronal", "sagittal"}[v]
}

// A SliceOption changes what [Cohort.Slices] does.
type SliceOption struct{ set func(*sliceParts) }

// Views sets which views to take slices of, and their order. The default is
// Axial.
func Views(views ...View) SliceOption {
	return SliceOption{func(p *sliceParts) { p.views = slices.Clone(views) }}
}

// NonEmpty keeps only slices with a voxel of the named mask whose label is one
// of labels, or not 0 if labels is empty. To find them, [Cohort.Slices] loads
// every patient, which also fills the cache.
func NonEmpty(mask string, labels ...int) SliceOption {
	return SliceOption{func(p *sliceParts) {
		p.mask, p.labels, p.filter = mask, floatsOf(labels), true
	}}
}

// SliceShape pads or crops every slice to a fixed shape, on both sides. By
// default all slices must have the same shape.
func SliceShape(rows, columns int) SliceOption {
	return SliceOption{func(p *sliceParts) { p.shape = []int{rows, columns} }}
}

// Slices makes a dataset with one sample per slice. Slices are axial unless [Views]
// says otherwise. They are ordered by patient, then by view, then by their
// index along the axis. Rows and columns are the two other axes, in their
// order.
//
// The directions of the volume tell which axis belongs to which view. If they
// are unknown, the order of axes does: axial slices are (y, x) of (z, y, x),
// coronal ones (z, x), sagittal ones (z, y). Slices are not rotated: an oblique
// axis counts as the nearest one.
//
// The dataset has the fields of every [Cut], and "view" and "slice", int64: the
// [View] and the index along its axis.
func (c *Cohort) Slices(ctx context.Context, options ...SliceOption) (*Cut, error) {
	p := &sliceParts{cohort: c, views: []View{Axial}}
	for _, option := range options {
		if option.set != nil {
			option.set(p)
		}
	}
	if err := p.validate(); err != nil {
		return nil, err
	}
	keep, err := p.planes(ctx)
	if err != nil {
		return nil, err
	}
	for i := range c.patients {
		for _, v := range p.views {
			axis := p.axes[i][v]
			for n := range c.patient(i).shape[axis] {
				if keep == nil || keep[i][axis][n] {
					p.list = append(p.list, sliceOf{uint32(i), uint32(n)<<2 | uint32(v)})
				}
			}
		}
	}
	if len(p.list) == 0 {
		return nil, fmt.Errorf("volume: slices: no slice has a voxel of %s", p.mask)
	}
	return c.newCut(p, p.shape, dataset.Field{Name: "view", Dtype: dataset.Int64}, dataset.Field{Name: "slice", Dtype: dataset.Int64})
}

type sliceParts struct {
	cohort *Cohort
	views  []View
	filter bool
	mask   string
	labels []float64
	source int      // of mask
	shape  []int    // of every slice
	axes   [][3]int // per patient, the axis of every view
	list   []sliceOf
}

// sliceOf is one slice: the patient, the view (the lowest 2 bits), and the index along
// its axis (the other bits).
type sliceOf struct{ patient, at uint32 }

func (o sliceOf) view() View { return View(o.at & 3) }
func (o sliceOf) place() int { return int(o.at >> 2) }

func (p *sliceParts) validate() error {
	c := p.cohort
	var errs []error
	if c.Len() == 0 {
		return errNoPatients
	}
	if rank := len(c.patient(0).shape); rank != 3 {
		return fmt.Errorf("volume: slices: the volumes have %d spatial axes: want three", rank)
	}
	if len(p.views) == 0 {
		errs = append(errs, errors.New("volume: slices: Views(): want at least one"))
	}
	for k, v := range p.views {
		if v < Axial || v > Sagittal || slices.Contains(p.views[:k], v) {
			errs = append(errs, fmt.Errorf("volume: slices: View(%d): want Axial, Coronal and Sagittal, once each", int(v)))
		}
	}
	if p.filter {
		var err error
		if p.source, err = c.maskNamed(p.mask); err != nil {
			errs = append(errs, fmt.Errorf("volume: slices: NonEmpty: %w", err))
		}
	}
	if p.shape != nil && slices.Min(p.shape) < 1 {
		errs = append(errs, fmt.Errorf("volume: slices: SliceShape%v: want positive numbers", dims(p.shape)))
	}
	if err := errors.Join(errs...); err != nil {
		return err
	}
	return p.shapes()
}

// shapes finds the axes of all views and the shape that slices have.
func (p *sliceParts) shapes() error {
	c := p.cohort
	given := p.shape != nil
	var of string
	for i := range c.patients {
		q := c.patient(i)
		p.axes = append(p.axes, viewAxes(presentOf(q.outlines)[0]))
		if slices.Max(q.shape) >= 1<<30 {
			return fmt.Errorf("volume: slices: patient %s has the shape %v: want sides below 2³⁰", q.name, dims(q.shape))
		}
		for _, v := range p.views {
			axis := p.axes[i][v]
			shape := slices.Delete(slices.Clone(q.shape), axis, axis+1)
			switch {
			case p.shape == nil:
				p.shape, of = shape, fmt.Sprintf("%v slices of patient %s", v, q.name)
			case !given && !slices.Equal(p.shape, shape):
				return fmt.Errorf("volume: slices: %s have the shape %v, %v slices of patient %s have %v: "+
					"SliceShape or a preparation with PadOrCrop gives all one shape", of, dims(p.shape), v, q.name, dims(shape))
			}
		}
	}
	return nil
}

// viewAxes are the spatial axes along which slices of every view follow each other.
func viewAxes(v *Volume) [3]int {
	const x, y, z = 2, 1, 0
	best, most := [3]int{Axial: z, Coronal: y, Sagittal: x}, math.Inf(-1)
	if len(v.World) != 3 {
		return best
	}
	for _, a := range v.Axes[1:] {
		if len(a.Direction) != 3 {
			return best
		}
	}
	for _, axes := range [][3]int{{z, y, x}, {z, x, y}, {y, z, x}, {y, x, z}, {x, y, z}, {x, z, y}} {
		sum := 0.0
		for view, axis := range axes {
			// The world's third axis is the axial one, its first the sagittal one.
			sum += math.Abs(v.Axes[1+axis].Direction[2-view])
		}
		if sum > most+1e-9 {
			best, most = axes, sum
		}
	}
	return best
}

// planes finds, per patient and axis, the planes with a voxel of the mask; nil
// if all are wanted.
func (p *sliceParts) planes(ctx context.Context) ([][3][]bool, error) {
	if !p.filter {
		return nil, nil
	}
	keep := make([][3][]bool, p.cohort.Len())
	err := files.Scan(len(keep), runtime.GOMAXPROCS(0), func(i int) (err error) {
		if ctx.Err() == nil {
			keep[i], err = p.planesOf(ctx, i)
		}
		return err
	})
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	return keep, err
}

func (p *sliceParts) planesOf(ctx context.Context, i int) (keep [3][]bool, err error) {
	c := p.cohort
	e, err := c.cache.acquire(ctx, c.patients[i])
	if err != nil {
		return keep, err
	}
	defer c.cache.release(e)
	shape := c.patient(i).shape
	for d := range keep {
		keep[d] = make([]bool, shape[d])
	}
	v := e.volumes.list[p.source]
	if v == nil {
		return keep, nil
	}
	r, err := regionOf(v, p.labels)
	if err != nil {
		return keep, err
	}
	for k, start := range r.starts {
		for at := int(start); at < int(start)+int(r.before[k+1]-r.before[k]); at++ {
			keep[2][at%shape[2]] = true
			keep[1][at/shape[2]%shape[1]] = true
			keep[0][at/shape[2]/shape[1]] = true
		}
	}
	return keep, nil
}

func (p *sliceParts) len() int          { return len(p.list) }
func (p *sliceParts) patient(i int) int { return int(p.list[i].patient) }

func (p *sliceParts) name(i int) string {
	return fmt.Sprintf("%v slice %d", p.list[i].view(), p.list[i].place())
}

func (p *sliceParts) part(i int, _ *cacheEntry, _ *rand.Rand, b *box) error {
	o := p.list[i]
	shape := p.cohort.patient(int(o.patient)).shape
	axis := p.axes[o.patient][o.view()]
	at := 0
	for d := range b.size {
		if d == axis {
			b.start[d], b.size[d] = o.place(), 1
			continue
		}
		b.start[d], b.size[d] = centered(shape[d], p.shape[at]), p.shape[at]
		at++
	}
	return nil
}

func (p *sliceParts) tell(i int, _ *box, dst dataset.Slot, f int) {
	dataset.Set(dst, f, int64(p.list[i].view()))
	dataset.Set(dst, f+1, int64(p.list[i].place()))
}

func (p *sliceParts) String() string {
	texts := []string{figures.Join(p.views)}
	if p.filter {
		texts = append(texts, fmt.Sprintf("NonEmpty(%s)", p.mask))
	}
	return fmt.Sprintf("Slices(%s) of %v", strings.Join(texts, ", "), dims(p.shape))
}

// A PatchOption changes what [Cohort.Patches] does.
type PatchOption struct{ set func(*patchParts) }

// PerPatient sets how many patches of every patient an epoch has. The default
// is 1.
func PerPatient(n int) PatchOption {
	return PatchOption{func(p *patchParts) { p.n = n }}
}

// Positives centres patches on labels, as MONAI's RandCropByPosNegLabel does
// with pos = ratio and neg = 1 - ratio. With probability ratio, the centre is a
// positive voxel of the named mask: its label is one of labels, or not 0 if
// labels is empty. NaN is not a label. Otherwise the centre is one of the other
// voxels. All voxels of either set are equally likely. Near the edge of the
// volume the patch is moved inside, so its centre is then another voxel.
//
// For a patient without positive voxels, all centres are other voxels. For a
// patient without the mask, patches are anywhere.
func Positives(mask string, ratio float64, labels ...int) PatchOption {
	return PatchOption{func(p *patchParts) {
		p.mask, p.ratio, p.labels, p.center = mask, ratio, floatsOf(labels), true
	}}
}

// Patches makes a dataset of random parts of that shape: (z, y, x), or (y, x)
// if the volumes have two spatial axes. All places in the volume are equally
// likely, unless [Positives] is given. A volume that is smaller than shape is
// padded on both sides.
//
// The place depends only on the sample's random numbers (see
// [dataset.Slot.Rand]). So every epoch has other patches, which are the same
// for any number of workers. The dataset has the fields of every [Cut] and
// "start", int64 of shape (3) or (2): the index of the first voxel in the
// prepared volume.
func (c *Cohort) Patches(shape []int, options ...PatchOption) (*Cut, error) {
	p := &patchParts{cohort: c, n: 1, shape: slices.Clone(shape)}
	for _, option := range options {
		if option.set != nil {
			option.set(p)
		}
	}
	if err := p.validate(); err != nil {
		return nil, err
	}
	return c.newCut(p, p.shape, dataset.Field{Name: "start", Dtype: dataset.Int64, Shape: dataset.Shape{len(shape)}})
}

type patchParts struct {
	cohort *Cohort
	n      int // per patient
	shape  []int
	center bool
	mask   string
	source int // of mask
	ratio  float64
	labels []float64
	key    string // of the region in a patient
}

func (p *patchParts) validate() error {
	c := p.cohort
	if c.Len() == 0 {
		return errNoPatients
	}
	var errs []error
	if rank := len(c.patient(0).shape); len(p.shape) != rank || slices.Min(p.shape) < 1 {
		errs = append(errs, fmt.Errorf("volume: patches: shape %v: want %d positive numbers", dims(p.shape), rank))
	}
	if p.n < 1 {
		errs = append(errs, fmt.Errorf("volume: patches: PerPatient(%d): want 1 or more", p.n))
	}
	if p.center {
		var err error
		if p.source, err = c.maskNamed(p.mask); err != nil {
			errs = append(errs, fmt.Errorf("volume: patches: Positives: %w", err))
		}
		if !(p.ratio >= 0 && p.ratio <= 1) {
			errs = append(errs, fmt.Errorf("volume: patches: Positives(%s, %v): want a ratio from 0 to 1", p.mask, p.ratio))
		}
		p.key = fmt.Sprint(p.source, p.labels)
	}
	return errors.Join(errs...)
}

func (p *patchParts) len() int          { return p.n * p.cohort.Len() }
func (p *patchParts) patient(i int) int { return i / p.n }
func (p *patchParts) name(i int) string { return fmt.Sprintf("patch %d", i%p.n) }

func (p *patchParts) part(i int, e *cacheEntry, r *rand.Rand, b *box) error {
	c := p.cohort
	n := c.patient(p.patient(i)).shape
	var voxel [3]int
	known := false
	if p.center && e.volumes.list[p.source] != nil {
		region, err := c.cache.region(e, p.source, p.key, p.labels)
		if err != nil {
			return err
		}
		at := p.pick(region, r)
		for d := len(n) - 1; d >= 0; d-- {
			voxel[d] = at % n[d]
			at /= n[d]
		}
		known = true
	}
	*b = box{size: [3]int{1, 1, 1}}
	for d, size := range p.shape {
		b.size[d] = size
		switch {
		case size >= n[d]:
			b.start[d] = centered(n[d], size)
		case known:
			b.start[d] = min(max(voxel[d]-size/2, 0), n[d]-size)
		default:
			b.start[d] = r.IntN(n[d] - size + 1)
		}
	}
	return nil
}

// pick draws the voxel at the centre of a patch.
func (p *patchParts) pick(region *region, r *rand.Rand) int {
	positive := r.Float64() < p.ratio
	if positive && region.inside() > 0 || region.outside() == 0 {
		return region.in(r.IntN(region.inside()))
	}
	return region.out(r.IntN(region.outside()))
}

func (p *patchParts) tell(_ int, b *box, dst dataset.Slot, f int) {
	for d, row := 0, dataset.Row[int64](dst, f); d < len(row); d++ {
		row[d] = int64(b.start[d])
	}
}

func (p *patchParts) String() string {
	text := fmt.Sprintf("Patches%v, %d per patient", dims(p.shape), p.n)
	if p.center {
		text += fmt.Sprintf(", %.4g %% on %s", 100*p.ratio, p.mask)
	}
	return text
}

// A region is a set of voxels, stored as runs of contiguous voxels. A random voxel is
// found by a binary search. Tumours have many voxels, but few runs.
type region struct {
	starts []uint32 // of every run
	before []uint32 // voxels of the region before every run, and their total number at the end
	voxels int      // in and outside
}

// regionOf finds the voxels of a mask whose label is one of labels, or not 0 if labels
// is empty. NaN is not a label. A voxel is in the region if any of its channels has such a
// label.
func regionOf(v *Volume, labels []float64) (*region, error) {
	channels := v.Shape[0]
	n := v.Shape.Elements() / channels
	if uint64(n) > math.MaxUint32 {
		return nil, fmt.Errorf("volume: %s: %d voxels are too many to pick from", v.Name, n)
	}
	switch v.Dtype {
	case dataset.Uint8:
		return scanRegion(v.Data, n, channels, labels), nil
	case dataset.Int8:
		return scanRegion(dense.Values[int8](v.Data), n, channels, labels), nil
	case dataset.Int16:
		return scanRegion(dense.Values[int16](v.Data), n, channels, labels), nil
	case dataset.Uint16:
		return scanRegion(dense.Values[uint16](v.Data), n, channels, labels), nil
	case dataset.Int32:
		return scanRegion(dense.Values[int32](v.Data), n, channels, labels), nil
	case dataset.Uint32:
		return scanRegion(dense.Values[uint32](v.Data), n, channels, labels), nil
	case dataset.Int64:
		return scanRegion(dense.Values[int64](v.Data), n, channels, labels), nil
	case dataset.Uint64:
		return scanRegion(dense.Values[uint64](v.Data), n, channels, labels), nil
	case dataset.Float32:
		return scanRegion(dense.Values[float32](v.Data), n, channels, labels), nil
	case dataset.Float64:
		return scanRegion(dense.Values[float64](v.Data), n, channels, labels), nil
	}
	return nil, fmt.Errorf("volume: %s: no labels in values of %v", v.Name, v.Dtype)
}

func scanRegion[T number](data []T, n, channels int, labels []float64) *region {
	r := &region{voxels: n}
	count := uint32(0)
	open := false
	for i := range n {
		in := false
		for at := i; at < n*channels && !in; at += n {
			x := data[at]
			in = x != 0 && x == x && len(labels) == 0 || len(labels) > 0 && slices.Contains(labels, float64(x))
		}
		if in != open {
			open = in
			if in {
				r.starts = append(r.starts, uint32(i))
				r.before = append(r.before, count)
			}
		}
		if in {
			count++
		}
	}
	r.before = append(r.before, count)
	return r
}

// inside and outside are the numbers of voxels in the region and out of it.
func (r *region) inside() int  { return int(r.before[len(r.starts)]) }
func (r *region) outside() int { return r.voxels - r.inside() }

// in is the k-th voxel of the region.
func (r *region) in(k int) int {
	i := sort.Search(len(r.starts), func(i int) bool { return int(r.before[i+1]) > k })
	return int(r.starts[i]) + k - int(r.before[i])
}

// out is the k-th voxel outside the region.
func (r *region) out(k int) int {
	i := sort.Search(len(r.starts), func(i int) bool { return int(r.starts[i]-r.before[i]) > k })
	return k + int(r.before[i])
}

func (r *region) bytes() int64 { return int64(4 * (len(r.starts) + len(r.before))) }
