// Package nifti reads the headers of NIfTI-1 and NIfTI-2 images in both byte orders. They are single files (.nii) or pairs
// of header and image (.hdr, .img), plain or compressed by gzip (.nii.gz, .hdr.gz, .img.gz).
//
// It follows nifti1.h and nifti2.h of the NIfTI Data Format Working Group. The world is RAS: x grows to the patient's
// right, y to the front, z to the head.
package nifti

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"path"
	"strings"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/dataset/volume/internal/array"
	"github.com/penstock-go/penstock/internal/bulk"
)

// ReadHeader reads the header of the named file, which may be either file of a pair. Errors do not name the file.
//
// Complex numbers add a first axis of 2 (real, imaginary), RGB one of 3 and RGBA one of 4. Extensions are skipped.
func ReadHeader(fsys fs.FS, name string) (*array.Header, error) {
	header := name
	if strings.HasSuffix(strings.TrimSuffix(strings.ToLower(name), ".gz"), ".img") {
		if other, err := partner(fsys, name, ".hdr"); err == nil {
			header = other
		}
	}
	h, err := readHeader(fsys, header)
	if err != nil && header != name {
		err = fmt.Errorf("%s: %w", header, err)
	}
	return h, err
}

func readHeader(fsys fs.FS, name string) (*array.Header, error) {
	src, err := array.Open(fsys, name)
	if err != nil {
		return nil, err
	}
	defer src.Close()
	var r io.Reader = src
	// No plain header begins like a gzip file.
	magic, _ := src.Peek(2)
	zipped := bytes.Equal(magic, []byte{0x1f, 0x8b})
	if zipped {
		if r, err = bulk.NewGzip(src.Reader); err != nil {
			return nil, fmt.Errorf("byte %d: gzip: %w", src.Offset(), bulk.Unexpected(err))
		}
	}
	f, err := readFields(r)
	if err != nil {
		return nil, err
	}
	h := &array.Header{World: "RAS", Big: f.order == binary.BigEndian, Own: true, File: name}
	pair, err := f.pair()
	if err == nil {
		err = f.array(h, pair)
	}
	if err != nil {
		return nil, err
	}
	f.place(h)
	if pair {
		if zipped { // the checksum is at the end
			if err := bulk.Finish(r, bulk.First); err != nil {
				return nil, fmt.Errorf("byte %d: gzip: %w", src.Offset(), bulk.Unexpected(err))
			}
		}
		if h.File, err = partner(fsys, name, ".img"); err != nil {
			return nil, err
		}
		h.Own, zipped = false, strings.HasSuffix(strings.ToLower(h.File), ".gz")
	}
	if zipped {
		h.Encoding = array.Gzip
	}
	_, err = h.Bytes()
	return h, err
}

const (
	size1 = 348 // bytes of a NIfTI-1 header, the value of its first field
	size2 = 540 // bytes of a NIfTI-2 header
)

// fields reads values at offsets of a header. Those of NIfTI-1 and NIfTI-2 differ.
type fields struct {
	b     []byte
	order binary.ByteOrder
	wide  bool // NIfTI-2: numbers that may be large have 8 bytes
}

func readFields(r io.Reader) (f fields, err error) {
	raw := make([]byte, size2)
	if n, err := io.ReadFull(r, raw[:4]); err != nil {
		return f, fmt.Errorf("byte %d: sizeof_hdr: %w", n, bulk.Unexpected(err))
	}
	for _, f.order = range []binary.ByteOrder{binary.LittleEndian, binary.BigEndian} {
		size := int(f.order.Uint32(raw))
		if size != size1 && size != size2 {
			continue
		}
		f.b, f.wide = raw[:size], size == size2
		if n, err := io.ReadFull(r, raw[4:size]); err != nil {
			return f, fmt.Errorf("byte %d: the header has %d bytes: %w", n+4, size, bulk.Unexpected(err))
		}
		return f, nil
	}
	return f, errors.New("not a NIfTI header: sizeof_hdr is neither 348 nor 540")
}

// at is the offset of a field in the header's version.
func (f fields) at(one, two int) int {
	if f.wide {
		return two
	}
	return one
}

func (f fields) short(at int) int { return int(int16(f.order.Uint16(f.b[at:]))) }

// code is a number of 2 bytes, or of 4 in NIfTI-2.
func (f fields) code(one, two int) int {
	if f.wide {
		return int(int32(f.order.Uint32(f.b[two:])))
	}
	return f.short(one)
}

