package volume

import (
	"errors"
	"math"
)

// A lie is how a grid lies over an old volume: voxel (z, y, x) of the grid has its
// center at old voxel at + z·step[0] + y·step[1] + x·step[2], counted in the old
// volume's axes.
type lie struct {
	n, old [3]int // voxels of the grid and of the old volume
	at     [3]float64
	step   [3][3]float64 // per axis of the grid
	same   bool          // the old volume is on the grid
}

// exact is how many voxels off a center may be taken to lie. Affines in files are
// float32, with an error of 1e-7 of a volume's length.
const exact = 1e-3

// round is how close to a half, in voxels, a center counts as lying on it, so that
// rounding does not tell which of two voxels is taken.
const round = 1e-6

// under is how grid g lies over volume f.
func (f *frame) under(g *frame) (l lie, err error) {
	inverse, err := f.inverse()
	if err != nil {
		return l, err
	}
	l = lie{n: g.n, old: f.n}
	var apart [3]float64
	for d := range apart {
		apart[d] = g.origin[d] - f.origin[d]
	}
	for k := range 3 {
		l.at[k] = dot(inverse[k], apart)
		for j := range 3 {
			l.step[j][k] = dot(inverse[k], g.step[j])
		}
	}
	back, err := g.inverse()
	if err != nil {
		return l, errors.New("the grid's axes lie in one plane")
	}
	r := lie{n: f.n, old: g.n}
	for k := range 3 {
		r.at[k] = -dot(back[k], apart)
		for j := range 3 {
			r.step[j][k] = dot(back[k], f.step[j])
		}
	}
	if !l.near() || !r.near() {
		return l, errors.New("its place and size are beyond what can be compared")
	}
	if l.apart(0, 0.5) || r.apart(0.5, 0) {
		return l, errors.New("it lies entirely outside the grid")
	}
	l.same = l.n == l.old && l.onGrid()
	return l, nil
}

// inverse is the rows that take a vector of the world to old indices.
func (f *frame) inverse() (rows [3][3]float64, err error) {
	// Scaled to the axes' lengths, which may be very different.
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
		return rows, errors.New("its axes lie in one plane")
	}
	for k := range rows {
		r := cross(unit[(k+1)%3], unit[(k+2)%3])
		for d := range r {
			rows[k][d] = r[d] / det / length[k]
		}
	}
	return rows, nil
}

// reach is the least and the largest old index, per old axis, in the grid from its
// first centers to its last and that many voxels beyond.
func (l *lie) reach(beyond float64) (lo, hi [3]float64) {
	lo, hi = l.at, l.at
	for j := range 3 {
		last := float64(l.n[j]-1) + beyond
		for k, s := range l.step[j] {
			lo[k] += min(-beyond*s, last*s)
			hi[k] += max(-beyond*s, last*s)
		}
	}
	return lo, hi
}

// near reports whether all indices are numbers that can be computed with.
func (l *lie) near() bool {
	lo, hi := l.reach(0.5)
	for k := range 3 {
		if !(lo[k] > -1e9 && hi[k] < 1e9) {
			return false
		}
	}
	return true
}

// apart reports whether an old axis tells that the two have nothing in common,
// each taken from its first centers to its last and that many voxels beyond.
func (l *lie) apart(beyond, beyondOld float64) bool {
	lo, hi := l.reach(beyond)
	for k := range 3 {
		if !(hi[k] >= -beyondOld-round && lo[k] <= float64(l.old[k]-1)+beyondOld+round) {
			return true
		}
	}
	return false
}

// onGrid reports whether every voxel of the grid has the center of the old one of
// its index.
func (l *lie) onGrid() bool {
	for k := range 3 {
		off := math.Abs(l.at[k])
		for j := range 3 {
			want := 0.0
			if j == k {
				want = 1
			}
			off += math.Abs(l.step[j][k]-want) * float64(l.n[j]-1)
		}
		if off > exact {
			return false
		}
	}
	return true
}

// parallel tells, where the axes of both run alike but for order and direction,
// the old axis along every axis of the grid.
func (l *lie) parallel() (order [3]int, ok bool) {
	for _, order := range [][3]int{{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}} {
		off := [3]float64{}
		for j, k := range order {
			for other := range 3 {
				if other != k {
					off[other] += math.Abs(l.step[j][other]) * float64(l.n[j]-1)
				}
			}
		}
		if max(off[0], off[1], off[2]) <= exact {
			return order, true
		}
	}
	return order, false
}
