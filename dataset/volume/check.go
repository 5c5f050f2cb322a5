package volume

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/penstock-go/penstock/internal/files"
)

// readOutlines reads all headers, prepares them and checks that they fit together.
func (c *core) readOutlines() error {
	err := files.Scan(len(c.all), files.Scanners, func(k int) error { return c.outline(&c.all[k]) })
	if err != nil {
		return err
	}
	return c.checkPatients()
}

func (c *core) outline(p *patient) error {
	p.outlines = make([]*Volume, len(c.sources))
	var errs []error
	for k, s := range c.sources {
		if p.files[k] == "" {
			continue
		}
		v, err := readHeader(s.decoder(c.fsys, p.files[k]), c.fsys, p.files[k])
		if err == nil {
			err = v.channelsFirst()
		}
		if err == nil {
			err = c.checkSize(v)
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
	where := "volume: patient " + p.name + ": "
	if err := fit(where, "prepare: ", present, c.prepare, c.tolerance); err != nil {
		return err
	}
	if c.prepare != nil {
		for _, v := range present {
			if err := c.checkSize(v); err != nil {
				return fmt.Errorf("%sprepare: %s: %w", where, v.Name, err)
			}
		}
	}
	p.shape = slices.Clone(present[0].Shape[1:])
	return nil
}

func (c *core) checkSize(v *Volume) error {
	if v.Bytes() > c.limit {
		return fmt.Errorf("%v: %d bytes of values, more than MaxBytes(%d)", dims(v.Shape), v.Bytes(), c.limit)
	}
	return nil
}

// fileError says which of the patient's volumes the error belongs to.
func (c *core) fileError(p *patient, source int, err error) error {
	return fmt.Errorf("volume: patient %s, %s (%s): %w", p.name, c.sources[source].name, p.files[source], err)
}

func presentOf(volumes []*Volume) []*Volume {
	return slices.DeleteFunc(slices.Clone(volumes), func(v *Volume) bool { return v == nil })
}

// fit changes the headers of the volumes of one body as prepare would, which may be
// nil, and checks that the volumes are on one grid then. They must be on one grid
// before, too, unless prepare begins with ResampleToMatch. Errors begin with where, and
// those of prepare with where and preparing.
func fit(where, preparing string, vs []*Volume, prepare *program, tolerance float64) error {
	if err := spatial(where, vs); err != nil {
		return err
	}
	if prepare == nil || !prepare.matches {
		if err := agree(where, vs, tolerance); err != nil {
			return fmt.Errorf("%w: ResampleToMatch puts them on one grid", err)
		}
	}
	if prepare == nil {
		return nil
	}
	if err := prepare.outline(vs); err != nil {
		return fmt.Errorf("%s%s%w", where, preparing, err)
	}
	err := spatial(where, vs)
	if err == nil {
		err = agree(where, vs, tolerance)
	}
	if err != nil {
		return fmt.Errorf("%w, after preparation", err)
	}
	return nil
}

// spatial checks that volumes have channels and two or three spatial axes.
func spatial(where string, vs []*Volume) error {
	var errs []error
	for _, v := range vs {
		if len(v.Shape) < 3 || len(v.Shape) > 4 || slices.Min(v.Shape) < 1 {
			errs = append(errs, fmt.Errorf("%s%v: want channels and two or three spatial axes", where, v))
		}
	}
	return errors.Join(errs...)
}

// agree checks that volumes are on one grid.
func agree(where string, vs []*Volume, tolerance float64) error {
	var errs []error
	first := vs[0]
	for _, v := range vs[1:] {
		if !slices.Equal(v.Shape[1:], first.Shape[1:]) {
			errs = append(errs, fmt.Errorf("%s%s has the shape %v, %s has %v", where, first.Name, dims(first.Shape[1:]), v.Name, dims(v.Shape[1:])))
		} else if d := differ(first, v, tolerance); d != "" {
			errs = append(errs, fmt.Errorf("%s%s and %s are on different grids: %s", where, first.Name, v.Name, d))
		}
	}
	return errors.Join(errs...)
}

// differ says how the geometry of two volumes of one shape differs, if by more than
// tolerance voxels, or "". What is unknown in one of them is not compared.
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
	// If all corners agree, origins and directions agree.
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

// checkPatients finds what samples need all patients to have in common.
func (c *core) checkPatients() error {
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
				errs = append(errs, fmt.Errorf("volume: %s has %d channels in patient %s, %d in %s",
					s.name, c.channels[k], c.all[first].name, v.Shape[0], c.all[i].name))
			}
		}
		if first < 0 {
			errs = append(errs, fmt.Errorf("volume: no patient has %s (%s)", s.name, s.pattern))
		}
	}
	for i := range c.all {
		if p := &c.all[i]; len(p.shape) != len(c.all[0].shape) {
			errs = append(errs, fmt.Errorf("volume: patient %s has %d spatial axes, %s has %d",
				p.name, len(p.shape), c.all[0].name, len(c.all[0].shape)))
		}
	}
	return files.Join(errs)
}
