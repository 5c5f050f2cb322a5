package volume

import (
	"errors"
	"fmt"
	"io/fs"
	"math"
	"path"
	"slices"
	"strings"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/dataset/volume/internal/metaimage"
	"github.com/penstock-go/penstock/dataset/volume/internal/nifti"
	"github.com/penstock-go/penstock/dataset/volume/internal/nrrd"
	"github.com/penstock-go/penstock/internal/bulk"
	"github.com/penstock-go/penstock/internal/dense"
)

// A Decoder reads volumes of a format. [Read] chooses one by the name of the
// file. [Using] sets another one, such as one of your own. Several goroutines
// use it at once.
type Decoder interface {
	// ReadHeader reads everything except the values. Dtype is the one that Read gives.
	ReadHeader(fsys fs.FS, name string) (*Volume, error)
	// Read reads a volume. More than limit bytes of values are an error; 0 means no
	// limit. It does not allocate what a header promises before it has compared it
	// with the file.
	Read(fsys fs.FS, name string, limit int64) (*Volume, error)
}

// Read reads a volume. More than limit bytes of values are an error; 0 means no limit. The
// name tells the format: NRRD is .nrrd or .nhdr; NIfTI is .nii, .hdr or .img, with or without
// .gz after it; MetaImage is .mha or .mhd; a folder is a DICOM series, and .dcm or .ima is one
// slice of it.
//
// Axes are in the reverse order of the file, so that the fastest is the last of Shape. Values
// that NIfTI scales become float32; those of DICOM are rescaled to the smallest integer dtype
// that holds all, or to float32. Without orientation in the file, a NIfTI image lies as in
// nibabel.
//
// All files in the folder of a DICOM series must be slices of one stack, which is sorted by
// position; missing slices, duplicates and other files are errors that name the files. Files
// of many frames and compressed ones, except RLE, are errors.
func Read(fsys fs.FS, name string, limit int64) (*Volume, error) {
	v, err := read(decoderOf(fsys, name), fsys, name, limit)
	if err != nil {
		return nil, fmt.Errorf("volume: read %s: %w", name, err)
	}
	return v, nil
}

// ReadHeader reads everything except the values. Dtype is the one that [Read]
// gives.
func ReadHeader(fsys fs.FS, name string) (*Volume, error) {
	v, err := readHeader(decoderOf(fsys, name), fsys, name)
	if err != nil {
		return nil, fmt.Errorf("volume: read %s: %w", name, err)
	}
	return v, nil
}

