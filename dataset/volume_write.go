package dataset

import (
	"fmt"
	"io"
	"math"
	"slices"

	"gorgonia.org/tensor"

	"github.com/penstock-go/penstock/internal/nrrd"
)

// An NRRDOption changes what [WriteNRRD] writes.
type NRRDOption func(*nrrd.Header)

// Gzipped compresses the values. Reading them takes several times as long as
// reading raw ones that are in the page cache.
func Gzipped() NRRDOption {
	return func(h *nrrd.Header) { h.Encoding = nrrd.Gzip }
}

var nrrdTypes = map[tensor.Dtype]nrrd.Type{
	tensor.Int8: nrrd.Int8, tensor.Uint8: nrrd.Uint8, tensor.Int16: nrrd.Int16, tensor.Uint16: nrrd.Uint16,
	tensor.Int32: nrrd.Int32, tensor.Uint32: nrrd.Uint32, tensor.Int64: nrrd.Int64, tensor.Uint64: nrrd.Uint64,
	tensor.Float32: nrrd.Float32, tensor.Float64: nrrd.Float64,
}

// WriteNRRD writes the volume as an NRRD file with its geometry and attributes,
// raw unless [Gzipped]. [ReadVolume] gives the same volume but for its name, and
// but for axes of length 1 in front, the channels of a study, which are left out.
func WriteNRRD(w io.Writer, v *Volume, options ...NRRDOption) error {
	if err := v.check(); err != nil {
		return fmt.Errorf("dataset: write %s: %w", v.Name, err)
	}
	h := &nrrd.Header{Type: nrrdTypes[v.Dtype]}
	if h.Type == "" {
		return fmt.Errorf("dataset: write %s: values of %v, which NRRD does not have", v.Name, v.Dtype)
	}
	first := 0
	for first < len(v.Shape)-1 && v.Shape[first] == 1 && v.Axes[first].Direction == nil && v.Axes[first].Kind == "list" {
		first++
	}
	h.Sizes = slices.Clone(v.Shape[first:])
	slices.Reverse(h.Sizes)
	axes := slices.Clone(v.Axes[first:])
	slices.Reverse(axes)
	switch v.World {
	case "RAS":
		h.Space = "right-anterior-superior"
	case "LPS":
		h.Space = "left-posterior-superior"
	case "LAS":
		h.Space = "left-anterior-superior"
	}
	describeAxes(h, axes)
	if h.SpaceDirections != nil {
		h.SpaceOrigin = v.Origin
		if n := dimension(h.SpaceDirections); h.Space == "" || n != 3 {
			h.Space, h.SpaceDimension = "", n
		}
	} else {
		h.Space = ""
	}
	for _, a := range v.Attributes {
		h.KeyValues = append(h.KeyValues, nrrd.KeyValue(a))
	}
	for _, option := range options {
		option(h)
	}
	if err := nrrd.Write(w, h, v.Data); err != nil {
		return fmt.Errorf("dataset: write %s: %w", v.Name, err)
	}
	return nil
}

// describeAxes sets the fields per axis, the fastest axis first.
func describeAxes(h *nrrd.Header, axes []Axis) {
	kinds, spacings, directions := false, false, false
	for _, a := range axes {
		kinds = kinds || a.Kind != ""
		spacings = spacings || a.Spacing != 0 && a.Direction == nil
		directions = directions || a.Direction != nil && a.Spacing != 0
	}
	for _, a := range axes {
		if kinds {
			h.Kinds = append(h.Kinds, a.Kind)
		}
		var step []float64
		if a.Direction != nil && a.Spacing != 0 {
			for _, x := range a.Direction {
				step = append(step, x*a.Spacing)
			}
		}
		if directions {
			h.SpaceDirections = append(h.SpaceDirections, step)
		}
		if spacings {
			s := a.Spacing
			if s == 0 || step != nil {
				s = math.NaN()
			}
			h.Spacings = append(h.Spacings, s)
		}
	}
}

// dimension is that of the world the vectors live in.
func dimension(vectors [][]float64) int {
	n := 0
	for _, v := range vectors {
		n = max(n, len(v))
	}
	return n
}
