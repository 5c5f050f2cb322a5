package metaimage

import (
	"fmt"
	"math"
	"slices"
)

// geometry sets Spacing, Origin and Directions as ITK does. A negative spacing reverses its axis. A missing spacing is 1,
// and a missing origin is 0.
func (p *parser) geometry() error {
	h, n := p.h, len(p.h.Sizes)
	if h.Spacing == nil {
		h.Spacing = p.size
	}
	if h.Spacing == nil {
		h.Spacing = slices.Repeat([]float64{1}, n)
	}
	if h.Origin == nil {
		h.Origin = make([]float64, n)
	}
	if p.matrix == nil {
		p.matrix = make([]float64, n*n)
		for i := range n {
			p.matrix[i*n+i] = 1
		}
	}
	world := min(n, 3)
	for i := range n {
		d := slices.Clone(p.matrix[i*n : (i+1)*n])
		if h.Spacing[i] == 0 {
			return fmt.Errorf("ElementSpacing: axis %d: it is 0", i)
		}
		if h.Spacing[i] < 0 {
			h.Spacing[i] = -h.Spacing[i]
			for k := range d {
				d[k] = -d[k]
			}
		}
		for k, x := range d {
			if (i < world) != (k < world) && x != 0 {
				return fmt.Errorf("TransformMatrix: axis %d mixes spatial and other axes", i)
			}
		}
		if i < world {
			h.Directions = append(h.Directions, d[:world])
		}
	}
	h.Origin = h.Origin[:world]
	if !independent(h.Directions) {
		return fmt.Errorf("TransformMatrix: the axes %v do not span the space", h.Directions)
	}
	return nil
}

// independent reports whether one, two or three vectors span a space of that dimension.
func independent(v [][]float64) bool {
	det := 0.0
	switch len(v) {
	case 1:
		det = v[0][0]
	case 2:
		det = v[0][0]*v[1][1] - v[0][1]*v[1][0]
	case 3:
		for k := range 3 {
			a, b := (k+1)%3, (k+2)%3
			det += v[0][k] * (v[1][a]*v[2][b] - v[1][b]*v[2][a])
		}
	}
	return math.Abs(det) > 1e-12
}
