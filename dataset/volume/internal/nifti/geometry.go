package nifti

import "math"

// World is "RAS": the world's axes point to the patient's right, front and head.
func (h *Header) World() string { return "RAS" }

// Affine is the matrix from indices to the world, in XYZUnit: the position of voxel (i, j, k) is
// affine · (i, j, k, 1)ᵀ. It is the sform if SformCode is positive, otherwise the qform if QformCode is (methods 3 and 2
// of nifti1.h). Without either the header has sizes but no position. Then, as in nibabel, the first axis runs to the left,
// the others run forward and up, and the middle of the image is the world's origin.
//
// axes is 0, 1, 2, with -1 for axes that the image does not have. ok is false if a number is not finite.
func (h *Header) Affine() (affine [4][4]float64, axes [3]int, ok bool) {
	for i := range axes {
		if axes[i] = i; i >= len(h.Dim) {
			axes[i] = -1
		}
	}
	switch {
	case h.SformCode > 0:
		affine = h.Sform()
	case h.QformCode > 0:
		affine = h.Qform()
	default:
		affine = h.base()
	}
	for _, row := range affine {
		for _, v := range row {
			if math.IsNaN(v) || math.IsInf(v, 0) {
				return affine, axes, false
			}
		}
	}
	return affine, axes, true
}

// base is the matrix of an image without a position: nibabel's shape_zoom_affine with x_flip.
func (h *Header) base() (m [4][4]float64) {
	for i, n := range h.Dim[:min(3, len(h.Dim))] {
		m[i][i] = h.step(i)
		if i == 0 {
			m[i][i] = -m[i][i]
		}
		m[i][3] = float64(n-1) / -2 * m[i][i]
	}
	for i := len(h.Dim); i < 3; i++ {
		m[i][i] = 1
	}
	m[3][3] = 1
	return m
}

// Sform is the matrix of Srow, for any SformCode.
func (h *Header) Sform() [4][4]float64 {
	return [4][4]float64{h.Srow[0], h.Srow[1], h.Srow[2], {0, 0, 0, 1}}
}

// Qform is the matrix of the quaternion, the steps and the offset, by method 2 of nifti1.h, for any QformCode. If the
// vector (b, c, d) is longer than 1, it is normalised, and a is 0.
func (h *Header) Qform() [4][4]float64 {
	b, c, d := h.Quatern[0], h.Quatern[1], h.Quatern[2]
	a := 1 - (b*b + c*c + d*d)
	if a < 1e-7 {
		l := 1 / math.Sqrt(b*b+c*c+d*d)
		a, b, c, d = 0, l*b, l*c, l*d
	} else {
		a = math.Sqrt(a)
	}
	rotation := [3][3]float64{
		{a*a + b*b - c*c - d*d, 2 * (b*c - a*d), 2 * (b*d + a*c)},
		{2 * (b*c + a*d), a*a + c*c - b*b - d*d, 2 * (c*d - a*b)},
		{2 * (b*d - a*c), 2 * (c*d + a*b), a*a + d*d - b*b - c*c},
	}
	var m [4][4]float64
	for i, row := range rotation {
		m[i] = [4]float64{row[0] * h.step(0), row[1] * h.step(1), row[2] * h.step(2) * h.Qfac, h.Qoffset[i]}
	}
	m[3][3] = 1
	return m
}

// step is the distance between voxels along an axis. It is positive, and 1 if the header has none.
func (h *Header) step(axis int) float64 {
	if h.Pixdim[axis] == 0 {
		return 1
	}
	return math.Abs(h.Pixdim[axis])
}

// Spacing is the distance from sample to sample along every axis of Dim: Pixdim without its sign. For the first three axes
// it is the length of the column of Affine, if that is known and differs by more than the rounding of float32.
func (h *Header) Spacing() []float64 {
	affine, _, ok := h.Affine()
	spacing := make([]float64, len(h.Dim))
	for axis := range spacing {
		spacing[axis] = math.Abs(h.Pixdim[axis])
		if axis >= 3 || !ok {
			continue
		}
		if l := length(affine, axis); math.Abs(l-spacing[axis]) > 1e-5*l {
			spacing[axis] = l
		}
	}
	return spacing
}

// Origin is the centre of the first voxel in the world, or nil if it is not finite.
func (h *Header) Origin() []float64 {
	affine, _, ok := h.Affine()
	if !ok {
		return nil
	}
	return []float64{affine[0][3], affine[1][3], affine[2][3]}
}

// Directions is, for every axis of Dim, its unit vector in the world, or nil if it has none.
func (h *Header) Directions() [][]float64 {
	directions := make([][]float64, len(h.Dim))
	affine, _, ok := h.Affine()
	for axis := range min(3, len(directions)) {
		if l := length(affine, axis); ok && l > 0 {
			directions[axis] = []float64{affine[0][axis] / l, affine[1][axis] / l, affine[2][axis] / l}
		}
	}
	return directions
}

// length is the length of column c.
func length(m [4][4]float64, c int) float64 {
	return math.Hypot(math.Hypot(m[0][c], m[1][c]), m[2][c])
}
