package volume

import "math"

// inLPS is a vector of v's world with the signs of LPS.
func (v *Volume) inLPS(x []float64) [3]float64 {
	var p [3]float64
	copy(p[:], x)
	for d := range min(len(v.World), 3) {
		if "LPS"[d] != v.World[d] {
			p[d] = -p[d]
		}
	}
	return p
}

// unitOf splits a step in the world into its length and direction.
func unitOf(step []float64) (length float64, unit []float64) {
	for _, x := range step {
		length += x * x
	}
	length = math.Sqrt(length)
	if !(length > 0) || math.IsInf(length, 0) {
		return 0, nil
	}
	unit = make([]float64, len(step))
	for d, x := range step {
		unit[d] = x / length
	}
	return length, unit
}

// shift moves the origin along an axis by that many voxels.
func shift(v *Volume, axis int, voxels float64) {
	a := &v.Axes[axis]
	if a.Direction == nil || len(a.Direction) != len(v.Origin) || voxels == 0 {
		return
	}
	for d := range v.Origin {
		v.Origin[d] += voxels * a.Spacing * a.Direction[d]
	}
}

// turn reverses the direction of an axis, which then begins at its other end.
func turn(v *Volume, axis int) {
	shift(v, axis, float64(v.Shape[axis]-1))
	a := &v.Axes[axis]
	if a.Direction == nil {
		return
	}
	turned := make([]float64, len(a.Direction))
	for d, x := range a.Direction {
		turned[d] = -x
	}
	a.Direction = turned
}

func cross(a, b [3]float64) [3]float64 {
	return [3]float64{a[1]*b[2] - a[2]*b[1], a[2]*b[0] - a[0]*b[2], a[0]*b[1] - a[1]*b[0]}
}

func dot(a, b [3]float64) float64 { return a[0]*b[0] + a[1]*b[1] + a[2]*b[2] }
