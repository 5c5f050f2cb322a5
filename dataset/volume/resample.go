package volume

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/internal/bulk"
	"github.com/penstock-go/penstock/internal/dense"
	"github.com/penstock-go/penstock/internal/figures"
)

// Resample gives volumes a new spacing in mm. spacing has a number per axis,
// the slowest first, or one for all axes; 0 keeps the spacing of an axis. Scans
// are interpolated linearly along every axis and become float32. Masks take the
// nearest voxel.
//
// The outer edge of the first voxel stays where it is, and n voxels of spacing s
// become round(n·s/spacing) voxels, at least one. The centre of voxel i of the
// result is at index (i + ½)·spacing/s - ½ of the old volume, so the origin moves
// by half the difference of the spacings.
// Beyond the centres of its outermost voxels, a volume has the values of these
// voxels. ITK's resample filter gives the same on that grid, and so does SciPy's
// zoom with grid_mode if n·s/spacing is a whole number. Like both, Resample does
// not smooth before it makes a volume coarser.
func Resample(spacing ...float64) Step { return resampling{slices.Clone(spacing)} }

type resampling struct{ spacing []float64 }

func (x resampling) String() string { return figures.Call("Resample", figures.Anys(x.spacing)...) }

func (x resampling) add(p *program) error {
	if len(x.spacing) == 0 {
		return errors.New("want a spacing in mm")
	}
	for _, s := range x.spacing {
		if !(s >= 0) || math.IsInf(s, 0) {
			return errors.New("want spacings of 0 mm or more")
		}
	}
	return p.whole(x)
}

// scales are, per axis of Shape, the width of a new voxel in old ones, and the number
// of new voxels. They are the same for volumes whose spacings agree up to rounding.
func (x resampling) scales(vs []*Volume) (scale [4]float64, n [4]int, err error) {
	rank := rankOf(vs)
	if len(x.spacing) != 1 && len(x.spacing) != rank {
		return scale, n, fmt.Errorf("volumes have %d spatial axes: want as many spacings, or one", rank)
	}
	elements := 1
	for _, v := range vs {
		elements = max(elements, v.Shape[0])
	}
	for k := 1; k <= rank; k++ {
		scale[k], n[k] = 1, vs[0].Shape[k]
		if to := x.to(k); to > 0 {
			known := slices.IndexFunc(vs, func(v *Volume) bool { return v.Axes[k].Spacing > 0 })
			if known < 0 {
				return scale, n, fmt.Errorf("the spacing of axis %d is unknown", k-1)
			}
			scale[k] = to / vs[known].Axes[k].Spacing
			size := math.Round(float64(n[k]) / scale[k])
			if size > maxSide || math.IsInf(scale[k], 0) {
				return scale, n, fmt.Errorf("axis %d of %d voxels, %v mm apart, would have %.0f", k-1, n[k], vs[known].Axes[k].Spacing, size)
			}
			n[k] = max(1, int(size))
		}
		if elements > maxElements/n[k] {
			return scale, n, errors.New("want a larger spacing: the volume would be too large")
		}
		elements *= n[k]
	}
	return scale, n, nil
}

func (x resampling) to(k int) float64 {
	if len(x.spacing) == 1 {
		return x.spacing[0]
	}
	return x.spacing[k-1]
}

func (x resampling) outline(vs []*Volume) error {
	scale, n, err := x.scales(vs)
	if err != nil {
		return err
	}
	for _, v := range vs {
		x.header(v, scale, n)
		if !v.Mask {
			v.Dtype = dataset.Float32
		}
	}
	return nil
}

func (x resampling) header(v *Volume, scale [4]float64, n [4]int) {
	for k := 1; k < len(v.Shape); k++ {
		shift(v, k, (scale[k]-1)/2)
		v.Shape[k] = n[k]
		if to := x.to(k); to > 0 {
			v.Axes[k].Spacing = to
		}
	}
}

