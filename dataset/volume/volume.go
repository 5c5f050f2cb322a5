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
	"math"
	"slices"
	"strings"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/internal/bulk"
	"github.com/penstock-go/penstock/internal/dense"
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
	Attributes map[string]string
}

// An Axis is one dimension of a Volume.
type Axis struct {
	Kind    string  // "space", "domain", "list", "time", …, as NRRD names them in lower case; "" if unknown
	Spacing float64 // from voxel to voxel, in mm where the axis is spatial; 0 if unknown
	// Direction is the unit vector along the axis in the world, or nil if it is
	// unknown or the axis is not spatial.
	Direction []float64
}

// size is that of the values in bytes, also if Data is nil.
func (v *Volume) size() int64 { return int64(v.Shape.Elements()) * int64(v.Dtype.Size()) }

// header is a copy of the volume without its values.
func (v *Volume) header() *Volume {
	h := *v
	h.Data = nil
	h.Shape = slices.Clone(v.Shape)
	h.Origin = slices.Clone(v.Origin)
	h.Axes = slices.Clone(v.Axes)
	return &h
}

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

func dims(shape []int) string { return dataset.Shape(shape).String() }

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

// channelsFirst makes the volume one of (channels, z, y, x) or (channels, y, x).
// Values are moved only if the channels of a voxel are contiguous.
func (v *Volume) channelsFirst() error {
	spatial := v.spatialAxes()
	n := 0
	for _, is := range spatial {
		if is {
			n++
		}
	}
	if n != 2 && n != 3 {
		return fmt.Errorf("shape %v has %d spatial axes: want two or three", dims(v.Shape), n)
	}
	var order []int
	channels := 1
	for k, is := range spatial {
		if !is {
			order = append(order, k)
			channels *= v.Shape[k]
		}
	}
	for k, is := range spatial {
		if is {
			order = append(order, k)
		}
	}
	shape, axes := dataset.Shape{channels}, []Axis{{Kind: "list"}}
	for _, k := range order[len(order)-n:] {
		shape, axes = append(shape, v.Shape[k]), append(axes, v.Axes[k])
	}
	if v.Data != nil && !slices.IsSorted(order) {
		moved := bulk.Make(len(v.Data))
		rearrange(moved, v.Data, v.Dtype.Size(), v.Shape, order, make([]bool, len(order)))
		v.Data = moved
	}
	v.Shape, v.Axes = shape, axes
	return nil
}

// spatialAxes finds the spatial axes: those that have a direction. If none has, they are
// the three fastest of those whose kind allows it.
func (v *Volume) spatialAxes() []bool {
	is := make([]bool, len(v.Axes))
	directed := false
	for k, a := range v.Axes {
		is[k] = a.Direction != nil
		directed = directed || is[k]
	}
	n := 0
	for k := len(is) - 1; k >= 0 && !directed; k-- {
		if n < 3 && v.Axes[k].spatial() {
			is[k] = true
			n++
		}
	}
	return is
}

// rearrange copies an array of that shape, of values of size bytes, with its axes in another order: axis k of the result is
// axis order[k], from its end if turned[k].
func rearrange(dst, src []byte, size int, shape, order []int, turned []bool) {
	var step, index [maxRank]int
	n, begin := 1, 0
	for k := len(shape) - 1; k >= 0; k-- {
		step[k] = n
		n *= shape[k]
	}
	for k, axis := range order {
		if turned[k] {
			begin += (shape[axis] - 1) * step[axis]
		}
	}
	signed := func(k int) int {
		if turned[k] {
			return -step[order[k]]
		}
		return step[order[k]]
	}
	last := len(order) - 1
	row := shape[order[last]] * size
	for ; len(dst) > 0; dst = dst[row:] {
		every(dst[:row], src, size, begin, signed(last))
		for k := last - 1; k >= 0; k-- {
			begin += signed(k)
			if index[k]++; index[k] < shape[order[k]] {
				break
			}
			begin -= index[k] * signed(k)
			index[k] = 0
		}
	}
}

// every takes every step-th value of src, from index at on. Values have size bytes.
func every(dst, src []byte, size, at, step int) {
	switch size {
	case 1:
		everyWord(dst, src, at, step)
	case 2:
		everyWord(dense.Values[uint16](dst), dense.Values[uint16](src), at, step)
	case 4:
		everyWord(dense.Values[uint32](dst), dense.Values[uint32](src), at, step)
	case 8:
		everyWord(dense.Values[uint64](dst), dense.Values[uint64](src), at, step)
	default: // complex128
		for ; len(dst) > 0; at, dst = at+step, dst[size:] {
			copy(dst[:size], src[at*size:])
		}
	}
}

