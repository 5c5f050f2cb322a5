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

// Crop is a step that changes the shape of volumes, made by [PadOrCrop] or
// [RandomCrop].
type Crop struct {
	random bool
	shape  []int
	value  float64
	given  bool // value was set
}

// PadOrCrop gives every volume a fixed shape, as MONAI's ResizeWithPadOrCrop
// does. shape has a length in voxels per axis, or one for all axes. Longer axes
// are cropped on both sides, shorter axes padded on both sides.
func PadOrCrop(shape ...int) Crop { return Crop{shape: slices.Clone(shape)} }

// RandomCrop cuts out a part of fixed shape at a random place; all places are
// equally likely. shape has a length in voxels per axis, or one for all axes.
// It is an error if the part is larger than the volume.
func RandomCrop(shape ...int) Crop { return Crop{random: true, shape: slices.Clone(shape)} }

// Fill sets the value of voxels that PadOrCrop adds to scans. Masks are padded
// with 0, and so are scans by default.
func (c Crop) Fill(value float64) Crop {
	c.value, c.given = value, true
	return c
}

// String is the call that made the step.
func (c Crop) String() string {
	name := "PadOrCrop"
	if c.random {
		name = "RandomCrop"
	}
	text := figures.Call(name, figures.Anys(c.shape)...)
	if c.given {
		text += figures.Call(".Fill", c.value)
	}
	return text
}

func (c Crop) add(p *program) error {
	if len(c.shape) == 0 || slices.Min(c.shape) < 1 || slices.Max(c.shape) > maxSide {
		return fmt.Errorf("want lengths from 1 to %d", maxSide)
	}
	if !c.random {
		return p.add(c, anywhere, true)
	}
	if c.given {
		return errors.New("Fill is for PadOrCrop only")
	}
	return p.add(c, perSample, true)
}

// maxSide bounds the lengths of axes that steps make.
const maxSide = 1 << 20

// maxElements bounds a volume that steps make, so that no product overflows.
const maxElements = min(1<<40, math.MaxInt/8)

// size is the length of axis k of Shape after the step.
func (c Crop) size(k int) int {
	if len(c.shape) == 1 {
		return c.shape[0]
	}
	return c.shape[k-1]
}

func (c Crop) check(v *Volume) error {
	rank := len(v.Shape) - 1
	if len(c.shape) != 1 && len(c.shape) != rank {
		return fmt.Errorf("volumes have %d spatial axes: want as many lengths, or one", rank)
	}
	if !v.Mask && !holds(v.Dtype, c.value) {
		return fmt.Errorf("%s is %v, which cannot hold the value of Fill", v.Name, v.Dtype)
	}
	elements := v.Shape[0]
	for k := 1; k <= rank; k++ {
		n := c.size(k)
		if c.random && n > v.Shape[k] {
			return fmt.Errorf("the volume has the shape %v, which is smaller: want PadOrCrop before this step", []int(v.Shape[1:]))
		}
		if elements > maxElements/n {
			return errors.New("want a smaller shape")
		}
		elements *= n
	}
	return nil
}

func (c Crop) outline(vs []*Volume) error {
	for _, v := range vs {
		if err := c.check(v); err != nil {
			return err
		}
		for k := 1; k < len(v.Shape); k++ {
			if !c.random {
				shift(v, k, float64(centered(v.Shape[k], c.size(k))))
			}
			v.Shape[k] = c.size(k)
		}
	}
	return nil
}

func (c Crop) apply(vs []*Volume, w *work) error {
	var b box
	for d := range rankOf(vs) {
		n, size := vs[0].Shape[d+1], c.size(d+1)
		b.size[d] = size
		if !c.random {
			b.start[d] = centered(n, size)
		} else if n >= size {
			b.start[d] = w.rand.IntN(n - size + 1)
		}
	}
	for i, v := range vs {
		if err := c.check(v); err != nil {
			return err
		}
		c.cut(v, i, &b, w)
	}
	return nil
}

// cut crops volume i to the box.
func (c Crop) cut(v *Volume, i int, b *box, w *work) {
	m, padded, _ := b.moves(v.Shape)
	for k := 1; k < len(v.Shape); k++ {
		v.Shape[k] = b.size[k-1]
		shift(v, k, float64(b.start[k-1]))
	}
	to := w.memory(i, int(v.Bytes()))
	if padded {
		fill(to, v.Dtype, c.beyond(v))
	}
	m.run(to, v.Data, v.Dtype.Size())
	v.Data = to
}

// beyond is the value of voxels that are added to the volume.
func (c Crop) beyond(v *Volume) float64 {
	if v.Mask {
		return 0
	}
	return c.value
}

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

// A box is a part of a volume (c, z, y, x) or (c, y, x): all channels, and size
// voxels from start on along every spatial axis. It may reach outside the volume.
type box struct {
	start, size [3]int
}

// moves plans the copy of the box from a volume of that shape into memory of the size
// of the box. It drops loops of one round and joins loops over contiguous memory, so
// that a whole plane is one loop. padded is true if the box reaches outside the
// volume, nothing if it is entirely outside.
func (b *box) moves(shape []int) (m moves, padded, nothing bool) {
	srcStep, dstStep := 1, 1
	at := 3
	for d := len(shape) - 1; d >= 0; d-- {
		from, size, n := 0, shape[d], shape[d]
		if d > 0 {
			from, size = b.start[d-1], b.size[d-1]
			lo, hi := max(from, 0), min(from+size, shape[d])
			if hi <= lo {
				return moves{}, true, true
			}
			padded = padded || hi-lo < size
			m.srcAt += lo * srcStep
			m.dstAt += (lo - from) * dstStep
			n = hi - lo
		}
		switch {
		case n == 1:
		case m.n[3] == 0:
			m.n[3], m.src[3], m.dst[3] = n, srcStep, dstStep
		case srcStep == m.n[at]*m.src[at] && dstStep == m.n[at]*m.dst[at]:
			m.n[at] *= n
		default:
			at--
			m.n[at], m.src[at], m.dst[at] = n, srcStep, dstStep
		}
		srcStep *= shape[d]
		dstStep *= size
	}
	for d := range m.n {
		m.n[d] = max(m.n[d], 1)
	}
	if m.n[3] == 1 {
		m.src[3], m.dst[3] = 1, 1
	}
	return m, padded, false
}

// copyBox copies box b of v to dst, which holds values of dtype to. Voxels outside the
// volume become beyond. Dtypes differ only where to is a float or int64.
func copyBox(dst []byte, to dataset.Dtype, v *Volume, b *box, beyond float64) error {
	m, padded, nothing := b.moves(v.Shape)
	if padded {
		fill(dst, to, beyond)
	}
	if nothing {
		return nil
	}
	return m.convert(dst, to, v.Data, v.Dtype)
}

// centered is the index where a part of that size begins if it is centred in n voxels.
// It is below 0 if the part is larger. MONAI: CenterSpatialCrop and SpatialPad.
func centered(n, size int) int {
	if size > n {
		return -((size - n) / 2)
	}
	return n/2 - size/2
}