// real is element i of an array of floats.
func (f fields) real(one, two, i int) float64 {
	if f.wide {
		return math.Float64frombits(f.order.Uint64(f.b[two+8*i:]))
	}
	return float64(math.Float32frombits(f.order.Uint32(f.b[one+4*i:])))
}

// dim is element i of dim, whose first is the number of axes.
func (f fields) dim(i int) int64 {
	if f.wide {
		return int64(f.order.Uint64(f.b[16+8*i:]))
	}
	return int64(f.short(40 + 2*i))
}

// pair reports whether the image is in another file.
func (f fields) pair() (bool, error) {
	magic := string(f.b[f.at(344, 4):f.at(348, 12)])
	switch magic {
	case "n+1\x00", "n+2\x00\r\n\x1a\n":
		return false, nil
	case "ni1\x00", "ni2\x00\r\n\x1a\n":
		return true, nil
	case "\x00\x00\x00\x00":
		return false, errors.New("an Analyze 7.5 file, not NIfTI")
	}
	return false, fmt.Errorf("magic: %q is not NIfTI's", magic)
}

// datatypes are the dtypes of the parts of an element, by the format's numbers.
var datatypes = map[int]struct {
	dtype dataset.Dtype
	parts int
}{
	2: {dataset.Uint8, 1}, 4: {dataset.Int16, 1}, 8: {dataset.Int32, 1}, 16: {dataset.Float32, 1}, 32: {dataset.Float32, 2},
	64: {dataset.Float64, 1}, rgb: {dataset.Uint8, 3}, 256: {dataset.Int8, 1}, 512: {dataset.Uint16, 1}, 768: {dataset.Uint32, 1},
	1024: {dataset.Int64, 1}, 1280: {dataset.Uint64, 1}, 1792: {dataset.Float64, 2}, rgba: {dataset.Uint8, 4},
}

const (
	rgb  = 128
	rgba = 2304
)

// array sets what describes the values.
func (f fields) array(h *array.Header, pair bool) error {
	n := f.dim(0)
	if n < 1 || n > 7 {
		return fmt.Errorf("dim[0]: %d axes, want 1 to 7", n)
	}
	code := f.short(f.at(70, 12))
	of := datatypes[code]
	if of.parts == 0 {
		return fmt.Errorf("datatype: %d is not read", code)
	}
	if bits, want := f.short(f.at(72, 14)), 8*of.parts*of.dtype.Size(); bits != 0 && bits != want {
		return fmt.Errorf("bitpix: %d, but datatype %d has %d", bits, code, want)
	}
	h.Dtype = of.dtype
	if of.parts > 1 {
		h.Sizes = []int{of.parts}
	}
	for i := range n {
		v := f.dim(int(i) + 1)
		if v < 1 || v > math.MaxInt {
			return fmt.Errorf("dim[%d]: %d samples, want 1 to %d", i+1, v, math.MaxInt)
		}
		h.Sizes = append(h.Sizes, int(v))
	}
	offset := f.real(108, 168, 0)
	if f.wide {
		offset = float64(int64(f.order.Uint64(f.b[168:])))
	}
	if !(offset >= 0 && offset < 1<<53 && offset == math.Trunc(offset)) {
		return fmt.Errorf("vox_offset: %g is not an offset in a file", offset)
	}
	h.Skip = int64(offset)
	if least := int64(len(f.b) + 4); !pair {
		if h.Skip == 0 {
			h.Skip = least
		}
		if h.Skip < least {
			return fmt.Errorf("vox_offset: %d is in the header, want at least %d", h.Skip, least)
		}
	}
	// A slope of 0 or not finite means unscaled values; colours are never scaled (nifti1.h, "DATA SCALING").
	h.Slope, h.Inter = f.real(112, 176, 0), f.real(116, 184, 0)
	if !finite(h.Slope) || code == rgb || code == rgba {
		h.Slope = 0
	}
	if !finite(h.Inter) || h.Slope == 0 {
		h.Inter = 0
	}
	if descrip, _, _ := bytes.Cut(f.b[f.at(148, 240):][:80], []byte{0}); len(descrip) > 0 {
		h.Attributes = map[string]string{"descrip": string(descrip)}
	}
	return nil
}

func finite(x float64) bool { return !math.IsNaN(x) && !math.IsInf(x, 0) }

