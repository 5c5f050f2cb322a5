package volume

import (
	"errors"
	"fmt"
	"slices"

	"github.com/penstock-go/penstock/internal/dense"
	"github.com/penstock-go/penstock/internal/figures"
)

// Flip reverses the given axes, or all spatial axes if none is given.
func Flip(axes ...int) Step { return flipping{axes: slices.Clone(axes)} }

// RandomFlip reverses each of the given axes with probability p, independently
// of the others, as nnU-Net does. Without axes it takes all spatial axes.
func RandomFlip(p float64, axes ...int) Step {
	return flipping{random: true, p: p, axes: slices.Clone(axes)}
}

type flipping struct {
	random bool
	p      float64
	axes   []int
}

func (f flipping) String() string {
	if f.random {
		return figures.Call("RandomFlip", append([]any{f.p}, figures.Anys(f.axes)...)...)
	}
	return figures.Call("Flip", figures.Anys(f.axes)...)
}

func (f flipping) add(p *program) error {
	if !f.random {
		return p.add(f, anywhere, false)
	}
	if err := figures.CheckProbability(f.p); err != nil {
		return err
	}
	return p.add(f, perSample, false)
}

// each calls do with the index in Shape of every axis.
func (f flipping) each(rank int, do func(axis int)) error {
	if len(f.axes) == 0 {
		for axis := 1; axis <= rank; axis++ {
			do(axis)
		}
		return nil
	}
	for _, a := range f.axes {
		axis, err := axisOf(a, rank)
		if err != nil {
			return err
		}
		do(axis)
	}
	return nil
}

func (f flipping) outline(vs []*Volume) error {
	return f.each(rankOf(vs), func(axis int) {
		for _, v := range vs {
			if !f.random {
				turn(v, axis)
			}
		}
	})
}

func (f flipping) apply(vs []*Volume, w *work) error {
	return f.each(rankOf(vs), func(axis int) {
		if f.random && w.rand.Float64() >= f.p {
			return
		}
		for _, v := range vs {
			flip(v, axis)
			turn(v, axis)
		}
	})
}

// Rotate90 rotates by k times 90° from axis a towards axis b, as NumPy's rot90
// does with axes (a, b).
func Rotate90(k, a, b int) Step { return rotation{k: (k%4 + 4) % 4, a: a, b: b} }

// RandomRotate90 rotates with probability p, by 90, 180 or 270° (equally likely)
// from axis a towards axis b, as MONAI's RandRotate90 does. The two axes must
// have the same length.
func RandomRotate90(p float64, a, b int) Step { return rotation{random: true, p: p, a: a, b: b} }

type rotation struct {
	random bool
	p      float64
	k      int
	a, b   int
}

func (t rotation) String() string {
	if t.random {
		return figures.Call("RandomRotate90", t.p, t.a, t.b)
	}
	return figures.Call("Rotate90", t.k, t.a, t.b)
}

func (t rotation) add(p *program) error {
	if !t.random {
		return p.add(t, anywhere, true)
	}
	if err := figures.CheckProbability(t.p); err != nil {
		return err
	}
	return p.add(t, perSample, true)
}

func (t rotation) axes(rank int) (a, b int, err error) {
	a, err = axisOf(t.a, rank)
	if err != nil {
		return
	}
	if b, err = axisOf(t.b, rank); err == nil && a == b {
		err = errors.New("want two different axes")
	}
	return
}

func (t rotation) outline(vs []*Volume) error {
	a, b, err := t.axes(rankOf(vs))
	if err != nil {
		return err
	}
	if n := vs[0].Shape; t.random && n[a] != n[b] {
		return fmt.Errorf("axes of %d and %d voxels: want equal lengths", n[a], n[b])
	}
	for _, v := range vs {
		t.header(v, t.k, a, b)
	}
	return nil
}

// header rotates shape and geometry.
func (t rotation) header(v *Volume, k, a, b int) {
	// A rotation by 90° swaps the axes and reverses one.
	for ; k > 0; k-- {
		v.Shape[a], v.Shape[b] = v.Shape[b], v.Shape[a]
		v.Axes[a], v.Axes[b] = v.Axes[b], v.Axes[a]
		turn(v, a)
	}
}

func (t rotation) apply(vs []*Volume, w *work) error {
	a, b, err := t.axes(rankOf(vs))
	if err != nil {
		return err
	}
	k := t.k
	if t.random {
		if k = 0; w.rand.Float64() < t.p {
			k = 1 + w.rand.IntN(3)
		}
	}
	for i, v := range vs {
		m := newMoves(v.Shape)
		at, bt := a+4-len(v.Shape), b+4-len(v.Shape)
		srcA, srcB := m.src[at], m.src[bt]
		lastA, lastB := (v.Shape[a]-1)*srcA, (v.Shape[b]-1)*srcB
		t.header(v, k, a, b)
		m2 := newMoves(v.Shape)
		m2.src = m.src
		switch k {
		case 1:
			m2.src[at], m2.src[bt], m2.srcAt = -srcB, srcA, lastB
		case 2:
			m2.src[at], m2.src[bt], m2.srcAt = -srcA, -srcB, lastA+lastB
		case 3:
			m2.src[at], m2.src[bt], m2.srcAt = srcB, -srcA, lastA
		}
		to := w.memory(i, len(v.Data))
		m2.run(to, v.Data, v.Dtype.Size())
		v.Data = to
	}
	return nil
}

// flip reverses an axis in place.
func flip(v *Volume, axis int) {
	outer, inner := 1, 1
	for k, d := range v.Shape {
		if k < axis {
			outer *= d
		}
		if k > axis {
			inner *= d
		}
	}
	switch v.Dtype.Size() {
	case 1:
		flipBlocks(v.Data, outer, v.Shape[axis], inner)
	case 2:
		flipBlocks(dense.Values[uint16](v.Data), outer, v.Shape[axis], inner)
	case 4:
		flipBlocks(dense.Values[uint32](v.Data), outer, v.Shape[axis], inner)
	case 8:
		flipBlocks(dense.Values[uint64](v.Data), outer, v.Shape[axis], inner)
	}
}

func flipBlocks[T word](data []T, outer, n, inner int) {
	for o := range outer {
		part := data[o*n*inner : (o+1)*n*inner]
		if inner == 1 {
			for i, j := 0, len(part)-1; i < j; i, j = i+1, j-1 {
				part[i], part[j] = part[j], part[i]
			}
			continue
		}
		for i, j := 0, n-1; i < j; i, j = i+1, j-1 {
			a, b := part[i*inner:(i+1)*inner], part[j*inner:(j+1)*inner]
			for k, x := range a {
				a[k], b[k] = b[k], x
			}
		}
	}
}
