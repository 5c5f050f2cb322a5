// Package nrrd reads and writes the NRRD format of Teem, versions 1 to 6: a text header and an array of up to 16
// dimensions, in one file or in several.
//
// It follows Teem's "Definition of NRRD File Format" (teem.sourceforge.net/nrrd/format.html). No part of a header is
// ignored: a field that is unknown, repeated, out of order or in conflict with another one is an error that names the line
// and the field. All axes are in the file's order, the fastest first.
package nrrd

import (
	"io/fs"
	"strings"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/internal/bulk"
	"github.com/penstock-go/penstock/internal/files"
)

// An Image is an array with its header.
type Image struct {
	Header
	Dtype dataset.Dtype // of an element; uint8 for blocks
	Sizes []int         // the shape of Data, as [Header.Shape] gives it
	Data  []byte        // in the machine's byte order, aligned to 64 bytes
}

// ReadHeader reads the header of the named file, attached or detached. It does not open data files.
//
// Errors name data files, but not the file itself: the caller adds its name.
func ReadHeader(fsys fs.FS, name string) (*Header, error) {
	src, err := bulk.Open(fsys, name, 4<<10)
	if err != nil {
		return nil, files.Cause(err)
	}
	defer src.Close()
	h, err := parse(src.Reader, src.Size())
	if err != nil {
		return nil, err
	}
	h.name = name
	return h, h.checkFiles()
}

// Read reads the header and the data, which may be in other files. Data of more than limit bytes are an error before
// memory is allocated for them. A limit of 0 means no limit. Bytes after the data are ignored.
//
// Memory grows as data are read, not by the sizes in the header alone.
func Read(fsys fs.FS, name string, limit int64) (*Image, error) {
	h, err := ReadHeader(fsys, name)
	if err != nil {
		return nil, err
	}
	data, err := bulk.Load(h, "sizes", limit, func(size int64) ([]byte, error) { return h.load(fsys, size) })
	if err != nil {
		return nil, err
	}
	return &Image{Header: *h, Dtype: h.Dtype(), Sizes: h.Shape(), Data: data}, nil
}

// likely is the expected size of the decoded data, from the size of the files.
func (h *Header) likely(promised, stored int64) int64 {
	switch h.Encoding {
	case Gzip, Bzip2:
		return bulk.Unzipped(promised, stored)
	case ASCII:
		return 4 * min(stored, 1<<50) // two characters, a digit and a space, can be a float64
	}
	return stored
}

// The names below and their synonyms are Teem's. As in Teem, upper and lower case are the same.

func typeOf(name string) (Type, bool) {
	switch strings.ToLower(name) {
	case "signed char", "int8", "int8_t":
		return Int8, true
	case "uchar", "unsigned char", "uint8", "uint8_t":
		return Uint8, true
	case "short", "short int", "signed short", "signed short int", "int16", "int16_t":
		return Int16, true
	case "ushort", "unsigned short", "unsigned short int", "uint16", "uint16_t":
		return Uint16, true
	case "int", "signed int", "int32", "int32_t":
		return Int32, true
	case "uint", "unsigned int", "uint32", "uint32_t":
		return Uint32, true
	case "longlong", "long long", "long long int", "signed long long", "signed long long int", "int64", "int64_t":
		return Int64, true
	case "ulonglong", "unsigned long long", "unsigned long long int", "uint64", "uint64_t":
		return Uint64, true
	case "float":
		return Float32, true
	case "double":
		return Float64, true
	case "block":
		return Block, true
	}
	return "", false
}

// size is the size of an element in bytes. It is 1 for blocks, whose bytes have no order.
func (t Type) size() int {
	switch t {
	case Int16, Uint16:
		return 2
	case Int32, Uint32, Float32:
		return 4
	case Int64, Uint64, Float64:
		return 8
	}
	return 1
}

func (t Type) dtype() dataset.Dtype {
	switch t {
	case Int8:
		return dataset.Int8
	case Int16:
		return dataset.Int16
	case Uint16:
		return dataset.Uint16
	case Int32:
		return dataset.Int32
	case Uint32:
		return dataset.Uint32
	case Int64:
		return dataset.Int64
	case Uint64:
		return dataset.Uint64
	case Float32:
		return dataset.Float32
	case Float64:
		return dataset.Float64
	}
	return dataset.Uint8
}

