package volume

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"gorgonia.org/tensor"

	"github.com/penstock-go/penstock/internal/steps"
)

// ResampleToMatch puts all volumes of a patient onto the grid of the one of that
// name, the fixed one: its shape, spacing, origin and directions. It is for scans
// of one body that were taken on different grids, such as PET and CT, or a mask
// drawn elsewhere, and must be the first step, as all others want one grid: volumes
// that lie apart are an error without it.
//
// Every voxel of the result has its center in the world looked up in the old
// volume, through the full affine of both; LPS, RAS and LAS may be mixed. Scans
// are interpolated linearly in three directions and become float32, masks take
// the nearest voxel, of two equally near ones that of the higher index. A volume
// reaches to the outer edges of its outermost voxels; beyond their centers it goes
// on with the values there, and beyond the edges with its Fill, see
// [Source.Fill]. That is ITK's Resample(moving, fixed) and, but for what
// lies beyond the edges, MONAI's ResampleToMatch. Positions are true to 1/1000 of a
// voxel: a volume closer than that to the grid stays as it is, as the fixed one does.
// Like both it does not smooth before it makes a volume coarser.
//
// A volume that does not tell its place in the world is an error, as is one that
// lies entirely outside of the grid. An image of two axes in a world of three is
// as thick as its finest spacing.
func ResampleToMatch(name string) Step { return matching{name} }

type matching struct{ name string }

func (x matching) String() string { return steps.Call("ResampleToMatch", x.name) }

func (x matching) add(p *program) error {
	if len(p.ops) > 0 {
		return fmt.Errorf("want it before %v, and once: every other step wants one grid", p.ops[0])
	}
	p.names = append(p.names, x.name)
	p.matches = true
	return p.add(x, perPatient, true)
}

// each finds how every volume but the fixed one lies on the grid, and calls do
// for those that have to move.
func (x matching) each(vs []*Volume, do func(v *Volume, l lie) error) error {
	at := slices.IndexFunc(vs, func(v *Volume) bool { return v.Name == x.name })
	if at < 0 {
		return fmt.Errorf("the patient has no %s", x.name)
	}
	fixed := vs[at]
	if len(vs) == 1 {
		return nil // nothing has to match, not even to have a place
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
		var l lie
		if err == nil {
			l, err = old.under(&grid)
		}
		if err == nil && !l.same {
			err = do(v, l)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", v.Name, err)
		}
		settle(v, fixed)
	}
	return nil
}

// together finds what keeps a volume from the grid, its own geometry aside.
func together(v, fixed *Volume) error {
	if len(v.Shape) != len(fixed.Shape) {
		return fmt.Errorf("it has %d axes of space, %s has %d", len(v.Shape)-1, fixed.Name, len(fixed.Shape)-1)
	}
	if (v.World == "") != (fixed.World == "") {
		return fmt.Errorf("its world is %s, that of %s is %s: want both known", worldOf(v), fixed.Name, worldOf(fixed))
	}
	if v.Shape[0] > maxElements/max(1, fixed.Elements()/fixed.Shape[0]) {
		return fmt.Errorf("%d channels are too many for the grid of %s", v.Shape[0], fixed.Name)
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

// settle gives the volume the fixed one's grid.
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
	return x.each(vs, func(v *Volume, _ lie) error {
		if !v.Mask {
			v.Dtype = tensor.Float32
		}
		return nil
	})
}

func (x matching) apply(vs []*Volume, w *work) error {
	return x.each(vs, func(v *Volume, l lie) error {
		old := [4]int{v.Shape[0], l.old[0], l.old[1], l.old[2]}
		if order, ok := l.parallel(); ok {
			return l.matchParallel(v, old, order, w)
		}
		return l.matchOblique(v, old, w)
	})
}

// A frame is where a volume's voxels lie: voxel (z, y, x) has its center at
// origin + z·step[0] + y·step[1] + x·step[2], in mm of LPS.
type frame struct {
	n      [3]int
	origin [3]float64
	step   [3][3]float64
}

func frameOf(v *Volume) (f frame, err error) {
	rank, world := len(v.Shape)-1, len(v.Origin)
	if world == 0 {
		return f, errors.New("its place is unknown: want an origin in the file")
	}
	if rank < 2 || rank > world || world > 3 {
		return f, fmt.Errorf("%d axes of space in a world of %d", rank, world)
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
