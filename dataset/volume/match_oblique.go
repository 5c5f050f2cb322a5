package volume

import (
	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/internal/dense"
)

// matchOblique puts v, of shape old, onto a grid of any orientation.
func (t *affine) matchOblique(v *Volume, old [4]int, w *work) error {
	if v.Mask {
		src := v.Data
		v.Data = outside(v, old[0], t.n)
		switch v.Dtype.Size() {
		case 1:
			return t.eachRow(old, w, nearestRow(v.Data, src, old))
		case 2:
			return t.eachRow(old, w, nearestRow(dense.Values[uint16](v.Data), dense.Values[uint16](src), old))
		case 4:
			return t.eachRow(old, w, nearestRow(dense.Values[uint32](v.Data), dense.Values[uint32](src), old))
		default:
			return t.eachRow(old, w, nearestRow(dense.Values[uint64](v.Data), dense.Values[uint64](src), old))
		}
	}
	src, err := v.Float32()
	if err != nil {
		return err
	}
	v.Dtype = dataset.Float32
	v.Data = outside(v, old[0], t.n)
	return t.eachRow(old, w, linearRow(dense.Values[float32](v.Data), src, old))
}

// A line is the part of a row of the grid that is in the old volume: n voxels of
// channel c, stored from index out of the result on. The first is at old index at, and
// each next one is a step further.
type line struct {
	c, out, n int
	at, step  [3]float64
}

// eachRow calls do for every row of the grid that meets the old volume.
func (t *affine) eachRow(old [4]int, w *work, do func(line)) error {
	for c := range old[0] {
		for z := range t.n[0] {
			if err := w.ctx.Err(); err != nil {
				return err
			}
			for y := range t.n[1] {
				r := line{c: c, step: t.step[2]}
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

func nearestRow[T word](dst, src []T, old [4]int) func(line) {
	return func(r line) {
		from := src[r.c*old[1]*old[2]*old[3]:][:old[1]*old[2]*old[3]]
		for i := range dst[r.out : r.out+r.n] {
			x := float64(i)
			z := nearest(r.at[0]+x*r.step[0], old[1])
			y := nearest(r.at[1]+x*r.step[1], old[2])
			x2 := nearest(r.at[2]+x*r.step[2], old[3])
			dst[r.out+i] = from[(z*old[2]+y)*old[3]+x2]
		}
	}
}

func linearRow(dst, src []float32, old [4]int) func(line) {
	return func(r line) {
		from := src[r.c*old[1]*old[2]*old[3]:][:old[1]*old[2]*old[3]]
		for i := range dst[r.out : r.out+r.n] {
			x := float64(i)
			z0, z1, z := between(r.at[0]+x*r.step[0], old[1])
			y0, y1, y := between(r.at[1]+x*r.step[1], old[2])
			x0, x1, part := between(r.at[2]+x*r.step[2], old[3])
			a, b := (z0*old[2]+y0)*old[3], (z0*old[2]+y1)*old[3]
			c, d := (z1*old[2]+y0)*old[3], (z1*old[2]+y1)*old[3]
			p := mix(mix(from[a+x0], from[a+x1], part), mix(from[b+x0], from[b+x1], part), y)
			q := mix(mix(from[c+x0], from[c+x1], part), mix(from[d+x0], from[d+x1], part), y)
			dst[r.out+i] = mix(p, q, z)
		}
	}
}

// between finds the two of old voxels around index x, which is -1 or more, and how far
// x is from the first to the second, from 0 to 1.
func between(x float64, old int) (lo, hi int, part float32) {
	floor := int(x+1) - 1
	return min(max(floor, 0), old-1), min(max(floor+1, 0), old-1), float32(x - float64(floor))
}

func mix(a, b, part float32) float32 { return a + part*(b-a) }
