package volume

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sort"

	"github.com/penstock-go/penstock/dataset"
)

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
// for any number of workers. The field "start", int64 of shape (3) or (2), is the
// index of the first voxel in the prepared volume.
func (c *Cohort) Patches(shape []int, options ...PatchOption) (dataset.Dataset, error) {
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
	if c.len() == 0 {
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

func (p *patchParts) len() int          { return p.n * p.cohort.len() }
func (p *patchParts) patient(i int) int { return i / p.n }
func (p *patchParts) name(i int) string { return fmt.Sprintf("patch %d", i%p.n) }

func (p *patchParts) part(i int, e *cacheEntry, r *rand.Rand, b *box) error {
	c := p.cohort
	n := c.patient(p.patient(i)).shape
	var voxel [3]int
	known := false
	if p.center && e.volumes.list[p.source] != nil {
		region, err := e.volumes.region(p.source, p.key, p.labels)
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
	n := v.Shape.Elements() / v.Shape[0]
	if uint64(n) > math.MaxUint32 {
		return nil, fmt.Errorf("volume: %s: %d voxels are too many to pick from", v.Name, n)
	}
	r := &region{voxels: n}
	count := uint32(0)
	open := false
	var block [1024]float64
	var in [len(block)]bool
	for at := 0; at < n; at += len(block) {
		part := block[:min(len(block), n-at)]
		clear(in[:])
		for c := range v.Shape[0] {
			if err := copyNumbers(part, v, c*n+at); err != nil {
				return nil, fmt.Errorf("volume: %s: %w", v.Name, err)
			}
			for i, x := range part {
				in[i] = in[i] || x != 0 && x == x && len(labels) == 0 || len(labels) > 0 && slices.Contains(labels, x)
			}
		}
		for i := range part {
			if in[i] != open {
				open = in[i]
				if open {
					r.starts = append(r.starts, uint32(at+i))
					r.before = append(r.before, count)
				}
			}
			if open {
				count++
			}
		}
	}
	r.before = append(r.before, count)
	return r, nil
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
