package volume

import (
	"errors"
	"fmt"
	"slices"

	"github.com/penstock-go/penstock/dataset"
)

// Crop is a step that gives volumes another shape: [PadOrCrop] or [RandomCrop].
type Crop struct {
	random bool
	shape  []int
	value  float64
	only   bool // value was given
}

// PadOrCrop gives every volume that shape, one number per axis or one for all,
// around its middle: axes that are longer are cut on both sides, shorter ones
// padded on both sides, as MONAI's ResizeWithPadOrCrop does.
func PadOrCrop(shape ...int) Crop { return Crop{shape: slices.Clone(shape)} }

// RandomCrop cuts out a part of that shape, one number per axis or one for all,
// all places equally likely. It must fit into the volume.
func RandomCrop(shape ...int) Crop { return Crop{random: true, shape: slices.Clone(shape)} }

// Fill sets the value of what PadOrCrop adds to volumes that are no masks; to
// masks it adds 0, which is the default.
func (c Crop) Fill(value float64) Crop {
	c.value, c.only = value, true
	return c
}

// String is the call that made the step.
func (c Crop) String() string {
	name := "PadOrCrop"
	if c.random {
		name = "RandomCrop"
	}
	text := call(name, anys(c.shape)...)
	if c.only {
		text += call(".Fill", c.value)
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
	if c.only {
		return errors.New("want Fill of PadOrCrop")
	}
	return p.add(c, perSample, true)
}

// maxSide bounds what steps may ask for.
const maxSide = 1 << 20

// maxElements bounds a volume that steps make, so that no product overflows.
const maxElements = 1 << 40

// size is what the step makes of axis k of Shape.
func (c Crop) size(k int) int {
	if len(c.shape) == 1 {
		return c.shape[0]
	}
	return c.shape[k-1]
}

func (c Crop) check(v *dataset.Volume) error {
	rank := len(v.Shape) - 1
	if len(c.shape) != 1 && len(c.shape) != rank {
		return fmt.Errorf("volumes have %d axes of space: want as many lengths, or one", rank)
	}
	elements := v.Shape[0]
	for k := 1; k <= rank; k++ {
		n := c.size(k)
		if c.random && n > v.Shape[k] {
			return fmt.Errorf("the volume has the shape %v: want a part of it, after PadOrCrop", []int(v.Shape[1:]))
		}
		if elements > maxElements/n {
			return errors.New("want a smaller shape")
		}
		elements *= n
	}
	return nil
}

func (c Crop) outline(vs []*dataset.Volume) error {
	for _, v := range vs {
		if err := c.check(v); err != nil {
			return err
		}
		for k := 1; k < len(v.Shape); k++ {
			if !c.random {
				shift(v, k, float64(middle(v.Shape[k], c.size(k))))
			}
			v.Shape[k] = c.size(k)
		}
	}
	return nil
}

// middle is where a part of that size begins to have the middle of n voxels,
// below 0 where it is larger; MONAI's CenterSpatialCrop and SpatialPad.
func middle(n, size int) int {
	if size > n {
		return -((size - n) / 2)
	}
	return n/2 - size/2
}

func (c Crop) apply(vs []*dataset.Volume, w *work) error {
	var start [4]int
	for k := 1; k < len(vs[0].Shape); k++ {
		if n := vs[0].Shape[k]; !c.random {
			start[k] = middle(n, c.size(k))
		} else if n >= c.size(k) {
			start[k] = w.rand.IntN(n - c.size(k) + 1)
		}
	}
	for i, v := range vs {
		if err := c.check(v); err != nil {
			return err
		}
		c.cut(v, i, start, w)
	}
	return nil
}

func (c Crop) cut(v *dataset.Volume, i int, start [4]int, w *work) {
	from := newMoves(v.Shape)
	padded := false
	var old [4]int
	copy(old[:], v.Shape)
	for k := 1; k < len(v.Shape); k++ {
		v.Shape[k] = c.size(k)
		shift(v, k, float64(start[k]))
		padded = padded || start[k] < 0 || start[k]+v.Shape[k] > old[k]
	}
	m := newMoves(v.Shape)
	m.src = from.src
	for k := 1; k < len(v.Shape); k++ {
		at := k + 4 - len(v.Shape)
		lo, hi := max(start[k], 0), min(start[k]+v.Shape[k], old[k])
		m.n[at] = hi - lo
		m.srcAt += lo * m.src[at]
		m.dstAt += (lo - start[k]) * m.dst[at]
	}
	to := w.memory(i, int(v.Bytes()))
	if padded {
		value := c.value
		if v.Mask {
			value = 0
		}
		fill(to, v, value)
	}
	m.run(to, v.Data, v.Dtype.Size())
	v.Data = to
}
