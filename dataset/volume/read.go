package volume

import (
	"errors"
	"fmt"
	"io/fs"
	"math"
	"path"
	"slices"
	"strings"

	"gorgonia.org/tensor"
)

// A Decoder reads volumes of a format. [Read] knows the files' ones by their names;
// [Using] takes another one, such as that of DICOM series, which are folders. It is
// used by several goroutines at once.
type Decoder interface {
	// ReadHeader reads all but the values, with the Dtype that Read gives.
	ReadHeader(fsys fs.FS, name string) (*Volume, error)
	// Read reads a volume of at most limit bytes; a limit of 0 is none. It takes no
	// memory by a header's promise alone.
	Read(fsys fs.FS, name string, limit int64) (*Volume, error)
}

// Read reads a volume of at most limit bytes; a limit of 0 is none. The name tells
// the format: NRRD is .nrrd or .nhdr, NIfTI is .nii, .hdr or .img, each of the three
// also with .gz after it, and MetaImage is .mha or .mhd. A folder is a DICOM series,
// and .dcm or .ima a slice of one.
//
// All axes stay as they are in the file, in reverse: the fastest is the last of
// Shape. NIfTI's values are scaled as the header asks for, to float32, if it asks;
// limit counts them as they are then. What follows the values is passed over.
//
// A NIfTI file that tells no place, with both codes 0, has its middle at the world's
// origin and its first axis to the left, as nibabel takes it.
//
// All files of a series' folder are slices of one stack: of one size and direction,
// equally far apart. Slices that are missing or come twice, and files of another
// series or format, are errors that name them; hidden files, DICOMDIR and folders are
// passed over. Slices follow each other along their normal, by their positions, and
// the distance of slices is that of their positions. Values are rescaled, to the
// smallest integers that hold all, or to float32 where a slope or intercept is none or
// differs from slice to slice. Multi-frame files and those that are compressed, but
// for RLE, are errors.
func Read(fsys fs.FS, name string, limit int64) (*Volume, error) {
	v, err := read(decoderOf(fsys, name), fsys, name, limit)
	if err != nil {
		return nil, fmt.Errorf("volume: read %s: %w", name, err)
	}
	return v, nil
}

// ReadHeader reads all but the values. The Dtype is that which [Read] would give.
func ReadHeader(fsys fs.FS, name string) (*Volume, error) {
	v, err := readHeader(decoderOf(fsys, name), fsys, name)
	if err != nil {
		return nil, fmt.Errorf("volume: read %s: %w", name, err)
	}
	return v, nil
}

// decoderOf is the decoder of the format that the name tells, or nil.
func decoderOf(fsys fs.FS, name string) Decoder {
	base := strings.ToLower(name)
	switch path.Ext(base) {
	case ".nrrd", ".nhdr":
		return nrrdDecoder{}
	case ".mha", ".mhd":
		return metaImageDecoder{}
	case ".dcm", ".ima":
		return dicomDecoder{}
	}
	switch path.Ext(strings.TrimSuffix(base, ".gz")) {
	case ".nii", ".hdr", ".img":
		return niftiDecoder{}
	}
	if info, err := fs.Stat(fsys, name); err == nil && info.IsDir() {
		return dicomDecoder{}
	}
	return nil
}

var errFormat = errors.New("want a file named .nrrd, .nhdr, .nii, .nii.gz, .hdr, .img, .mha, .mhd or .dcm, or a folder of a DICOM series")

func read(d Decoder, fsys fs.FS, name string, limit int64) (*Volume, error) {
	if d == nil {
		return nil, errFormat
	}
	v, err := d.Read(fsys, name, limit)
	if err != nil {
		return nil, err
	}
	if limit > 0 && v.Bytes() > limit {
		return nil, fmt.Errorf("%d bytes of values, the limit is %d", v.Bytes(), limit)
	}
	return v, errors.Join(v.checkHeader(), v.check())
}

func readHeader(d Decoder, fsys fs.FS, name string) (*Volume, error) {
	if d == nil {
		return nil, errFormat
	}
	v, err := d.ReadHeader(fsys, name)
	if err != nil {
		return nil, err
	}
	return v, v.checkHeader()
}

// valueDtypes are those of the values of a volume.
var valueDtypes = append([]tensor.Dtype{tensor.Uint64}, fieldDtypes...)

// checkHeader makes sure of what everything after relies on, whoever has read the volume.
func (v *Volume) checkHeader() error {
	if len(v.Axes) != len(v.Shape) || len(v.Shape) == 0 || slices.Min(v.Shape) < 1 {
		return fmt.Errorf("%d axes for the shape %v", len(v.Axes), dims(v.Shape))
	}
	if !slices.Contains(valueDtypes, v.Dtype) {
		return fmt.Errorf("values of %v, which are no plain numbers", v.Dtype)
	}
	const most = min(1<<40, math.MaxInt) // so that no product of sizes overflows
	bytes := int64(v.Dtype.Size())
	for _, n := range v.Shape {
		if bytes > most/int64(n) {
			return fmt.Errorf("shape %v of %v: more values than memory can hold", dims(v.Shape), v.Dtype)
		}
		bytes *= int64(n)
	}
	return nil
}

// check makes sure that the values are there.
func (v *Volume) check() error {
	if want := v.Bytes(); int64(len(v.Data)) != want {
		return fmt.Errorf("%d bytes of data, want %d", len(v.Data), want)
	}
	return nil
}

// reversed makes the header of an array whose sizes are given fastest first.
func reversed(name string, dt tensor.Dtype, sizes []int) *Volume {
	v := &Volume{Name: name, Dtype: dt, Shape: slices.Clone(sizes), Axes: make([]Axis, len(sizes))}
	slices.Reverse(v.Shape)
	return v
}

// place sets geometry from values given fastest first, in a world whose unit
// is mm millimetres. Axes beyond directions come from the format's array, not
// from its header, and are not spatial.
func (v *Volume) place(world string, origin, spacing []float64, directions [][]float64, mm float64) {
	v.World = world
	extra := len(v.Axes) - len(spacing)
	for k, s := range spacing {
		a := &v.Axes[len(v.Axes)-1-k-extra]
		if s = math.Abs(s); s > 0 && !math.IsInf(s, 0) {
			a.Spacing = s * mm
		}
		if k < len(directions) && directions[k] != nil {
			_, a.Direction = unitOf(directions[k])
		}
	}
	for _, x := range origin {
		if math.IsNaN(x) || math.IsInf(x, 0) {
			return
		}
	}
	for _, x := range origin {
		v.Origin = append(v.Origin, x*mm)
	}
}

// millimetres is how many of them the unit has; an unknown unit counts as one.
func millimetres(unit string) float64 {
	switch strings.ToLower(strings.TrimSpace(unit)) {
	case "m", "meter", "metre":
		return 1000
	case "cm", "centimeter", "centimetre":
		return 10
	case "um", "µm", "micron", "micrometer", "micrometre":
		return 1e-3
	}
	return 1
}
