package dataset

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"gorgonia.org/tensor"

	"github.com/penstock-go/penstock/internal/files"
)

// readOutlines reads all headers, prepares them and checks that they fit together.
func (c *studyCore) readOutlines() error {
	err := files.Scan(len(c.all), files.Scanners, func(k int) error { return c.outline(&c.all[k]) })
	if err != nil {
		return err
	}
	return c.checkPatients()
}

func (c *studyCore) outline(p *studyPatient) error {
	p.outlines = make([]*Volume, len(c.sources))
	var errs []error
	for k, s := range c.sources {
		if p.files[k] == "" {
			continue
		}
		v, err := readVolumeHeader(c.fsys, p.files[k])
		if err == nil {
			err = v.channelsFirst()
		}
		if err == nil && v.Bytes() > c.limit {
			err = fmt.Errorf("%v: %d bytes of values, more than MaxVolumeSize(%d)", dims(v.Shape), v.Bytes(), c.limit)
		}
		if err != nil {
			errs = append(errs, c.fileError(p, k, err))
			continue
		}
		v.Name, v.Mask, v.Fill = s.name, s.mask, s.fill
		p.outlines[k] = v
	}
	if err := errors.Join(errs...); err != nil {
		return err
	}
	present := presentOf(p.outlines)
	if err := p.spatial(present); err != nil {
		return err
	}
	if m, ok := c.prepare.(GridMatcher); !ok || !m.MatchesGrids() {
		if err := c.agree(p, present); err != nil {
			return fmt.Errorf("%w; volume.ResampleToMatch would put them on one grid", err)
		}
	}
	if c.prepare != nil {
		if err := c.prepare.Outline(present); err != nil {
			return fmt.Errorf("dataset: patient %s: prepare: %w", p.name, err)
		}
		err := p.spatial(present)
		if err == nil {
			err = c.agree(p, present)
		}
		if err != nil {
			return fmt.Errorf("%w, once prepared", err)
		}
		for _, v := range present {
			if v.Bytes() > c.limit {
				return fmt.Errorf("dataset: patient %s: prepare: %v: %d bytes of values, more than MaxVolumeSize(%d)", p.name, v, v.Bytes(), c.limit)
			}
		}
	}
	p.shape = slices.Clone(present[0].Shape[1:])
	return nil
}

// fileError says which of the patient's volumes the error belongs to.
func (c *studyCore) fileError(p *studyPatient, source int, err error) error {
	return fmt.Errorf("dataset: patient %s, %s (%s): %w", p.name, c.sources[source].name, p.files[source], err)
}

func presentOf(volumes []*Volume) []*Volume {
	return slices.DeleteFunc(slices.Clone(volumes), func(v *Volume) bool { return v == nil })
}

// spatial checks that volumes are channels of pictures or of stacks of them.
func (p *studyPatient) spatial(present []*Volume) error {
	var errs []error
	for _, v := range present {
		if len(v.Shape) < 3 || len(v.Shape) > 4 || slices.Min(v.Shape) < 1 {
			errs = append(errs, fmt.Errorf("dataset: patient %s: %v: want channels and two or three axes of space", p.name, v))
		}
	}
	return errors.Join(errs...)
}

// agree checks that a patient's volumes cover the same voxels of the same body.
func (c *studyCore) agree(p *studyPatient, present []*Volume) error {
	var errs []error
	first := present[0]
	for _, v := range present[1:] {
		if !slices.Equal(v.Shape[1:], first.Shape[1:]) {
			errs = append(errs, fmt.Errorf("dataset: patient %s: %s has the shape %v, %s has %v",
				p.name, first.Name, dims(first.Shape[1:]), v.Name, dims(v.Shape[1:])))
		} else if d := differ(first, v, c.tolerance); d != "" {
			errs = append(errs, fmt.Errorf("dataset: patient %s: %s and %s lie apart: %s", p.name, first.Name, v.Name, d))
		}
	}
	return errors.Join(errs...)
}