func (x resampling) apply(vs []*Volume, w *work) error {
	scale, n, err := x.scales(vs)
	if err != nil {
		return err
	}
	for _, v := range vs {
		t := affine{n: [3]int{1, 1, 1}, old: [3]int{1, 1, 1}}
		for d := range 3 { // the two axes of an image count as y and x
			t.step[d][d] = 1
			if k := d + len(v.Shape) - 3; k >= 1 {
				t.n[d], t.old[d] = n[k], v.Shape[k]
				t.at[d], t.step[d][d] = (scale[k]-1)/2, scale[k]
				if n[k] == 1 { // it may be outside of a volume that is thinner than half of a voxel
					t.at[d] = min(t.at[d], float64(t.old[d])-0.5)
				}
			}
		}
		if err := t.resample(v, w); err != nil {
			return err
		}
		x.header(v, scale, n)
	}
	return nil
}

// ResampleToMatch resamples all volumes of a patient to the grid of the named one: its
// shape, spacing, origin and directions. It must be the first step; without it, volumes on
// different grids are an error.
//
// Scans are interpolated linearly along three axes and become float32; masks take the
// nearest voxel. Outside its outermost voxels a volume has the value of [Fill]. This is
// ITK's Resample(moving, fixed), and MONAI's ResampleToMatch within the edges; like both, it
// does not smooth before it makes a volume coarser. Positions are exact to 1/1000 of a voxel.
//
// A volume whose position in the world is unknown, or that is entirely outside the grid, is
// an error. A volume with two spatial axes in a world of three is one voxel thick.
func ResampleToMatch(name string) Step { return matching{name} }

type matching struct{ name string }

func (x matching) String() string { return figures.Call("ResampleToMatch", x.name) }

