package volume

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/internal/bulk"
	"github.com/penstock-go/penstock/internal/figures"
)

// PadOrCrop gives every volume a fixed shape, as MONAI's ResizeWithPadOrCrop
// does. shape has a length in voxels per axis, or one for all axes. Longer axes
// are cropped on both sides, shorter axes padded on both sides with the value of [Fill].
func PadOrCrop(shape ...int) Step { return crop(slices.Clone(shape)) }

type crop []int

func (c crop) String() string { return figures.Call("PadOrCrop", figures.Anys(c)...) }

func (c crop) add(p *program) error {
	if len(c) == 0 || slices.Min(c) < 1 || slices.Max(c) > maxSide {
		return fmt.Errorf("want lengths from 1 to %d", maxSide)
	}
	return p.whole(c)
}

// maxSide bounds the lengths of axes that steps make.
const maxSide = 1 << 20

// maxElements bounds a volume that steps make, so that no product overflows.
const maxElements = min(1<<40, math.MaxInt/8)

// box is the part of a volume that is kept.
func (c crop) box(v *Volume) (b box, err error) {
	rank := len(v.Shape) - 1
	if len(c) != 1 && len(c) != rank {
		return b, fmt.Errorf("volumes have %d spatial axes: want as many lengths, or one", rank)
	}
	elements := v.Shape[0]
	for d := range rank {
		n := c[min(d, len(c)-1)]
		if elements > maxElements/n {
			return b, errors.New("want a smaller shape")
		}
		elements *= n
		b.start[d], b.size[d] = centered(v.Shape[d+1], n), n
	}
	if !holds(v.Dtype, v.Fill) {
		return b, fmt.Errorf("%s is %v, which cannot hold Fill(%v)", v.Name, v.Dtype, v.Fill)
	}
	return b, nil
}

func (c crop) outline(vs []*Volume) error {
	for _, v := range vs {
		b, err := c.box(v)
		if err != nil {
			return err
		}
		b.header(v)
	}
	return nil
}

func (c crop) apply(vs []*Volume, w *work) error {
	for _, v := range vs {
		b, err := c.box(v)
		if err != nil {
			return err
		}
		old := *v
		old.Shape = slices.Clone(v.Shape)
		b.header(v)
		v.Data = bulk.Make(int(v.size()))
		if err := copyBox(v.Data, v.Dtype, &old, &b, v.Fill); err != nil {
			return err
		}
	}
	return nil
}

// Orient reorders and reverses the axes of every volume, so that they follow the body: "LPS" makes x run to the left, y to
// the back and z to the head, as MONAI's Orientation does; R, A and I are the opposite directions. Volumes are not resampled:
// an oblique axis counts as the nearest one. A volume whose directions are unknown is an error.
func Orient(code string) Step { return orientation(code) }

type orientation string

func (o orientation) String() string { return figures.Call("Orient", string(o)) }

func (o orientation) add(p *program) error {
	if len(o) != 3 || !strings.ContainsRune("LR", rune(o[0])) || !strings.ContainsRune("PA", rune(o[1])) || !strings.ContainsRune("SI", rune(o[2])) {
		return errors.New("want L or R, P or A, and S or I")
	}
	return p.whole(o)
}

// order is that of the axes, and whether they are reversed, from the directions of the first volume.
func (o orientation) order(v *Volume) (order []int, turned []bool, err error) {
	axes, ok := v.bodyAxes()
	if !ok {
		return nil, nil, fmt.Errorf("the directions of %s are unknown, or not in three dimensions", v.Name)
	}
	order, turned = []int{0}, []bool{false}
	for d, axis := range axes { // z, y, x
		order = append(order, axis+1)
		along := v.inLPS(v.Axes[axis+1].Direction)[2-d] > 0
		turned = append(turned, along != (o[2-d] == "LPS"[2-d]))
	}
	return order, turned, nil
}

func (o orientation) outline(vs []*Volume) error {
	order, turned, err := o.order(vs[0])
	for _, v := range vs {
		if err == nil {
			v.rearranged(order, turned)
		}
	}
	return err
}

func (o orientation) apply(vs []*Volume, w *work) error {
	order, turned, err := o.order(vs[0])
	for _, v := range vs {
		if err == nil {
			w.rearrange(v, order, turned)
		}
	}
	return err
}

// bodyAxes are the spatial axes that are nearest to the axes of the body: that from feet to head, from front to back, and
// from side to side. It is z, y and x, and ok is false, if the directions are unknown.
func (v *Volume) bodyAxes() (axes [3]int, ok bool) {
	const x, y, z = 2, 1, 0
	best, most := [3]int{z, y, x}, math.Inf(-1)
	if len(v.World) != 3 || len(v.Axes) != 4 {
		return best, false
	}
	for _, a := range v.Axes[1:] {
		if len(a.Direction) != 3 {
			return best, false
		}
	}
	for _, axes := range [][3]int{{z, y, x}, {z, x, y}, {y, z, x}, {y, x, z}, {x, y, z}, {x, z, y}} {
		sum := 0.0
		for d, axis := range axes {
			sum += math.Abs(v.Axes[1+axis].Direction[2-d])
		}
		if sum > most+1e-9 {
			best, most = axes, sum
		}
	}
	return best, true
}

// RandomFlip reverses each of the given axes with probability p, independently
// of the others, as nnU-Net does. Without axes it takes all spatial axes.
func RandomFlip(p float64, axes ...int) Step { return flipping{p, slices.Clone(axes)} }

