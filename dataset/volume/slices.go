package volume

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/internal/files"
)

// views are the names of the anatomical planes, by the numbers in the field "view".
var views = []string{"axial", "coronal", "sagittal"}

// A SliceOption changes what [Cohort.Slices] does.
type SliceOption struct{ set func(*sliceParts) }

// Views sets which views to take slices of, "axial", "coronal" or "sagittal", and their order. The default is "axial".
func Views(names ...string) SliceOption {
	return SliceOption{func(p *sliceParts) {
		p.views = nil
		for _, name := range names {
			p.views = append(p.views, slices.Index(views, name))
		}
	}}
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
// The field "view", int64, is 0 for an axial slice, 1 for a coronal and 2 for a sagittal one, and "slice", int64, is its
// index along the axis.
func (c *Cohort) Slices(ctx context.Context, options ...SliceOption) (dataset.Dataset, error) {
	p := &sliceParts{cohort: c, views: []int{0}}
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
	views  []int
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

func (o sliceOf) view() int  { return int(o.at & 3) }
func (o sliceOf) place() int { return int(o.at >> 2) }

func (p *sliceParts) validate() error {
	c := p.cohort
	var errs []error
	if c.len() == 0 {
		return errNoPatients
	}
	if rank := len(c.patient(0).shape); rank != 3 {
		return fmt.Errorf("volume: slices: the volumes have %d spatial axes: want three", rank)
	}
	if len(p.views) == 0 {
		errs = append(errs, errors.New("volume: slices: Views(): want at least one"))
	}
	for k, v := range p.views {
		if v < 0 || slices.Contains(p.views[:k], v) {
			errs = append(errs, fmt.Errorf("volume: slices: Views: want of %v, once each", views))
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
		axes, _ := presentOf(q.outlines)[0].bodyAxes() // as the views are numbered
		p.axes = append(p.axes, axes)
		if slices.Max(q.shape) >= 1<<30 {
			return fmt.Errorf("volume: slices: patient %s has the shape %v: want sides below 2³⁰", q.name, dims(q.shape))
		}
		for _, v := range p.views {
			axis := p.axes[i][v]
			shape := slices.Delete(slices.Clone(q.shape), axis, axis+1)
			switch {
			case p.shape == nil:
				p.shape, of = shape, fmt.Sprintf("%s slices of patient %s", views[v], q.name)
			case !given && !slices.Equal(p.shape, shape):
				return fmt.Errorf("volume: slices: %s have the shape %v, %v slices of patient %s have %v: "+
					"SliceShape or a preparation with PadOrCrop gives all one shape", of, dims(p.shape), views[v], q.name, dims(shape))
			}
		}
	}
	return nil
}

// planes finds, per patient and axis, the planes with a voxel of the mask; nil
// if all are wanted.
func (p *sliceParts) planes(ctx context.Context) ([][3][]bool, error) {
	if !p.filter {
		return nil, nil
	}
	keep := make([][3][]bool, p.cohort.len())
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
	return fmt.Sprintf("%s slice %d", views[p.list[i].view()], p.list[i].place())
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
	var texts []string
	for _, v := range p.views {
		texts = append(texts, views[v])
	}
	if p.filter {
		texts = append(texts, fmt.Sprintf("NonEmpty(%s)", p.mask))
	}
	return fmt.Sprintf("Slices(%s) of %v", strings.Join(texts, ", "), dims(p.shape))
}
