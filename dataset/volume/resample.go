package volume

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/penstock-go/penstock/dataset"
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
	return p.add(x, perPatient, true)
}

// scales are, per axis of Shape, the width of a new voxel in old ones, and the number
// of new voxels. They are the same for volumes whose spacings agree up to rounding.
func (x resampling) scales(vs []*Volume) (scale [4]float64, n [4]int, err error) {
	rank := rankOf(vs)
	if len(x.spacing) != 1 && len(x.spacing) != rank {
		return scale, n, fmt.Errorf("volumes have %d spatial axes: want as many spacings, or one", rank)
	}
	elements := 1
	for k := 1; k <= rank; k++ {
		scale[k], n[k] = 1, vs[0].Shape[k]
		if to := x.to(k); to > 0 {
			known := slices.IndexFunc(vs, func(v *Volume) bool { return v.Axes[k].Spacing > 0 })
			if known < 0 {
				return scale, n, fmt.Errorf("the spacing of axis %d is unknown", k-1)
			}
			scale[k] = to / vs[known].Axes[k].Spacing
			size := math.Round(float64(n[k]) / scale[k])
			if size > maxSide {
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
		old := [4]int{1, 1, 1, 1}
		copy(old[4-len(v.Shape):], v.Shape)
		// The two axes of an image count as y and x.
		var grids [3]grid
		for d := range grids {
			k := d + len(v.Shape) - 3
			if k < 1 {
				grids[d] = newGrid(1, 1, 1)
				continue
			}
			grids[d] = newGrid(old[d+1], n[k], scale[k])
		}
		if len(v.Shape) == 3 {
			old[0], old[1] = v.Shape[0], 1
		}
		all := [3]int{len(grids[0].lo), len(grids[1].lo), len(grids[2].lo)}
		if v.Mask {
			err = fillNearest(v, old, &grids, [3]int{}, all, w)
		} else {
			err = fillLinear(v, old, &grids, [3]int{}, all, w)
		}
		if err != nil {
			return err
		}
		x.header(v, scale, n)
	}
	return nil
}

// A grid has the positions of the new voxels of one axis among the old ones: voxel i is
// between old voxels lo[i] and hi[i], and part[i] of the way from the first to the
// second. nearest[i] is the nearest old voxel.
type grid struct {
	lo, hi, nearest []int
	part            []float32
}

func newGrid(old, n int, scale float64) grid {
	g := grid{make([]int, n), make([]int, n), make([]int, n), make([]float32, n)}
	for i := range n {
		at := (float64(i)+0.5)*scale - 0.5
		floor := math.Floor(at)
		g.lo[i] = min(max(int(floor), 0), old-1)
		g.hi[i] = min(max(int(floor)+1, 0), old-1)
		g.part[i] = float32(at - floor)
		g.nearest[i] = min(max(int(math.Floor(at+0.5)), 0), old-1)
	}
	return g
}

// blend mixes four rows: a and b in one plane, c and d in the next.
func blend(row, a, b, c, d []float32, z, y float32) {
	a, b, c, d = a[:len(row)], b[:len(row)], c[:len(row)], d[:len(row)]
	switch {
	case z == 0 && y == 0:
		copy(row, a)
	case z == 0:
		for i := range row {
			row[i] = a[i] + y*(b[i]-a[i])
		}
	default:
		for i := range row {
			p, q := a[i]+y*(b[i]-a[i]), c[i]+y*(d[i]-c[i])
			row[i] = p + z*(q-p)
		}
	}
}

func interpolate(out, row []float32, g *grid) {
	lo, hi, part := g.lo[:len(out)], g.hi[:len(out)], g.part[:len(out)]
	for i := range out {
		a := row[lo[i]]
		out[i] = a + part[i]*(row[hi[i]]-a)
	}
}

// pick takes the elements of a row at those indices.
func pick(out, row []byte, at []int, size int) {
	switch size {
	case 1:
		pickWords(out, row, at)
	case 2:
		pickWords(dense.Values[uint16](out), dense.Values[uint16](row), at)
	case 4:
		pickWords(dense.Values[uint32](out), dense.Values[uint32](row), at)
	case 8:
		pickWords(dense.Values[uint64](out), dense.Values[uint64](row), at)
	}
}

func pickWords[T word](out, row []T, at []int) {
	for i, k := range at {
		out[i] = row[k]
	}
}

func fillLinear(v *Volume, old [4]int, g *[3]grid, first, n [3]int, w *work) error {
	src, err := v.Float32()
	if err != nil {
		return err
	}
	v.Dtype = dataset.Float32
	v.Data = outside(v, old[0], n)
	dst := dense.Values[float32](v.Data)
	nx := len(g[2].lo)
	if nx == 0 {
		return nil
	}
	// Only the part of a row that the grid needs is blended.
	from, to := min(g[2].lo[0], g[2].lo[nx-1]), max(g[2].hi[0], g[2].hi[nx-1])+1
	for i := range nx {
		g[2].lo[i] -= from
		g[2].hi[i] -= from
	}
	row := make([]float32, to-from)
	for c := range old[0] {
		at := func(z, y int) []float32 {
			r := ((c*old[1]+z)*old[2] + y) * old[3]
			return src[r+from : r+to]
		}
		for z := range g[0].lo {
			if err := w.ctx.Err(); err != nil {
				return err
			}
			for y := range g[1].lo {
				blend(row, at(g[0].lo[z], g[1].lo[y]), at(g[0].lo[z], g[1].hi[y]),
					at(g[0].hi[z], g[1].lo[y]), at(g[0].hi[z], g[1].hi[y]), g[0].part[z], g[1].part[y])
				out := ((c*n[0]+first[0]+z)*n[1]+first[1]+y)*n[2] + first[2]
				interpolate(dst[out:out+nx], row, &g[2])
			}
		}
	}
	return nil
}

func fillNearest(v *Volume, old [4]int, g *[3]grid, first, n [3]int, w *work) error {
	src, size := v.Data, v.Dtype.Size()
	v.Data = outside(v, old[0], n)
	nx := len(g[2].nearest)
	for c := range old[0] {
		for z, oldZ := range g[0].nearest {
			if err := w.ctx.Err(); err != nil {
				return err
			}
			for y, oldY := range g[1].nearest {
				from := ((c*old[1]+oldZ)*old[2] + oldY) * old[3] * size
				out := (((c*n[0]+first[0]+z)*n[1]+first[1]+y)*n[2] + first[2]) * size
				pick(v.Data[out:out+nx*size], src[from:from+old[3]*size], g[2].nearest, size)
			}
		}
	}
	return nil
}