func everyWord[T word](dst, src []T, at, step int) {
	if step == 1 {
		copy(dst, src[at:])
		return
	}
	for i := range dst {
		dst[i] = src[at]
		at += step
	}
}

// maxRank is how many axes a volume has at most: NRRD's 16, and one for the parts of an element.
const maxRank = 17

func cross(a, b [3]float64) [3]float64 {
	return [3]float64{a[1]*b[2] - a[2]*b[1], a[2]*b[0] - a[0]*b[2], a[0]*b[1] - a[1]*b[0]}
}

func dot(a, b [3]float64) float64 { return a[0]*b[0] + a[1]*b[1] + a[2]*b[2] }

// A number is a type that the values of a volume may have.
type number interface {
	int8 | int16 | int32 | int64 | uint8 | uint16 | uint32 | uint64 | float32 | float64
}

// A word is a value that is moved without interpretation.
type word interface {
	uint8 | uint16 | uint32 | uint64
}

// Float32 is the values as float32. If Dtype is float32 they share memory with
// Data, otherwise they are converted into new memory. Integers beyond 2²⁴ are
// rounded.
func (v *Volume) Float32() ([]float32, error) {
	if v.Dtype == dataset.Float32 {
		return dense.Values[float32](v.Data), nil
	}
	to := make([]float32, v.Shape.Elements())
	if err := copyNumbers(to, v, 0); err != nil {
		return nil, fmt.Errorf("volume: %s: %w", v.Name, err)
	}
	return to, nil
}

// SetFloat32 makes values the Data of the volume, without a copy, and float32
// its Dtype. It panics if there are not as many values as Shape
// says.
func (v *Volume) SetFloat32(values []float32) {
	if len(values) != v.Shape.Elements() {
		panic(fmt.Sprintf("volume: SetFloat32 of %d values in a volume of %d", len(values), v.Shape.Elements()))
	}
	v.Dtype, v.Data = dataset.Float32, dense.Bytes(values)
}

// copyNumbers converts len(dst) values of v, from index at on.
func copyNumbers[D float32 | float64](dst []D, v *Volume, at int) error {
	size := v.Dtype.Size()
	return convertTo(dst, v.Data[at*size:], v.Dtype, 1)
}

// castExact converts the values to the integer dtype dt. A value that dt cannot hold is
// an error. It does nothing for floats, which are converted when a sample is copied.
func (v *Volume) castExact(dt dataset.Dtype) error {
	if v.Dtype == dt || dt.IsFloat() {
		return nil
	}
	to := bulk.Make(v.Shape.Elements() * dt.Size())
	var block [1024]float64
	for at := 0; at < v.Shape.Elements(); at += len(block) {
		n := min(len(block), v.Shape.Elements()-at)
		if err := copyNumbers(block[:n], v, at); err != nil {
			return err
		}
		for k, x := range block[:n] {
			const exact = 1 << 53 // larger integers may have been rounded
			if !holds(dt, x) || math.Abs(x) > exact {
				index := make([]int, len(v.Shape))
				for d, rest := len(index)-1, at+k; d >= 0; d-- {
					index[d] = rest % v.Shape[d]
					rest /= v.Shape[d]
				}
				return fmt.Errorf("voxel %v has the value %v, which %v cannot hold: As sets another dtype", dims(index), x, dt)
			}
			bulk.Put(to[(at+k)*dt.Size():][:dt.Size()], uint64(int64(x)))
		}
	}
	v.Dtype, v.Data = dt, to
	return nil
}

// holds reports whether dt can hold the value.
func holds(dt dataset.Dtype, x float64) bool {
	bits := dt.Size() * 8
	switch dt {
	case dataset.Float32, dataset.Float64:
		return true
	case dataset.Int8, dataset.Int16, dataset.Int32, dataset.Int64:
		return x == math.Trunc(x) && x >= -math.Ldexp(1, bits-1) && x < math.Ldexp(1, bits-1)
	}
	return x == math.Trunc(x) && x >= 0 && x < math.Ldexp(1, bits)
}