// place sets the axes and the origin.
func (f fields) place(h *array.Header) {
	units := f.b[123]
	if f.wide {
		units = byte(f.code(0, 500))
	}
	mm := array.Millimetres([]string{"", "m", "mm", "um", "", "", "", ""}[units&7])
	n := int(f.dim(0))
	h.Axes = make([]array.Axis, len(h.Sizes))
	parts := h.Axes[:len(h.Sizes)-n]
	for k := range parts {
		parts[k].Kind = "list"
	}
	axes := h.Axes[len(parts):]
	affine := f.affine(h.Sizes[len(parts):])
	known := true
	for _, row := range affine {
		for _, x := range row {
			known = known && finite(x)
		}
	}
	for k := range axes {
		a := &axes[k]
		step := f.real(76, 104, k+1)
		switch {
		case k < 3:
			a.Kind = "space"
			a.Space(step, mm)
			if known {
				a.Place([]float64{affine[0][k], affine[1][k], affine[2][k]}, mm)
				// The step has more digits than a column of float32.
				if s := math.Abs(step) * mm; math.Abs(a.Spacing-s) <= 1e-5*a.Spacing {
					a.Spacing = s
				}
			}
		case k == 3 && units>>3&7 != 0:
			a.Kind = "time"
			a.Space(step, mm)
		default:
			a.Kind = "list"
			a.Space(step, mm)
		}
	}
	if known {
		h.SetOrigin([]float64{affine[0][3], affine[1][3], affine[2][3]}, mm)
	}
}

// affine is the first three rows of the matrix from indices to the world: the sform if its code is positive, otherwise the
// qform if its code is (methods 3 and 2 of nifti1.h). Without either, as in nibabel, the first axis runs to the left, the
// others run forward and up, and the middle of the image is the world's origin.
func (f fields) affine(dim []int) (m [3][4]float64) {
	if f.code(254, 348) > 0 {
		for i := range m {
			for j := range m[i] {
				m[i][j] = f.real(280, 400, 4*i+j)
			}
		}
		return m
	}
	var step [3]float64 // positive, and 1 if the header has none
	for i := range step {
		if step[i] = math.Abs(f.real(76, 104, i+1)); step[i] == 0 {
			step[i] = 1
		}
	}
	if f.code(252, 344) > 0 {
		return f.qform(step)
	}
	for i := range m {
		m[i][i] = 1
		if i < len(dim) {
			m[i][i] = step[i]
			if i == 0 {
				m[i][i] = -step[i]
			}
			m[i][3] = float64(dim[i]-1) / -2 * m[i][i]
		}
	}
	return m
}

// qform is the matrix of the quaternion, the steps and the offset, by method 2 of nifti1.h. If the vector (b, c, d) is
// longer than 1, it is normalised, and a is 0.
func (f fields) qform(step [3]float64) (m [3][4]float64) {
	b, c, d := f.real(256, 352, 0), f.real(256, 352, 1), f.real(256, 352, 2)
	a := 1 - (b*b + c*c + d*d)
	if a < 1e-7 {
		l := 1 / math.Sqrt(b*b+c*c+d*d)
		a, b, c, d = 0, l*b, l*c, l*d
	} else {
		a = math.Sqrt(a)
	}
	rotation := [3][3]float64{
		{a*a + b*b - c*c - d*d, 2 * (b*c - a*d), 2 * (b*d + a*c)},
		{2 * (b*c + a*d), a*a + c*c - b*b - d*d, 2 * (c*d - a*b)},
		{2 * (b*d - a*c), 2 * (c*d + a*b), a*a + d*d - b*b - c*c},
	}
	if f.real(76, 104, 0) < 0 { // qfac: the third axis is reversed
		step[2] = -step[2]
	}
	for i, row := range rotation {
		m[i] = [4]float64{row[0] * step[0], row[1] * step[1], row[2] * step[2], f.real(268, 376, i)}
	}
	return m
}

// partner is the other file of a pair, whose name ends in want, in upper case if that of this one does: compressed as this one,
// or otherwise.
func partner(fsys fs.FS, name, want string) (string, error) {
	base, zip := name, ""
	if strings.EqualFold(path.Ext(name), ".gz") {
		zip = path.Ext(name)
		base = strings.TrimSuffix(name, zip)
	}
	ext := path.Ext(base)
	if !strings.EqualFold(ext, ".hdr") && !strings.EqualFold(ext, ".img") {
		return "", errors.New("the header of a pair, but the file is not named .hdr")
	}
	if ext == strings.ToUpper(ext) {
		want = strings.ToUpper(want)
	}
	plain, other := strings.TrimSuffix(base, ext)+want, ""
	if zip == "" {
		other = ".gz"
	}
	for _, candidate := range []string{plain + zip, plain + other} {
		if _, err := fs.Stat(fsys, candidate); err == nil {
			return candidate, nil
		}
	}
	return "", fmt.Errorf("%s: %w", plain+zip, fs.ErrNotExist)
}
