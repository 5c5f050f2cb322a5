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

	"github.com/penstock-go/penstock/internal/dense"
	"github.com/penstock-go/penstock/internal/nifti"
	"github.com/penstock-go/penstock/internal/nrrd"
)

// Read reads a volume of at most limit bytes; a limit of 0 is none. The
// name tells the format: NRRD is .nrrd or .nhdr, NIfTI is .nii, .hdr or .img,
// each of the three also with .gz behind it.
//
// All axes stay as they are in the file, in reverse: the fastest is the last of
// Shape. NIfTI's values are scaled as the header asks for, to float32, if it asks;
// limit counts them as they are then.
//
// A NIfTI file that tells no place, with both codes 0, has its middle at the world's
// origin and its first axis to the left, as nibabel takes it.
func Read(fsys fs.FS, name string, limit int64) (*Volume, error) {
	v, err := read(fsys, name, limit)
	if err != nil {
		return nil, fmt.Errorf("volume: read %s: %w", name, err)
	}
	return v, nil
}

// ReadHeader reads all but the values. The Dtype is that which [Read]
// would give.
func ReadHeader(fsys fs.FS, name string) (*Volume, error) {
	v, err := readHeader(fsys, name)
	if err != nil {
		return nil, fmt.Errorf("volume: read %s: %w", name, err)
	}
	return v, nil
}

var errFormat = errors.New("want a file named .nrrd, .nhdr, .nii, .nii.gz, .hdr or .img")

func isNRRD(name string) bool {
	ext := strings.ToLower(path.Ext(name))
	return ext == ".nrrd" || ext == ".nhdr"
}

func isNIfTI(name string) bool {
	base := strings.TrimSuffix(strings.ToLower(name), ".gz")
	return slices.Contains([]string{".nii", ".hdr", ".img"}, path.Ext(base))
}

func read(fsys fs.FS, name string, limit int64) (*Volume, error) {
	switch {
	case isNRRD(name):
		img, err := nrrd.Read(fsys, name, limit)
		if err != nil {
			return nil, err
		}
		v := ofNRRD(name, &img.Header, img.Sizes)
		v.Data = img.Data
		return v, v.check()
	case isNIfTI(name):
		img, err := nifti.Read(fsys, name, limit)
		if err != nil {
			return nil, err
		}
		v := ofNIfTI(name, &img.Header, img.Sizes)
		v.Dtype, v.Data = img.Dtype, img.Data
		if err := v.check(); err != nil {
			return nil, err
		}
		if !scaled(&img.Header) {
			return v, nil
		}
		if n := int64(v.Elements()) * int64(tensor.Float32.Size()); limit > 0 && n > limit {
			return nil, fmt.Errorf("scl_slope: %d bytes of data once scaled, the limit is %d", n, limit)
		}
		return v, v.scale(img.Scale())
	}
	return nil, errFormat
}

func readHeader(fsys fs.FS, name string) (*Volume, error) {
	switch {
	case isNRRD(name):
		h, err := nrrd.ReadHeader(fsys, name)
		if err != nil {
			return nil, err
		}
		if err := sane(h.Bytes()); err != nil {
			return nil, err
		}
		return ofNRRD(name, h, h.Shape()), nil
	case isNIfTI(name):
		h, err := nifti.ReadHeader(fsys, name)
		if err != nil {
			return nil, err
		}
		if err := sane(h.Bytes()); err != nil {
			return nil, err
		}
		v := ofNIfTI(name, h, h.Shape())
		if scaled(h) {
			v.Dtype = tensor.Float32
		}
		return v, nil
	}
	return nil, errFormat
}

// sane refuses what is so large that its size in another kind might overflow.
func sane(bytes int64, err error) error {
	if err == nil && bytes > 1<<40 {
		err = fmt.Errorf("%d bytes of values, more than 1 TiB", bytes)
	}
	return err
}

// check makes sure of what everything after relies on.
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
	for k := n; k < len(v.Axes); k++ { // parts of a number or color
		v.Axes[k].Kind = "list"
	}
	if h.Descrip != "" {
		v.Attributes = append(v.Attributes, Attribute{"descrip", h.Descrip})
	}
	return v
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

// scaled reports whether the header asks for values other than those stored.
// Colors are never scaled (nifti1.h, "DATA SCALING").
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
	to := make([]float32, v.Elements())
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
	v.Dtype, v.Data = tensor.Float32, dense.Bytes(to)
	return nil
}
