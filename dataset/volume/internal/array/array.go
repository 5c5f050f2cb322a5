// Package array is what the headers of NRRD, NIfTI and MetaImage files come to: an array, its place in the body, and the
// file of its values. It reads the values of all three formats, whose packages only parse headers.
package array

import (
	"fmt"
	"io/fs"
	"math"
	"path"
	"strings"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/internal/bulk"
	"github.com/penstock-go/penstock/internal/files"
)

// A Header describes an array. All lists begin with the fastest axis.
type Header struct {
	Dtype dataset.Dtype
	Sizes []int
	Axes  []Axis // one per size

	World  string    // where the world's axes point, such as "LPS"; "" if unknown
	Origin []float64 // the centre of the first value in the world, in mm; nil if unknown
	// Slope and Inter say that a stored value v means Slope·v + Inter. A Slope of 0 means that it is v.
	Slope, Inter float64

	Attributes map[string]string // other text

	Encoding Encoding
	Big      bool   // the values are big-endian
	File     string // of the values; the header's own if they follow it
	Own      bool   // the values follow the header, in the same file
	Offset   int64  // bytes before the values, or before the compressed data
	Lines    int64  // lines to skip after Offset
	Skip     int64  // bytes to skip after that, once decompressed; -1: all but the last ones
}

// An Axis is one dimension of the array.
type Axis struct {
	Kind      string    // "space", "time", "list"…; "" if unknown
	Spacing   float64   // in mm if the axis is spatial; 0 if unknown
	Direction []float64 // unit vector in the world, or nil
}

// An Encoding is how values are written.
type Encoding int

// The encodings.
const (
	Raw   Encoding = iota // as in memory
	Text                  // decimal numbers between white space
	Gzip                  // raw, compressed by gzip or zlib
	Bzip2                 // raw, compressed by bzip2
)

// Bytes is the size of the values, as they are stored once decompressed. It is an error if that does not fit an int.
func (h *Header) Bytes() (int64, error) {
	n, ok := bulk.Size(h.Dtype.Size(), h.Sizes)
	if !ok {
		return 0, fmt.Errorf("%v values of %v are more than memory can hold", h.Sizes, h.Dtype)
	}
	return n, nil
}

// Place sets spacing and direction of an axis from its step in the world, in units of mm millimetres.
func (a *Axis) Place(step []float64, mm float64) {
	length := Length(step)
	if !(length > 0) || math.IsInf(length, 0) {
		return
	}
	a.Spacing = length * mm
	a.Direction = make([]float64, len(step))
	for d, x := range step {
		a.Direction[d] = x / length
	}
}

// Space sets the spacing of an axis without a direction. Its sign is ignored.
func (a *Axis) Space(spacing, mm float64) {
	if s := math.Abs(spacing); s > 0 && !math.IsInf(s, 0) {
		a.Spacing = s * mm
	}
}

// SetOrigin sets the origin, in units of mm millimetres. One that is not finite stays unknown.
func (h *Header) SetOrigin(origin []float64, mm float64) {
	h.Origin = nil
	for _, x := range origin {
		if math.IsNaN(x) || math.IsInf(x, 0) {
			h.Origin = nil
			return
		}
		h.Origin = append(h.Origin, x*mm)
	}
}

// Length is the Euclidean length of a vector.
func Length(v []float64) float64 {
	l := 0.0
	for _, x := range v {
		l = math.Hypot(l, x)
	}
	return l
}

// Millimetres is the length of the unit; an unknown unit counts as 1 mm.
func Millimetres(unit string) float64 {
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

// Detached is the path of a file of values that a header names. It must be in the header's folder.
func Detached(header, name string) (string, error) { return files.Below(path.Dir(header), name) }

// Open opens the file of a header.
func Open(fsys fs.FS, name string) (*bulk.Source, error) {
	src, err := bulk.Open(fsys, name, 4<<10)
	if err != nil {
		return nil, files.Cause(err)
	}
	return src, nil
}