func encodingOf(name string) (Encoding, bool) {
	switch strings.ToLower(name) {
	case "raw":
		return Raw, true
	case "txt", "text", "ascii":
		return ASCII, true
	case "hex":
		return Hex, true
	case "gz", "gzip":
		return Gzip, true
	case "bz2", "bzip2":
		return Bzip2, true
	case "zrl":
		return ZRL, true
	}
	return "", false
}

// spaceOf resolves a space's synonyms, and returns the number of its axes.
func spaceOf(name string) (space string, dimension int, ok bool) {
	s := strings.ToLower(name)
	switch s {
	case "ras", "las", "lps", "rast", "last", "lpst":
		s = strings.NewReplacer("r", "right-", "l", "left-", "a", "anterior-", "p", "posterior-", "s", "superior-",
			"t", "time-").Replace(s)
		s = strings.TrimSuffix(s, "-")
	case "ru":
		s = "right-up"
	case "rd":
		s = "right-down"
	case "scanner-xyzt":
		s = "scanner-xyz-time"
	}
	for _, space := range []string{
		"right-anterior-superior", "left-anterior-superior", "left-posterior-superior", "scanner-xyz",
		"3D-right-handed", "3D-left-handed",
	} {
		plain := strings.ToLower(space)
		for _, time := range []string{"", "-time"} {
			full := plain + time
			if s == full || s == strings.ReplaceAll(full, "-", " ") || s == strings.ReplaceAll(full, "-", "") {
				return space + time, 3 + len(time)/5, true
			}
		}
	}
	if s = strings.ReplaceAll(s, " ", "-"); s == "right-up" || s == "right-down" {
		return s, 2, true
	}
	return "", 0, false
}

// kindOf resolves a kind's synonyms.
func kindOf(name string) (string, bool) {
	s := strings.ToLower(name)
	s = strings.Replace(s, "-sym-", "-symmetric-", 1)
	s = strings.Replace(s, "-tensor", "-matrix", 1)
	switch s {
	case "contravariant-vector":
		s = "vector"
	case "rgb", "rgbcolor", "hsv", "hsvcolor", "rgba", "rgbacolor":
		s = strings.TrimSuffix(s, "color") + "-color"
	}
	for _, kind := range []string{
		"domain", "space", "time", "list", "point", "vector", "covariant-vector", "normal",
		"stub", "scalar", "complex", "2-vector", "3-color", "RGB-color", "HSV-color", "XYZ-color", "4-color",
		"RGBA-color", "3-vector", "3-gradient", "3-normal", "4-vector", "quaternion",
		"2D-symmetric-matrix", "2D-masked-symmetric-matrix", "2D-matrix", "2D-masked-matrix",
		"3D-symmetric-matrix", "3D-masked-symmetric-matrix", "3D-matrix", "3D-masked-matrix",
	} {
		if s == strings.ToLower(kind) {
			return kind, true
		}
	}
	return "", false
}

// IsKind reports whether the format has a kind with exactly this name. Synonyms do not count, because they are not read
// back as they were written.
func IsKind(name string) bool {
	kind, ok := kindOf(name)
	return ok && kind == name
}

// kindSize is the size of an axis of that kind, or 0 if it can have any size.
func kindSize(kind string) int {
	switch kind {
	case "stub", "scalar":
		return 1
	case "complex", "2-vector":
		return 2
	case "3-color", "RGB-color", "HSV-color", "XYZ-color", "3-vector", "3-gradient", "3-normal", "2D-symmetric-matrix":
		return 3
	case "4-color", "RGBA-color", "4-vector", "quaternion", "2D-matrix", "2D-masked-symmetric-matrix":
		return 4
	case "2D-masked-matrix":
		return 5
	case "3D-symmetric-matrix":
		return 6
	case "3D-masked-symmetric-matrix":
		return 7
	case "3D-matrix":
		return 9
	case "3D-masked-matrix":
		return 10
	}
	return 0
}