func (x matching) add(p *program) error {
	if len(p.ops) > 0 {
		return fmt.Errorf("want it before %v, and once: all other steps need one grid", p.ops[0])
	}
	p.names = append(p.names, x.name)
	p.matches = true
	return p.whole(x)
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
	if v.Shape[0] > maxElements/max(1, fixed.Shape.Elements()/fixed.Shape[0]) {
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
		return t.resample(v, w)
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

// An affine maps the indices of a grid to those of an old volume: the centre of voxel
// (z, y, x) of the grid is at index at + z·step[0] + y·step[1] + x·step[2] of the old
// volume.
type affine struct {
	n, old [3]int // voxels of the grid and of the old volume
	at     [3]float64
	step   [3][3]float64 // per axis of the grid
	same   bool          // the old volume is on the grid
}

// exact is the error of positions in voxels that is accepted. Affines in files are
// float32, with an error of 1e-7 of a volume's length.
const exact = 1e-3

// round is how close to a half, in voxels, an index counts as the half, so that
// rounding errors do not decide which of two voxels is taken.
const round = 1e-6

// affineFrom is the affine from grid g to volume f.
func (f *frame) affineFrom(g *frame) (t affine, err error) {
	inverse, err := f.inverse()
	if err != nil {
		return t, err
	}
	t = affine{n: g.n, old: f.n}
	var apart [3]float64
	for d := range apart {
		apart[d] = g.origin[d] - f.origin[d]
	}
	for k := range 3 {
		t.at[k] = dot(inverse[k], apart)
		for j := range 3 {
			t.step[j][k] = dot(inverse[k], g.step[j])
		}
	}
	back, err := g.inverse()
	if err != nil {
		return t, errors.New("the grid's axes are in one plane")
	}
	r := affine{n: f.n, old: g.n}
	for k := range 3 {
		r.at[k] = -dot(back[k], apart)
		for j := range 3 {
			r.step[j][k] = dot(back[k], f.step[j])
		}
	}
	if !t.near() || !r.near() {
		return t, errors.New("its position and size are too far from those of the grid to be compared")
	}
	if t.apart(0, 0.5) || r.apart(0.5, 0) {
		return t, errors.New("it is entirely outside the grid")
	}
	t.same = t.n == t.old && t.onGrid()
	return t, nil
}

// inverse is the rows of the matrix that maps a vector in the world to old indices.
func (f *frame) inverse() (rows [3][3]float64, err error) {
	// Unit vectors first: the lengths of the axes may be very different.
	var unit [3][3]float64
	var length [3]float64
	for k, s := range f.step {
		length[k] = math.Hypot(math.Hypot(s[0], s[1]), s[2])
		for d := range s {
			unit[k][d] = s[d] / length[k]
		}
	}
	det := dot(unit[0], cross(unit[1], unit[2]))
	if !(math.Abs(det) > 1e-6) {
		return rows, errors.New("its axes are in one plane")
	}
	for k := range rows {
		r := cross(unit[(k+1)%3], unit[(k+2)%3])
		for d := range r {
			rows[k][d] = r[d] / det / length[k]
		}
	}
	return rows, nil
}

// reach is the range of old indices, per old axis, that the grid covers: from its first
// centres to its last, and that many voxels beyond.
func (t *affine) reach(beyond float64) (lo, hi [3]float64) {
	lo, hi = t.at, t.at
	for j := range 3 {
		last := float64(t.n[j]-1) + beyond
		for k, s := range t.step[j] {
			lo[k] += min(-beyond*s, last*s)
			hi[k] += max(-beyond*s, last*s)
		}
	}
	return lo, hi
}

// near reports whether all indices are small enough to be computed exactly.
func (t *affine) near() bool {
	lo, hi := t.reach(0.5)
	for k := range 3 {
		if !(lo[k] > -1e9 && hi[k] < 1e9) {
			return false
		}
	}
	return true
}

// apart reports whether the grid and the old volume do not overlap along one of the old
// axes. Each covers its first centres to its last, and that many voxels beyond.
func (t *affine) apart(beyond, beyondOld float64) bool {
	lo, hi := t.reach(beyond)
	for k := range 3 {
		if !(hi[k] >= -beyondOld-round && lo[k] <= float64(t.old[k]-1)+beyondOld+round) {
			return true
		}
	}
	return false
}

// onGrid reports whether every voxel of the grid has the centre of the old voxel with
// the same index.
func (t *affine) onGrid() bool {
	for k := range 3 {
		off := math.Abs(t.at[k])
		for j := range 3 {
			want := 0.0
			if j == k {
				want = 1
			}
			off += math.Abs(t.step[j][k]-want) * float64(t.n[j]-1)
		}
		if off > exact {
			return false
		}
	}
	return true
}

// within finds the indices i below n, from first to end-1, for which at + i·step is
// within the outer edges of a line of old voxels.
func within(at, step float64, n, old int) (first, end int) {
	lo, hi := -0.5-round-at, float64(old)-0.5+round-at
	if step < 0 {
		lo, hi, step = -hi, -lo, -step
	}
	if step == 0 {
		if lo > 0 || hi < 0 {
			return 0, 0
		}
		return 0, n
	}
	// Compared as floats: a step close to 0 makes numbers that no int can hold.
	first = int(min(max(math.Ceil(lo/step), 0), float64(n)))
	end = int(min(max(math.Floor(hi/step)+1, 0), float64(n)))
	return first, max(first, end)
}

// nearest is the old voxel nearest to x, which is more than -1.
func nearest(x float64, old int) int {
	return min(max(int(x+0.5+round), 0), old-1)
}

// resample puts v onto a grid of any orientation. Outside of the old volume it has the value of Fill.
func (t *affine) resample(v *Volume, w *work) error {
	channels, src := v.Shape[0], v.Data
	outside := func() { // makes room for the grid
		v.Data = bulk.Make(channels * t.n[0] * t.n[1] * t.n[2] * v.Dtype.Size())
		fill(v.Data, v.Dtype, v.Fill)
	}
	if v.Mask {
		outside()
		switch v.Dtype.Size() {
		case 1:
			return t.eachRow(channels, w, nearestRow(v.Data, src, t.old))
		case 2:
			return t.eachRow(channels, w, nearestRow(dense.Values[uint16](v.Data), dense.Values[uint16](src), t.old))
		case 4:
			return t.eachRow(channels, w, nearestRow(dense.Values[uint32](v.Data), dense.Values[uint32](src), t.old))
		default:
			return t.eachRow(channels, w, nearestRow(dense.Values[uint64](v.Data), dense.Values[uint64](src), t.old))
		}
	}
	values, err := v.Float32()
	if err != nil {
		return err
	}
	v.Dtype = dataset.Float32
	outside()
	return t.eachRow(channels, w, linearRow(dense.Values[float32](v.Data), values, t.old))
}

// A line is the part of a row of the grid that is in the old volume: n voxels of
// channel c, stored from index out of the result on. The first is at old index at, and
// each next one is a step further.
type line struct {
	c, out, n int
	at, step  [3]float64
}

// eachRow calls do for every row of the grid that meets the old volume.
func (t *affine) eachRow(channels int, w *work, do func(line)) error {
	for c := range channels {
		for z := range t.n[0] {
			if err := w.ctx.Err(); err != nil {
				return err
			}
			for y := range t.n[1] {
				r := line{c: c, step: t.step[2]}
				for k, s := range r.step {
					if math.Abs(s)*float64(t.n[2]) < exact {
						r.step[k] = 0
					}
				}
				first, end := 0, t.n[2]
				for k := range r.at {
					r.at[k] = t.at[k] + float64(z)*t.step[0][k] + float64(y)*t.step[1][k]
					a, b := within(r.at[k], r.step[k], t.n[2], t.old[k])
					first, end = max(first, a), min(end, b)
				}
				if end <= first {
					continue
				}
				for k := range r.at {
					r.at[k] += float64(first) * r.step[k]
				}
				r.out, r.n = ((c*t.n[0]+z)*t.n[1]+y)*t.n[2]+first, end-first
				do(r)
			}
		}
	}
	return nil
}

func nearestRow[T word](dst, src []T, old [3]int) func(line) {
	return func(r line) {
		from := src[r.c*old[0]*old[1]*old[2]:][:old[0]*old[1]*old[2]]
		to := dst[r.out : r.out+r.n]
		along := r.step[0] == 0 && r.step[1] == 0 // a row of the old volume
		at := 0
		for i := range to {
			x := float64(i)
			if i == 0 || !along {
				at = (nearest(r.at[0]+x*r.step[0], old[0])*old[1] + nearest(r.at[1]+x*r.step[1], old[1])) * old[2]
			}
			to[i] = from[at+nearest(r.at[2]+x*r.step[2], old[2])]
		}
	}
}

func linearRow(dst, src []float32, old [3]int) func(line) {
	blended := make([]float32, old[2])
	return func(r line) {
		from := src[r.c*old[0]*old[1]*old[2]:][:old[0]*old[1]*old[2]]
		row := func(z, y int) []float32 { return from[(z*old[1]+y)*old[2]:][:old[2]] }
		along := r.step[0] == 0 && r.step[1] == 0 // a row of the old volume
		var z0, z1, y0, y1 int
		var z, y float32
		var a, b, c, d []float32 // the four rows of the old volume around a voxel
		for i := range dst[r.out : r.out+r.n] {
			x := float64(i)
			if i == 0 || !along {
				z0, z1, z = between(r.at[0]+x*r.step[0], old[0])
				y0, y1, y = between(r.at[1]+x*r.step[1], old[1])
				a, b, c, d = row(z0, y0), row(z0, y1), row(z1, y0), row(z1, y1)
			}
			if i == 0 && along {
				blend(blended, a, b, c, d, z, y)
			}
			x0, x1, part := between(r.at[2]+x*r.step[2], old[2])
			if along {
				dst[r.out+i] = mix(blended[x0], blended[x1], part)
				continue
			}
			p := mix(mix(a[x0], b[x0], y), mix(c[x0], d[x0], y), z)
			q := mix(mix(a[x1], b[x1], y), mix(c[x1], d[x1], y), z)
			dst[r.out+i] = mix(p, q, part)
		}
	}
}

// blend mixes four rows: a and b in one plane, c and d in the next. A row of weight 0 may have NaN.
func blend(row, a, b, c, d []float32, z, y float32) {
	a, b, c, d = a[:len(row)], b[:len(row)], c[:len(row)], d[:len(row)]
	switch {
	case z == 0 && y == 0:
		copy(row, a)
	case z == 0:
		for i := range row {
			row[i] = mix(a[i], b[i], y)
		}
	default:
		for i := range row {
			row[i] = mix(mix(a[i], b[i], y), mix(c[i], d[i], y), z)
		}
	}
}

// between finds the two of old voxels around index x, which is -1 or more, and how far
// x is from the first to the second, from 0 to 1. At a voxel both are that one: a
// neighbour with weight 0 may be NaN.
func between(x float64, old int) (lo, hi int, part float32) {
	floor := int(x+1) - 1
	part = float32(x - float64(floor))
	switch {
	case part < round:
		hi, part = floor, 0
	case part > 1-round:
		floor, hi, part = floor+1, floor+1, 0
	default:
		hi = floor + 1
	}
	return min(max(floor, 0), old-1), min(max(hi, 0), old-1), part
}

func mix(a, b, part float32) float32 { return a + part*(b-a) }
