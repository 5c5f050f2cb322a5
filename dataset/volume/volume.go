// Package volume makes datasets of medical volumes: it reads, prepares, cuts
// and augments them. NRRD, NIfTI and MetaImage files and DICOM series of
// patients become a [Cohort]. A cohort becomes datasets of slices, patches or
// whole volumes. The steps have the names that they have in MONAI and TorchIO.
//
//	cohort, err := volume.Open(os.DirFS("clinic"),
//		volume.Scan("ct", "{patient}/ct.nrrd"),
//		volume.Mask("tumour", "{patient}/tumour.nrrd"),
//		volume.Prepare(volume.Resample(2, 1, 1), volume.Window(40, 400))) // once per patient
//	patches, err := cohort.Patches([]int{32, 96, 96}, volume.Positives("tumour", 0.5))
//	ds, err := volume.Augment(patches, volume.RandomFlip(0.5)) // for every sample
//
// Expensive steps that give the same result in every epoch belong in [Prepare];
// the result is cached. Random steps belong in [Augment].
//
// All volumes of a patient must be on one grid. If they are not,
// [ResampleToMatch] puts them on the grid of one of them. Other steps apply to
// all volumes of a patient alike. Steps that move voxels give masks the label of
// the nearest voxel. Steps that change values do not change masks. Channels are
// never mixed. After every step [Volume.Position] still tells where a voxel is
// in the body.
//
// Steps count spatial axes only, the slowest first: 0, 1 and 2 are z, y and x;
// in a slice, 0 and 1 are rows and columns. -1 is the last axis.
package volume

import (
	"fmt"
	"slices"
	"strings"

	"github.com/penstock-go/penstock/dataset"
)

// A Volume is an array of two or more dimensions with its position in the world:
// a CT scan, a PET scan, or a segmentation of one.
type Volume struct {
	Name string // name of its [Scan] or [Mask] in a cohort, otherwise name of its file
	Mask bool   // the values are labels, which are not interpolated

	Dtype dataset.Dtype
	// Shape has the slowest axis first, as in NumPy: (z, y, x) for most files. A
	// volume of a [Cohort] always has channels first: (channels, z, y, x).
	Shape dataset.Shape
	// Data holds the values in C order and in the machine's byte order, aligned
	// for Dtype. It is nil where only the header is known.
	Data []byte

	Axes []Axis // one per dimension of Shape
	// World says where the world's three axes point: "LPS" (left, posterior,
	// superior), "RAS", "LAS", or "" if unknown.
	World string
	// Origin is the position of the first voxel's centre in the world, in mm; nil
	// if unknown.
	Origin []float64
	// Fill is the value of voxels outside the volume: that of [Fill] in a cohort,
	// otherwise 0.
	Fill float64
	// Attributes are other text in the file, such as NRRD's key/value pairs.
	Attributes []Attribute
}

// An Axis is one dimension of a Volume.
type Axis struct {
	Kind    string  // "space", "domain", "list", "time", …, as NRRD names them; "" if unknown
	Spacing float64 // from voxel to voxel, in mm where the axis is spatial; 0 if unknown
	// Direction is the unit vector along the axis in the world, or nil if it is
	// unknown or the axis is not spatial.
	Direction []float64
}

// An Attribute is a key and its text.
type Attribute struct{ Key, Value string }

// Elements is the number of values.
func (v *Volume) Elements() int { return v.Shape.Elements() }

// Bytes is the size of the values in bytes, also if Data is nil.
func (v *Volume) Bytes() int64 { return int64(v.Elements()) * int64(v.Dtype.Size()) }

// Header is a copy of the volume without its values.
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

// Tensor is a tensor over Data, without a copy.
func (v *Volume) Tensor() dataset.Tensor { return dataset.NewTensor(v.Dtype, v.Shape, v.Data) }

// Position is the position of a voxel's centre in the world, in mm. index has a
// number per axis of Shape. ok is false if the origin is unknown, or the
// direction or spacing of a spatial axis.
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

// String describes the volume: "ct int16 (1, 51, 256, 256), 2.6×1×1 mm, LPS".
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

// spatial reports whether an axis of this kind may be spatial.
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
