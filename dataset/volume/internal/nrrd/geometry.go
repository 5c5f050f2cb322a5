package nrrd

import (
	"fmt"
	"math"
	"strings"
)

// World names the directions of the world's axes, from Space: "RAS" (right, anterior, superior), "LPS" or "LAS". It is ""
// if the header has no Space, or if that is a scanner's or a Cartesian system.
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

// Affine is the matrix from indices to the world of World, in SpaceUnits: the position of sample (i, j, k) is
// affine · (i, j, k, 1)ᵀ. Here i, j and k are indices of the array's spatial axes, which are axes[0] to axes[2].
//
// The world must have three dimensions, apart from time, and the image two or three axes with space directions. Otherwise
// ok is false. For two axes axes[2] is -1, and the third column is the unit normal. Without SpaceOrigin the first sample
// is at 0.
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

// Spacing is the distance from sample to sample along every axis: the length of its space direction, otherwise its value
// in Spacings, otherwise NaN.
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

// Origin is the centre of the first sample in the world, or nil if the header has none.
func (h *Header) Origin() []float64 { return append([]float64(nil), h.SpaceOrigin...) }

// Directions is, for every axis, its unit vector in the world, or nil if it has none.
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

// checkSpacings checks that spacings and space directions of the same axes agree to one thousandth. Some files have both,
// though the format does not allow it.
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
