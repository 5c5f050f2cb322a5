package volume

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/internal/figures"
)

// ResampleToMatch resamples all volumes of a patient to the grid of the named
// one: its shape, spacing, origin and directions. Use it for scans of one body
// on different grids, such as PET and CT, or for a mask drawn on another scan.
// It must be the first step, because all other steps need one grid. Without it,
// volumes on different grids are an error.
//
// For every voxel of the new grid, the position of its centre in the world is
// looked up in the old volume, by the affine matrices of both. LPS, RAS and LAS
// may be mixed. Scans are interpolated linearly along three axes and become
// float32. Masks take the nearest voxel; of two equally near ones, that of the
// higher index. Between the centres and the outer edges of its outermost
// voxels, a volume has the values of these voxels. Outside the edges it has the
// value of [Fill]. This is ITK's Resample(moving, fixed) and, except outside
// the edges, MONAI's ResampleToMatch. Positions are exact to 1/1000 of a voxel;
// a volume that is closer than that to the grid is not changed. Like both,
// ResampleToMatch does not smooth before it makes a volume coarser.
//
// A volume whose position in the world is unknown is an error, and so is a
// volume that is entirely outside the grid. A volume with two spatial axes in a
// world of three is one voxel thick; the voxel is as thick as the finest
// spacing.
func ResampleToMatch(name string) Step { return matching{name} }

type matching struct{ name string }

func (x matching) String() string { return figures.Call("ResampleToMatch", x.name) }

func (x matching) add(p *program) error {
	if len(p.ops) > 0 {
		return fmt.Errorf("want it before %v, and once: all other steps need one grid", p.ops[0])
	}
	p.names = append(p.names, x.name)
	p.matches = true
	return p.add(x, perPatient, true)
}

// each finds the affine from the grid of the fixed volume to every other volume, and
// calls do for those that are not on the grid.
func (x matching) each(vs []*Volume, do func(v *Volume, t affine) error) error {
	at := slices.IndexFunc(vs, func(v *Volume) bool { return v.Name == x.name })
	if at < 0 {
		return fmt.Errorf("the patient has no %s", x.name)
	}
	fixed := vs[at]
	if len(vs) == 1 {
		return nil // a single volume need not have a position
	}
	grid, err := frameOf(fixed)
	if err != nil {
		return fmt.Errorf("%s: %w", fixed.Name, err)
	}
	for _, v := range vs {
		if v == fixed {
			continue
		}
		err := together(v, fixed)
		var old frame
		if err == nil {
			old, err = frameOf(v)
		}
		var t affine
		if err == nil {
			t, err = old.affineFrom(&grid)
		}
		if err == nil && !t.same {
			err = do(v, t)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", v.Name, err)
		}
		settle(v, fixed)
	}
	return nil
}

// together checks everything except the geometry that may prevent v from being put on
// the grid.
func together(v, fixed *Volume) error {
	if len(v.Shape) != len(fixed.Shape) {
		return fmt.Errorf("it has %d spatial axes, %s has %d", len(v.Shape)-1, fixed.Name, len(fixed.Shape)-1)
	}
	if (v.World == "") != (fixed.World == "") {
		return fmt.Errorf("its world is %s, that of %s is %s: want both known", worldOf(v), fixed.Name, worldOf(fixed))
	}
	if v.Shape[0] > maxElements/max(1, fixed.Elements()/fixed.Shape[0]) {
		return fmt.Errorf("%d channels on the grid of %s would be too large", v.Shape[0], fixed.Name)
	}
	if v.Mask && !holds(v.Dtype, v.Fill) {
		return fmt.Errorf("its labels are %v, which cannot hold Fill(%v)", v.Dtype, v.Fill)
	}
	return nil
}

func worldOf(v *Volume) string {
	if v.World == "" {
		return "unknown"
	}
	return v.World
}

// settle gives v the geometry of the fixed volume.
func settle(v, fixed *Volume) {
	v.World = fixed.World
	v.Origin = slices.Clone(fixed.Origin)
	for k := 1; k < len(v.Shape); k++ {
		v.Shape[k] = fixed.Shape[k]
		kind := v.Axes[k].Kind
		v.Axes[k] = fixed.Axes[k]
		v.Axes[k].Kind = kind
		v.Axes[k].Direction = slices.Clone(fixed.Axes[k].Direction)
	}
}

func (x matching) outline(vs []*Volume) error {
	return x.each(vs, func(v *Volume, _ affine) error {
		if !v.Mask {
			v.Dtype = dataset.Float32
		}
		return nil
	})
}

func (x matching) apply(vs []*Volume, w *work) error {
	return x.each(vs, func(v *Volume, t affine) error {
		old := [4]int{v.Shape[0], t.old[0], t.old[1], t.old[2]}
		if order, ok := t.parallel(); ok {
			return t.matchParallel(v, old, order, w)
		}
		return t.matchOblique(v, old, w)
	})
}

// A frame is the geometry of a volume: the centre of voxel (z, y, x) is at
// origin + z·step[0] + y·step[1] + x·step[2] in the world LPS, in mm.
type frame struct {
	n      [3]int
	origin [3]float64
	step   [3][3]float64
}

func frameOf(v *Volume) (f frame, err error) {
	rank, world := len(v.Shape)-1, len(v.Origin)
	if world == 0 {
		return f, errors.New("its position is unknown: the file has no origin")
	}
	if rank < 2 || rank > world || world > 3 {
		return f, fmt.Errorf("%d spatial axes in a world of %d", rank, world)
	}
	f.origin = v.inLPS(v.Origin)
	finest := math.Inf(1)
	f.n[0] = 1
	for k := 1; k <= rank; k++ {
		a, at := &v.Axes[k], 3-rank+k-1
		f.n[at] = v.Shape[k]
		if len(a.Direction) != world || !(a.Spacing > 0) {
			return f, fmt.Errorf("direction or spacing of axis %d is unknown", k-1)
		}
		for d, x := range v.inLPS(a.Direction) {
			f.step[at][d] = x * a.Spacing
		}
		finest = min(finest, a.Spacing)
	}
	if rank == 2 {
		f.step[0] = cross(f.step[1], f.step[2])
		length := math.Hypot(math.Hypot(f.step[0][0], f.step[0][1]), f.step[0][2])
		for d := range f.step[0] {
			f.step[0][d] *= finest / length
		}
	}
	return f, nil
}
