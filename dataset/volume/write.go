package volume

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/dataset/volume/internal/nrrd"
)

// A WriteOption changes what [WriteNRRD] does.
type WriteOption struct{ set func(*writing) }

// writing holds what the options set.
type writing struct{ gzip bool }

// Gzip compresses the values. Reading them then takes several times as long as
// reading raw values from the page cache.
func Gzip() WriteOption { return WriteOption{func(w *writing) { w.gzip = true }} }

var nrrdTypes = map[dataset.Dtype]nrrd.Type{
	dataset.Int8: nrrd.Int8, dataset.Uint8: nrrd.Uint8, dataset.Int16: nrrd.Int16, dataset.Uint16: nrrd.Uint16,
	dataset.Int32: nrrd.Int32, dataset.Uint32: nrrd.Uint32, dataset.Int64: nrrd.Int64, dataset.Uint64: nrrd.Uint64,
	dataset.Float32: nrrd.Float32, dataset.Float64: nrrd.Float64,
}

// WriteNRRD writes the volume as an NRRD file with its geometry and attributes.
// Values are raw unless [Gzip] is given. [Read] gives the same volume, with
// directions up to rounding, except that
//
//   - Name, Mask and Fill are not in the file,
//   - leading axes of length 1 and kind "list", without spacing and direction,
//     are left out: these are the channels of a cohort,
//   - nil Axes become axes of unknown kind, spacing and direction.
//
// Anything else that the file cannot hold is an error, such as a direction
// without a spacing. In this case nothing is
// written.
func WriteNRRD(w io.Writer, v *Volume, options ...WriteOption) error {
	var how writing
	for _, option := range options {
		if option.set != nil {
			option.set(&how)
		}
	}
	h, err := v.nrrdHeader()
	if err == nil {
		if how.gzip {
			h.Encoding = nrrd.Gzip
		}
		err = nrrd.Write(w, h, v.Data)
	}
	if err != nil {
		return fmt.Errorf("volume: write %s: %w", cmp.Or(v.Name, "NRRD"), err)
	}
	return nil
}

func (v *Volume) nrrdHeader() (*nrrd.Header, error) {
	h := &nrrd.Header{Type: nrrdTypes[v.Dtype]}
	switch {
	case v.Dtype == 0:
		return nil, errors.New("the Dtype is missing")
	case h.Type == "":
		return nil, fmt.Errorf("values of %v, which NRRD does not have", v.Dtype)
	}
	if err := v.check(); err != nil {
		return nil, err
	}
	axes := v.Axes
	if axes == nil {
		axes = make([]Axis, len(v.Shape))
	}
	if len(axes) != len(v.Shape) {
		return nil, fmt.Errorf("%d axes for the shape %v", len(axes), dims(v.Shape))
	}
	for k, a := range axes {
		if err := a.writable(); err != nil {
			return nil, fmt.Errorf("axis %d: %w", k, err)
		}
	}
	if err := v.describeWorld(h); err != nil {
		return nil, err
	}
	first := 0
	for first < len(axes)-1 && v.Shape[first] == 1 && axes[first].Direction == nil && axes[first].Spacing == 0 && axes[first].Kind == "list" {
		first++
	}
	h.Sizes = slices.Clone(v.Shape[first:])
	slices.Reverse(h.Sizes)
	axes = slices.Clone(axes[first:])
	slices.Reverse(axes)
	describeAxes(h, axes)
	for _, a := range v.Attributes {
		h.KeyValues = append(h.KeyValues, nrrd.KeyValue(a))
	}
	return h, nil
}

// writable returns an error if the axis would not be read back unchanged.
func (a Axis) writable() error {
	// Within these limits a step in any direction keeps its precision.
	const least, most = 1e-300, 1e300
	// A direction stored as float32 may be off by this much.
	const precision = 1e-6
	switch {
	case a.Kind != "" && !nrrd.IsKind(a.Kind):
		return fmt.Errorf("kind %.60q, which NRRD does not have", a.Kind)
	case !(a.Spacing >= 0) || math.IsInf(a.Spacing, 1):
		return fmt.Errorf("a spacing of %g, want a finite one of 0 or more", a.Spacing)
	case a.Direction == nil:
		return nil
	case a.Spacing == 0:
		return errors.New("a direction without a spacing")
	case a.Spacing < least || a.Spacing > most:
		return fmt.Errorf("a direction with a spacing of %g, want %g to %g", a.Spacing, least, most)
	}
	if length, _ := unitOf(a.Direction); !(math.Abs(length-1) <= precision) {
		return fmt.Errorf("the direction %v is not a unit vector", a.Direction)
	}
	return nil
}

// describeWorld sets the world's fields.
func (v *Volume) describeWorld(h *nrrd.Header) error {
	switch v.World {
	case "":
	case "RAS":
		h.Space = "right-anterior-superior"
	case "LPS":
		h.Space = "left-posterior-superior"
	case "LAS":
		h.Space = "left-anterior-superior"
	default:
		return fmt.Errorf(`world %.60q: want LPS, RAS, LAS or ""`, v.World)
	}
	for _, x := range v.Origin {
		if math.IsNaN(x) || math.IsInf(x, 0) {
			return fmt.Errorf("the origin %v has a number that is not finite", v.Origin)
		}
	}
	n := len(v.Origin)
	if n == 0 && v.Origin != nil {
		return errors.New("the origin has no numbers; nil is an unknown one")
	}
	for k, a := range v.Axes {
		if n == 0 {
			n = len(a.Direction)
		}
		if a.Direction != nil && len(a.Direction) != n {
			return fmt.Errorf("axis %d: a direction of %d numbers, want %d, as in the origin and the other directions", k, len(a.Direction), n)
		}
	}
	switch {
	case h.Space == "":
		h.SpaceDimension = n
	case n == 4: // the fourth is time
		h.Space += "-time"
	case n != 0 && n != 3:
		return fmt.Errorf("world %q: origin and directions have %d numbers, want 3", v.World, n)
	}
	h.SpaceOrigin = v.Origin
	return nil
}

// describeAxes sets the fields per axis, the fastest axis first.
func describeAxes(h *nrrd.Header, axes []Axis) {
	kinds, spacings, directions := false, false, false
	for _, a := range axes {
		kinds = kinds || a.Kind != ""
		spacings = spacings || a.Spacing != 0 && a.Direction == nil
		directions = directions || a.Direction != nil
	}
	for _, a := range axes {
		if kinds {
			h.Kinds = append(h.Kinds, a.Kind)
		}
		var step []float64
		for _, x := range a.Direction {
			step = append(step, x*a.Spacing)
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
