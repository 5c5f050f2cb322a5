// Package volume reads, prepares, cuts and augments medical volumes: NRRD, NIfTI
// and MetaImage files and DICOM series of patients become a [Cohort], and this
// becomes datasets of slices, patches or whole volumes. Steps are in the words of MONAI and TorchIO.
//
//	cohort, err := volume.Open(os.DirFS("clinic"),
//		volume.Scan("ct", "{patient}/ct.nrrd"),
//		volume.Mask("tumour", "{patient}/tumour.nrrd"),
//		volume.Prepare(volume.Resample(2, 1, 1), volume.Window(40, 400))) // once per patient
//	patches, err := cohort.Patches([]int{32, 96, 96}, volume.Positives("tumour", 0.5))
//	ds, err := volume.Augment(patches, volume.RandomFlip(0.5)) // for every sample
//
// What is the same in every epoch and expensive is a step of [Prepare]; its result
// is cached. What is random is a step of [Augment].
//
// All volumes of a patient are on one grid, on that of the scan which
// [ResampleToMatch] names if they come on several, and move together. Steps that
// move voxels take labels from the nearest voxel, and steps that change values
// leave masks alone. Axes are those of space, the slowest first, 0, 1 and 2 for z,
// y and x, or 0 and 1 for rows and columns of a slice; -1 is the last one. Channels
// are never mixed. Geometry is kept true: after every step [Volume.Position] tells
// where a voxel lies in the body.
package volume

import (
	"fmt"
	"slices"
	"strings"

	"gorgonia.org/tensor"

	"github.com/penstock-go/penstock/internal/dense"
)

// A Volume is an array of two or more dimensions with its place in the world:
// a CT scan, a PET scan, the labels that someone drew into one.
type Volume struct {
	Name string // of its [Scan] or [Mask] in a cohort, else of its file
	Mask bool   // the values are labels: no value lies between two of them

	Dtype tensor.Dtype
	// Shape is the array's, the slowest axis first, as in NumPy: (z, y, x) of most
	// files. A volume of a [Cohort] always has its channels first: (1, z, y, x).
	Shape tensor.Shape
	// Data holds the values in C order and in the machine's byte order, aligned
	// for Dtype. It is nil where only the header is known.
	Data []byte

	Axes []Axis // of Shape
	// World says where the world's three axes point: "LPS" (left, posterior,
	// superior), "RAS", "LAS", or "" if unknown.
	World string
	// Origin is the position of the first voxel's center in the world, in mm; nil
	// if unknown.
	Origin []float64
	// Fill is what voxels beyond the volume count as: that of [Fill] in a
	// cohort, else 0.
	Fill float64
	// Attributes are what else the file says in words, such as NRRD's key/value pairs.
	Attributes []Attribute
}

// An Axis is one dimension of a Volume.
type Axis struct {
	Kind    string  // "space", "domain", "list", "time", … in NRRD's words; "" if unknown
	Spacing float64 // from voxel to voxel, in mm where the axis is spatial; 0 if unknown
	// Direction is the world's unit vector along the axis, or nil if it is unknown
	// or the axis is not spatial.
	Direction []float64
}

// An Attribute is text under a key.
type Attribute struct{ Key, Value string }

// Elements is the number of values.
func (v *Volume) Elements() int { return v.Shape.TotalSize() }

// Bytes is how many bytes the values take, whether they are there or not.
func (v *Volume) Bytes() int64 { return int64(v.Elements()) * int64(v.Dtype.Size()) }

// Header is a copy of all but the values.
func (v *Volume) Header() *Volume {
	h := *v
	h.Data = nil
	h.Shape = slices.Clone(v.Shape)
	h.Origin = slices.Clone(v.Origin)
	h.Attributes = slices.Clone(v.Attributes)
	h.Axes = slices.Clone(v.Axes)
	for k := range h.Axes {
		h.Axes[k].Direction = slices.Clone(v.Axes[k].Direction)
	}
	return &h
}

// Tensor is the values as a tensor over Data, without a copy.
func (v *Volume) Tensor() *tensor.Dense { return dense.Tensor(v.Dtype, v.Shape.Clone(), v.Data) }

// Position is where the voxel at index, which has a number per axis of Shape,
// has its center in the world, in mm. ok is false if origin, or direction or
// spacing of a spatial axis is unknown.
func (v *Volume) Position(index ...float64) (position []float64, ok bool) {
	if v.Origin == nil || len(index) != len(v.Axes) {
		return nil, false
	}
	position = slices.Clone(v.Origin)
	spatial := 0
	for k, a := range v.Axes {
		if a.Direction == nil || len(a.Direction) != len(position) {
			continue
		}
		if a.Spacing == 0 {
			return nil, false
		}
		spatial++
		for d := range position {
			position[d] += index[k] * a.Spacing * a.Direction[d]
		}
	}
	return position, spatial > 0
}

// String prints what the volume is: "ct int16 (1, 51, 256, 256), 2.6×1×1 mm, LPS".
func (v *Volume) String() string {
	text := fmt.Sprintf("%s %v %v", v.Name, v.Dtype, dims(v.Shape))
	if s := v.spacings(); s != nil {
		text += fmt.Sprintf(", %s mm", times(s))
	}
	if v.World != "" {
		text += ", " + v.World
	}
	return text
}

// spacings are those of the last two or three axes, or nil if one is unknown.
func (v *Volume) spacings() []float64 {
	var s []float64
	for _, a := range v.Axes[max(0, len(v.Axes)-3):] {
		if a.Spacing == 0 && (len(s) > 0 || a.spatial()) {
			return nil
		}
		if a.Spacing != 0 {
			s = append(s, a.Spacing)
		}
	}
	return s
}

// spatial reports whether the axis may be one of space, as far as its kind tells.
func (a Axis) spatial() bool { return a.Kind == "" || a.Kind == "space" || a.Kind == "domain" }

func times(v []float64) string {
	texts := make([]string, len(v))
	for i, x := range v {
		texts[i] = fmt.Sprintf("%.4g", x)
	}
	return strings.Join(texts, "×")
}

func dims(shape []int) string {
	texts := make([]string, len(shape))
	for i, d := range shape {
		texts[i] = fmt.Sprint(d)
	}
	return "(" + strings.Join(texts, ", ") + ")"
}