// decoderOf is the decoder for the name, or nil if no format has such names.
func decoderOf(fsys fs.FS, name string) Decoder {
	if fsys == nil {
		return nil
	}
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

// readable reports what is missing to read a file.
func readable(d Decoder, fsys fs.FS) error {
	switch {
	case fsys == nil:
		return bulk.ErrNoFS
	case d == nil:
		return errFormat
	}
	return nil
}

func read(d Decoder, fsys fs.FS, name string, limit int64) (*Volume, error) {
	if err := readable(d, fsys); err != nil {
		return nil, err
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
	if err := readable(d, fsys); err != nil {
		return nil, err
	}
	v, err := d.ReadHeader(fsys, name)
	if err != nil {
		return nil, err
	}
	return v, v.checkHeader()
}

// valueDtypes are those of the values of a volume.
var valueDtypes = append([]dataset.Dtype{dataset.Uint64}, fieldDtypes...)

// checkHeader checks what all other code relies on, for volumes of any Decoder.
func (v *Volume) checkHeader() error {
	if len(v.Axes) != len(v.Shape) || len(v.Shape) == 0 || slices.Min(v.Shape) < 1 {
		return fmt.Errorf("%d axes for the shape %v", len(v.Axes), dims(v.Shape))
	}
	if !slices.Contains(valueDtypes, v.Dtype) {
		return fmt.Errorf("values of %v, want integers or floats", v.Dtype)
	}
	const most = min(1<<40, math.MaxInt-bulk.Align) // so that no product of sizes overflows
	bytes := int64(v.Dtype.Size())
	for _, n := range v.Shape {
		if bytes > most/int64(n) {
			return fmt.Errorf("shape %v of %v: more values than memory can hold", dims(v.Shape), v.Dtype)
		}
		bytes *= int64(n)
	}
	return nil
}

// check makes sure that Data has the size that the header says.
func (v *Volume) check() error {
	if want := v.Bytes(); int64(len(v.Data)) != want {
		return fmt.Errorf("%d bytes of data, want %d", len(v.Data), want)
	}
	return nil
}

// reversed makes the header of an array whose sizes begin with the fastest axis.
func reversed(name string, dt dataset.Dtype, sizes []int) *Volume {
	v := &Volume{Name: name, Dtype: dt, Shape: slices.Clone(sizes), Axes: make([]Axis, len(sizes))}
	slices.Reverse(v.Shape)
	return v
}

// place sets the geometry from values that begin with the fastest axis, in a world
// whose unit is mm millimetres. Axes beyond directions come from the format's array, not
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

// millimetres is the length of the unit; an unknown unit counts as 1 mm.
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

// nrrdDecoder reads Teem's format.
type nrrdDecoder struct{}

func (nrrdDecoder) ReadHeader(fsys fs.FS, name string) (*Volume, error) {
	h, err := nrrd.ReadHeader(fsys, name)
	if err != nil {
		return nil, err
	}
	return ofNRRD(name, h, h.Shape()), nil
}

func (nrrdDecoder) Read(fsys fs.FS, name string, limit int64) (*Volume, error) {
	img, err := nrrd.Read(fsys, name, limit)
	if err != nil {
		return nil, err
	}
	v := ofNRRD(name, &img.Header, img.Sizes)
	v.Data = img.Data
	return v, nil
}

func ofNRRD(name string, h *nrrd.Header, sizes []int) *Volume {
	v := reversed(name, h.Dtype(), sizes)
	mm := 1.0
	if len(h.SpaceUnits) > 0 {
		mm = millimetres(h.SpaceUnits[0])
	}
	v.place(h.World(), h.Origin(), h.Spacing(), h.Directions(), mm)
	for k, kind := range h.Kinds {
		v.Axes[len(h.Sizes)-1-k].Kind = kind
	}
	if extra := len(sizes) - len(h.Sizes); extra > 0 { // a block's bytes
		v.Axes[len(sizes)-1].Kind = "list"
	}
	for _, kv := range h.KeyValues {
		v.Attributes = append(v.Attributes, Attribute(kv))
	}
	return v
}

// niftiDecoder reads NIfTI-1 and -2.
type niftiDecoder struct{}

func (niftiDecoder) ReadHeader(fsys fs.FS, name string) (*Volume, error) {
	h, err := nifti.ReadHeader(fsys, name)
	if err != nil {
		return nil, err
	}
	v := ofNIfTI(name, h, h.Shape())
	if scaled(h) {
		v.Dtype = dataset.Float32
	}
	return v, nil
}

func (niftiDecoder) Read(fsys fs.FS, name string, limit int64) (*Volume, error) {
	img, err := nifti.Read(fsys, name, limit)
	if err != nil {
		return nil, err
	}
	v := ofNIfTI(name, &img.Header, img.Sizes)
	v.Data = img.Data
	if !scaled(&img.Header) {
		return v, nil
	}
	if n := int64(v.Shape.Elements()) * int64(dataset.Float32.Size()); limit > 0 && n > limit {
		return nil, fmt.Errorf("scl_slope: %d bytes of data once scaled, the limit is %d", n, limit)
	}
	return v, v.scale(img.Scale())
}

func ofNIfTI(name string, h *nifti.Header, sizes []int) *Volume {
	v := reversed(name, h.Dtype(), sizes)
	v.place(h.World(), h.Origin(), h.Spacing(), h.Directions(), millimetres(h.XYZUnit))
	n := len(h.Dim)
	for k := range h.Dim {
		kind := "space"
		switch {
		case k == 3 && h.TimeUnit != "":
			kind = "time"
		case k >= 3:
			kind = "list"
		}
		v.Axes[n-1-k].Kind = kind
	}
	for k := n; k < len(v.Axes); k++ { // parts of a number or colour
		v.Axes[k].Kind = "list"
	}
	if h.Descrip != "" {
		v.Attributes = append(v.Attributes, Attribute{"descrip", h.Descrip})
	}
	return v
}

// scaled reports whether the header asks for values other than those stored.
// Colours are never scaled (nifti1.h, "DATA SCALING").
func scaled(h *nifti.Header) bool {
	if h.Datatype == nifti.RGB24 || h.Datatype == nifti.RGBA32 {
		return false
	}
	slope, inter := h.Scale()
	return slope != 1 || inter != 0
}

// scale makes the values slope·v + inter in float32, computed in float64 as
// nibabel does.
func (v *Volume) scale(slope, inter float64) error {
	to := make([]float32, v.Shape.Elements())
	var block [1024]float64
	for at := 0; at < len(to); at += len(block) {
		n := min(len(block), len(to)-at)
		if err := copyNumbers(block[:n], v, at); err != nil {
			return err
		}
		for k, x := range block[:n] {
			to[at+k] = float32(slope*x + inter)
		}
	}
	v.Dtype, v.Data = dataset.Float32, dense.Bytes(to)
	return nil
}

// metaImageDecoder reads ITK's own format.
type metaImageDecoder struct{}

func (metaImageDecoder) ReadHeader(fsys fs.FS, name string) (*Volume, error) {
	h, err := metaimage.ReadHeader(fsys, name)
	if err != nil {
		return nil, err
	}
	return ofMetaImage(name, h), nil
}

func (metaImageDecoder) Read(fsys fs.FS, name string, limit int64) (*Volume, error) {
	img, err := metaimage.Read(fsys, name, limit)
	if err != nil {
		return nil, err
	}
	v := ofMetaImage(name, &img.Header)
	v.Data = img.Data
	return v, nil
}

func ofMetaImage(name string, h *metaimage.Header) *Volume {
	v := reversed(name, h.Dtype, h.Shape())
	spacing := slices.Clone(h.Spacing)
	for i, d := range h.Directions { // which need not be unit vectors
		length, _ := unitOf(d)
		spacing[i] *= length
	}
	world := "LPS"
	if len(h.Origin) < 3 {
		world = ""
	}
	v.place(world, h.Origin, spacing, h.Directions, millimetres(h.Unit))
	for k := range v.Axes {
		v.Axes[k].Kind = "list"
	}
	for k := range h.Directions {
		v.Axes[len(h.Sizes)-1-k].Kind = "space"
	}
	for _, f := range h.Fields {
		v.Attributes = append(v.Attributes, Attribute(f))
	}
	return v
}
