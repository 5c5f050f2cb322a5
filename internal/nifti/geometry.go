package nifti

// World is "RAS": the world's axes point to the patient's right, front and head.
func (h *Header) World() string { return "RAS" }

// Affine is the matrix from indices to the world, in XYZUnit: the position of voxel (i, j, k) is
// affine · (i, j, k, 1)ᵀ. It is the sform where SformCode is not 0, else the qform where QformCode is not 0, and else the
// spacing with the middle voxel at 0, method 1 of nifti1.h. axes is 0, 1, 2, and -1 where the image has fewer.
// ok is false in the last case, which tells sizes but no place.
func (h *Header) Affine() (affine [4][4]float64, axes [3]int, ok bool) { return }

// Spacing is the distance from sample to sample along every axis of Dim: Pixdim, without signs.
func (h *Header) Spacing() []float64 { return nil }

// Origin is the world's position of the first voxel's center.
func (h *Header) Origin() []float64 { return nil }

// Directions is, for every axis, the world's unit vector along it, or nil where the axis has none.
func (h *Header) Directions() [][]float64 { return nil }