type flipping struct {
	p    float64
	axes []int
}

func (f flipping) String() string {
	return figures.Call("RandomFlip", append([]any{f.p}, figures.Anys(f.axes)...)...)
}

func (f flipping) add(p *program) error {
	if err := figures.CheckProbability(f.p); err != nil {
		return err
	}
	return p.random(f)
}

func (f flipping) outline(vs []*Volume) error {
	for _, a := range f.axes {
		if _, err := axisOf(a, rankOf(vs)); err != nil {
			return err
		}
	}
	return nil
}

func (f flipping) apply(vs []*Volume, w *work) error {
	rank := rankOf(vs)
	var turned [4]bool
	some := false
	for k := range max(len(f.axes), rank) {
		if len(f.axes) > 0 && k >= len(f.axes) || w.rand.Float64() >= f.p {
			continue
		}
		axis := k + 1
		if len(f.axes) > 0 {
			axis, _ = axisOf(f.axes[k], rank)
		}
		turned[axis] = !turned[axis]
		some = true
	}
	for _, v := range vs {
		if some {
			w.rearrange(v, []int{0, 1, 2, 3}[:rank+1], turned[:rank+1])
		}
	}
	return nil
}

// RandomRotate90 rotates with probability p, by 90, 180 or 270° (equally likely)
// from axis a towards axis b, as MONAI's RandRotate90 does. The two axes must
// have the same length.
func RandomRotate90(p float64, a, b int) Step { return rotation{p, a, b} }

type rotation struct {
	p    float64
	a, b int
}

func (t rotation) String() string { return figures.Call("RandomRotate90", t.p, t.a, t.b) }

func (t rotation) add(p *program) error {
	if err := figures.CheckProbability(t.p); err != nil {
		return err
	}
	return p.random(t)
}

func (t rotation) outline(vs []*Volume) error {
	a, err := axisOf(t.a, rankOf(vs))
	if err != nil {
		return err
	}
	b, err := axisOf(t.b, rankOf(vs))
	switch n := vs[0].Shape; {
	case err != nil:
		return err
	case a == b:
		return errors.New("want two different axes")
	case n[a] != n[b]:
		return fmt.Errorf("axes of %d and %d voxels: want equal lengths", n[a], n[b])
	}
	return nil
}

func (t rotation) apply(vs []*Volume, w *work) error {
	if w.rand.Float64() >= t.p {
		return nil
	}
	rank := rankOf(vs)
	a, _ := axisOf(t.a, rank)
	b, _ := axisOf(t.b, rank)
	order, turned := [4]int{0, 1, 2, 3}, [4]bool{}
	switch w.rand.IntN(3) {
	case 0: // 90°, as NumPy's rot90 does with axes (a, b)
		order[a], order[b], turned[a] = b, a, true
	case 1:
		turned[a], turned[b] = true, true
	case 2:
		order[a], order[b], turned[b] = b, a, true
	}
	for _, v := range vs {
		w.rearrange(v, order[:rank+1], turned[:rank+1])
	}
	return nil
}

// header gives a volume the shape of the box, and its origin.
func (b *box) header(v *Volume) {
	for k := 1; k < len(v.Shape); k++ {
		shift(v, k, float64(b.start[k-1]))
		v.Shape[k] = b.size[k-1]
	}
}

// A box is a part of a volume (c, z, y, x) or (c, y, x): all channels, and size
// voxels from start on along every spatial axis. It may reach outside the volume.
type box struct {
	start, size [3]int
}

// copyBox copies box b of v to dst, row by row, as values of dtype to. Voxels outside the volume become beyond. Dtypes
// differ only where to is a float.
func copyBox(dst []byte, to dataset.Dtype, v *Volume, b *box, beyond float64) error {
	// The two axes of an image count as y and x.
	shape, start, n := [3]int{1, 1, 1}, [3]int{}, [3]int{1, 1, 1}
	axes := 4 - len(v.Shape)
	copy(shape[axes:], v.Shape[1:])
	copy(start[axes:], b.start[:])
	copy(n[axes:], b.size[:])
	var lo, hi [3]int // of the box in the volume
	padded, nothing := false, false
	for d := range shape {
		lo[d], hi[d] = max(start[d], 0), min(start[d]+n[d], shape[d])
		padded = padded || hi[d]-lo[d] < n[d]
		nothing = nothing || hi[d] <= lo[d]
	}
	if padded {
		fill(dst, to, beyond)
	}
	if nothing {
		return nil
	}
	size, old := to.Size(), v.Dtype.Size()
	row, step, rows := hi[2]-lo[2], 1, hi[1]-lo[1]
	if n[2] == 1 { // a column of voxels is contiguous, too
		row, step, rows = rows, shape[2], 1
	}
	for c := range v.Shape[0] {
		for z := lo[0]; z < hi[0]; z++ {
			for y := range rows {
				from := ((c*shape[0]+z)*shape[1]+lo[1]+y)*shape[2] + lo[2]
				at := ((c*n[0]+z-start[0])*n[1]+lo[1]+y-start[1])*n[2] + lo[2] - start[2]
				if err := convert(dst[at*size:(at+row)*size], to, v.Data[from*old:], v.Dtype, step); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// centered is the index where a part of that size begins if it is centred in n voxels.
// It is below 0 if the part is larger. MONAI: CenterSpatialCrop and SpatialPad.
func centered(n, size int) int {
	if size > n {
		return -((size - n) / 2)
	}
	return n/2 - size/2
}
