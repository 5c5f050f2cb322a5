package nrrd

// World names the directions in which the world's axes point, from Space: "RAS" (right, anterior, superior), "LPS" or
// "LAS"; "" where the header does not say, or says scanner or plain Cartesian coordinates.
func (h *Header) World() string { return "" }

// Affine is the matrix from indices to the world, in the world of World and in SpaceUnits: the world's position of
// sample (i, j, k) is affine · (i, j, k, 1)ᵀ, where i, j, k count along the array's axes axes[0] to axes[2], the spatial
// ones. ok is false where the header gives no directions, or not of two or three spatial axes.
//
// An image of two spatial axes has -1 for the third, whose column is then the unit normal. A header without
// SpaceOrigin has its first sample at 0.
func (h *Header) Affine() (affine [4][4]float64, axes [3]int, ok bool) { return }

// Spacing is the distance from sample to sample along every axis of the header: the length of its space direction,
// else what Spacings says, else NaN.
func (h *Header) Spacing() []float64 { return nil }

// Origin is the world's position of the first sample's center, or nil if the header does not say.
func (h *Header) Origin() []float64 { return nil }

// Directions is, for every axis, the world's unit vector along it, or nil where the axis has none.
func (h *Header) Directions() [][]float64 { return nil }
