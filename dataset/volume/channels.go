package volume

import (
	"fmt"
	"slices"

	"github.com/penstock-go/penstock/dataset"
)

// channelsFirst makes the volume one of (channels, z, y, x) or (channels, y, x).
// Values are moved only if the channels of a voxel are contiguous.
func (v *Volume) channelsFirst() error {
	spatial := v.spatialAxes()
	n := 0
	for _, is := range spatial {
		if is {
			n++
		}
	}
	if n != 2 && n != 3 {
		return fmt.Errorf("shape %v has %d spatial axes: want two or three", dims(v.Shape), n)
	}
	var order []int
	channels := 1
	for k, is := range spatial {
		if !is {
			order = append(order, k)
			channels *= v.Shape[k]
		}
	}
	for k, is := range spatial {
		if is {
			order = append(order, k)
		}
	}
	shape, axes := dataset.Shape{channels}, []Axis{{Kind: "list"}}
	for _, k := range order[len(order)-n:] {
		shape, axes = append(shape, v.Shape[k]), append(axes, v.Axes[k])
	}
	if v.Data != nil && !slices.IsSorted(order) {
		v.Data = permute(v, order)
	}
	v.Shape, v.Axes = shape, axes
	return nil
}

// spatialAxes finds the spatial axes: those that have a direction. If none has, they are
// the three fastest of those whose kind allows it.
func (v *Volume) spatialAxes() []bool {
	is := make([]bool, len(v.Axes))
	directed := false
	for k, a := range v.Axes {
		is[k] = a.Direction != nil
		directed = directed || is[k]
	}
	n := 0
	for k := len(is) - 1; k >= 0 && !directed; k-- {
		if n < 3 && v.Axes[k].spatial() {
			is[k] = true
			n++
		}
	}
	return is
}

// permute is the data with the axes in another order.
func permute(v *Volume, order []int) []byte {
	rank := len(order)
	steps := make([]int, rank)
	step := 1
	for k := rank - 1; k >= 0; k-- {
		steps[k] = step
		step *= v.Shape[k]
	}
	to := make([]byte, len(v.Data))
	inner := order[rank-1]
	m := row(v.Shape[inner], 0)
	m.src[3] = steps[inner]
	index := make([]int, rank)
	for rows := v.Elements() / v.Shape[inner]; rows > 0; rows-- {
		m.srcAt = 0
		for d := range rank - 1 {
			m.srcAt += index[d] * steps[order[d]]
		}
		m.run(to, v.Data, v.Dtype.Size())
		m.dstAt += v.Shape[inner]
		for d := rank - 2; d >= 0; d-- {
			index[d]++
			if index[d] < v.Shape[order[d]] {
				break
			}
			index[d] = 0
		}
	}
	return to
}
