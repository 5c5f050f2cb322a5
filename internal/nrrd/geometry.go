package nrrd

import (
	"fmt"
	"math"
	"strings"
)

// World names the directions in which the world's axes point, from Space: "RAS" (right, anterior, superior), "LPS" or
// "LAS"; "" where the header does not say, or says scanner or plain Cartesian coordinates.
func (h *Header) World() string {
	switch strings.TrimSuffix(h.Space, "-time") {
	case "right-anterior-superior":
		return "RAS"
	case "left-posterior-superior":
		return "LPS"
	case "left-anterior-superior":
		return "LAS"
	}
	return ""
}

// Affine is the matrix from indices to the world, in the world of World and in SpaceUnits: the world's position of
// sample (i, j, k) is affine · (i, j, k, 1)ᵀ, where i, j, k count along the array's axes axes[0] to axes[2], the spatial
// ones. ok is false where the header gives no directions, or not of two or three spatial axes in a world of three,
// time aside.
//
// An image of two spatial axes has -1 for the third, whose column is then the unit normal. A header without
// SpaceOrigin has its first sample at 0.
func (h *Header) Affine() (affine [4][4]float64, axes [3]int, ok bool) {
	axes = [3]int{-1, -1, -1}
	affine[3][3] = 1
	if h.SpaceDimension != 3 && !(h.SpaceDimension == 4 && strings.HasSuffix(h.Space, "-time")) {
		return affine, axes, false
	}
	n := 0
	for axis, d := range h.SpaceDirections {
		if d == nil || d[0] == 0 && d[1] == 0 && d[2] == 0 {
			continue
		}
		if n == 3 {
			return affine, axes, false
		}
		for row := range 3 {
			affine[row][n] = d[row]
		}
		axes[n] = axis
		n++
	}
	if n < 2 {
		return affine, axes, false
	}
	if n == 2 {
		a, b := column(affine, 0), column(affine, 1)
		normal := [3]float64{a[1]*b[2] - a[2]*b[1], a[2]*b[0] - a[0]*b[2], a[0]*b[1] - a[1]*b[0]}
		for row, v := range normal {
			affine[row][2] = v / length(normal[:])
		}
	}
	for row := range min(3, len(h.SpaceOrigin)) {
		affine[row][3] = h.SpaceOrigin[row]
	}
	return affine, axes, true
}

// Spacing is the distance from sample to sample along every axis of the header: the length of its space direction,
// else what Spacings says, else NaN.
func (h *Header) Spacing() []float64 {
	spacing := make([]float64, len(h.Sizes))
	for axis := range spacing {
		spacing[axis] = math.NaN()
		if h.Spacings != nil {
			spacing[axis] = h.Spacings[axis]
		}
		if h.SpaceDirections != nil && h.SpaceDirections[axis] != nil {
			spacing[axis] = length(h.SpaceDirections[axis])
		}
	}
	return spacing
}

// Origin is the world's position of the first sample's center, or nil if the header does not say.
func (h *Header) Origin() []float64 { return append([]float64(nil), h.SpaceOrigin...) }

// Directions is, for every axis, the world's unit vector along it, or nil where the axis has none.
func (h *Header) Directions() [][]float64 {
	directions := make([][]float64, len(h.Sizes))
	for axis, d := range h.SpaceDirections {
		if l := length(d); l > 0 {
			directions[axis] = make([]float64, len(d))
			for i, v := range d {
				directions[axis][i] = v / l
			}
		}
	}
	return directions
}

// checkSpacings tells whether spacings and directions of the same axes agree, to a thousandth. Files may give both,
// though the format has no place for that.
func (h *Header) checkSpacings() error {
	for axis, d := range h.SpaceDirections {
		if d == nil || h.Spacings == nil {
			continue
		}
		if l, s := length(d), math.Abs(h.Spacings[axis]); math.Abs(l-s) > 1e-3*l {
			return fmt.Errorf("spacings: %g on axis %d, but its space direction has length %g", s, axis, l)
		}
	}
	return nil
}

func column(m [4][4]float64, c int) [3]float64 { return [3]float64{m[0][c], m[1][c], m[2][c]} }

func length(v []float64) float64 {
	var l float64
	for _, x := range v {
		l = math.Hypot(l, x)
	}
	return l
}
