package volume

import (
	"errors"
	"math"
)

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

// parallel finds, for every axis of the grid, the old axis parallel to it. ok is false
// if the axes of the two are not parallel.
func (t *affine) parallel() (order [3]int, ok bool) {
	for _, order := range [][3]int{{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}} {
		off := [3]float64{}
		for j, k := range order {
			for other := range 3 {
				if other != k {
					off[other] += math.Abs(t.step[j][other]) * float64(t.n[j]-1)
				}
			}
		}
		if max(off[0], off[1], off[2]) <= exact {
			return order, true
		}
	}
	return order, false
}