// differ says how the geometry of two volumes of one shape differs by more than
// that many voxels, or "". What either does not tell is not compared.
func differ(a, b *Volume, tolerance float64) string {
	if math.IsInf(tolerance, 1) {
		return ""
	}
	finest := math.Inf(1)
	for k := 1; k < len(a.Shape); k++ {
		s, t := a.Axes[k].Spacing, b.Axes[k].Spacing
		if s == 0 || t == 0 {
			continue
		}
		finest = min(finest, s, t)
		if math.Abs(s-t)*float64(a.Shape[k]-1) > tolerance*min(s, t) {
			return fmt.Sprintf("spacings of %s and %s mm", times(a.spacings()), times(b.spacings()))
		}
	}
	// Where all corners agree, origin and directions do.
	for corner := range 1 << (len(a.Shape) - 1) {
		index := make([]float64, len(a.Shape))
		for k := 1; k < len(index); k++ {
			if corner>>(k-1)&1 == 1 {
				index[k] = float64(a.Shape[k] - 1)
			}
		}
		p, ok := a.Position(index...)
		q, ok2 := b.Position(index...)
		if !ok || !ok2 || (a.World == "") != (b.World == "") {
			return ""
		}
		x, y := a.inLPS(p), b.inLPS(q)
		if d := math.Hypot(math.Hypot(x[0]-y[0], x[1]-y[1]), x[2]-y[2]); d > tolerance*finest {
			return fmt.Sprintf("voxel %v is at %.4g and at %.4g mm", index[1:], x, y)
		}
	}
	return ""
}

// checkPatients finds what all patients have in common, which is what samples need.
func (c *studyCore) checkPatients() error {
	var errs []error
	c.channels = make([]int, len(c.sources))
	for k, s := range c.sources {
		first := -1
		for i := range c.all {
			v := c.all[i].outlines[k]
			switch {
			case v == nil:
			case first < 0:
				first, c.channels[k] = i, v.Shape[0]
			case v.Shape[0] != c.channels[k]:
				errs = append(errs, fmt.Errorf("dataset: %s has %d channels in patient %s, %d in %s",
					s.name, c.channels[k], c.all[first].name, v.Shape[0], c.all[i].name))
			}
		}
		if first < 0 {
			errs = append(errs, fmt.Errorf("dataset: no patient has %s (%s)", s.name, s.pattern))
		}
	}
	for i := range c.all {
		if p := &c.all[i]; len(p.shape) != len(c.all[0].shape) {
			errs = append(errs, fmt.Errorf("dataset: patient %s has %d axes of space, %s has %d",
				p.name, len(p.shape), c.all[0].name, len(c.all[0].shape)))
		}
	}
	return files.Join(errs)
}

// channelsFirst makes the volume one of (channels, z, y, x) or (channels, y, x).
// Values are moved only where the channels of a voxel lie side by side.
func (v *Volume) channelsFirst() error {
	spatial := v.spatialAxes()
	n := 0
	for _, is := range spatial {
		if is {
			n++
		}
	}
	if n != 2 && n != 3 {
		return fmt.Errorf("shape %v has %d axes of space: want two or three", dims(v.Shape), n)
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
	shape, axes := tensor.Shape{channels}, []Axis{{Kind: "list"}}
	for _, k := range order[len(order)-n:] {
		shape, axes = append(shape, v.Shape[k]), append(axes, v.Axes[k])
	}
	if v.Data != nil && !slices.IsSorted(order) {
		moved, err := permute(v, order)
		if err != nil {
			return err
		}
		v.Data = moved
	}
	v.Shape, v.Axes = shape, axes
	return nil
}

// spatialAxes tells the axes of space: those that have a direction, or, where
// none has, those that their kind allows, of these the three fastest.
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
func permute(v *Volume, order []int) ([]byte, error) {
	rank := len(order)
	steps := make([]int, rank)
	step := 1
	for k := rank - 1; k >= 0; k-- {
		steps[k] = step
		step *= v.Shape[k]
	}
	to := make([]byte, len(v.Data))
	inner := order[rank-1]
	w := walk{n: [4]int{1, 1, 1, v.Shape[inner]}, dst: [4]int{3: 1}, src: [4]int{3: steps[inner]}}
	index := make([]int, rank)
	for rows := v.Elements() / v.Shape[inner]; rows > 0; rows-- {
		w.srcAt = 0
		for d := range rank - 1 {
			w.srcAt += index[d] * steps[order[d]]
		}
		if err := runWalk(to, v.Dtype.Type, v.Dtype, v.Data, &w); err != nil {
			return nil, err
		}
		w.dstAt += v.Shape[inner]
		for d := rank - 2; d >= 0; d-- {
			index[d]++
			if index[d] < v.Shape[order[d]] {
				break
			}
			index[d] = 0
		}
	}
	return to, nil
}
