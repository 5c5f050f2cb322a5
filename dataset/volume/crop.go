package volume

import (
	"errors"
	"fmt"
	"math"
	"slices"

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
