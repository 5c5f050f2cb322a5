package volume

import (
	"math"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/internal/dense"
)

// matchParallel puts v, of shape old, onto a grid with parallel axes, one axis after
// the other. order has the old axis along every axis of the grid.
func (t *affine) matchParallel(v *Volume, old [4]int, order [3]int, w *work) error {
	var grids [3]grid
	var first [3]int
	for j, k := range order {
		grids[j], first[j] = lineGrid(old[k+1], t.n[j], t.at[k], t.step[j][k])
	}
	old = arrange(v, old, order)
	if v.Mask {
		return fillNearest(v, old, &grids, first, t.n, w)
	}
	return fillLinear(v, old, &grids, first, t.n, w)
}

// arrange puts the axes of v's values, of shape old, in that order.
func arrange(v *Volume, old [4]int, order [3]int) [4]int {
	if order == [3]int{0, 1, 2} {
		return old
	}
	from := newMoves(old[:])
	src := from.src
	for j, k := range order {
		from.n[j+1], from.src[j+1] = old[k+1], src[k+1]
	}
	to := newMoves(from.n[:])
	to.src = from.src
	data := make([]byte, len(v.Data))
	to.run(data, v.Data, v.Dtype.Size())
	v.Data = data
	return to.n
}

// lineGrid is the grid of those of n centres, at old indices at + i·step, that are
// within a line of old voxels. first is the index of the first of them.
func lineGrid(old, n int, at, step float64) (g grid, first int) {
	first, end := within(at, step, n, old)
	n = end - first
	g = grid{make([]int, n), make([]int, n), make([]int, n), make([]float32, n)}
	for i := range n {
		x := at + float64(first+i)*step
		floor := math.Floor(x)
		if near := math.Round(x); math.Abs(x-near) < round {
			x, floor = near, near
		}
		g.lo[i] = min(max(int(floor), 0), old-1)
		g.hi[i] = min(max(int(floor)+1, 0), old-1)
		if g.part[i] = float32(x - floor); g.part[i] == 0 {
			g.hi[i] = g.lo[i] // a neighbour with weight 0 may be NaN
		}
		g.nearest[i] = nearest(x, old)
	}
	return g, first
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

// nearest is the old voxel nearest to x.
func nearest(x float64, old int) int {
	return min(max(int(math.Floor(x+0.5+round)), 0), old-1)
}

// outside makes values for v on a grid of n, all of them Fill.
func outside(v *Volume, channels int, n [3]int) []byte {
	data := make([]byte, channels*n[0]*n[1]*n[2]*v.Dtype.Size())
	if v.Fill != 0 {
		fill(data, v.Dtype, v.Fill)
	}
	return data
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
