// Package nrrd reads the headers of NRRD files, the format of Teem, versions 1 to 6, and writes such files: a text header
// and an array, in one file or in two.
//
// It follows Teem's "Definition of NRRD File Format" (teem.sourceforge.net/nrrd/format.html). Fields that say nothing about
// the values or the geometry are not looked at; a field that is unknown or repeated is an error that names its line.
package nrrd

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"slices"
	"strings"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/dataset/volume/internal/array"
)

const (
	maxAxes  = 16 // Teem's NRRD_DIM_MAX
	maxWorld = 8  // Teem's NRRD_SPACE_DIM_MAX
)

// ReadHeader reads the header of the named file. It does not open data files. Errors do not name the file.
func ReadHeader(fsys fs.FS, name string) (*array.Header, error) {
	src, err := array.Open(fsys, name)
	if err != nil {
		return nil, err
	}
	defer src.Close()
	return parse(src.Reader, src.Size(), name)
}

// parse reads the header of a file of size bytes.
func parse(r *bufio.Reader, size int64, name string) (*array.Header, error) {
	p := &parser{Lines: array.NewLines(r, size), h: &array.Header{}, name: name}
	if err := p.header(); err != nil {
		return nil, fmt.Errorf("line %d: %w", p.Line, err)
	}
	return p.h, p.finish()
}

// A parser reads a header line by line.
type parser struct {
	*array.Lines
	h    *array.Header
	name string // of the header

	axes, world int // of the array and of the world; 0 before they are read
	spacings    []float64
	kinds       []string
	directions  [][]float64 // steps; nil for an axis that has none
	origin      []float64
	unit        string
	attached    bool // an empty line ended the header
	encoded     bool
	endian      bool
}

// header reads all lines up to the values.
func (p *parser) header() error {
	magic, err := p.Next()
	if err != nil && err != io.EOF || !strings.HasPrefix(magic, "NRRD") {
		return errors.New("not a NRRD file: it does not begin with NRRD")
	}
	switch v := strings.TrimRight(magic[len("NRRD"):], " \t"); v {
	case "00.01", "0001", "0002", "0003", "0004", "0005", "0006":
	default:
		return fmt.Errorf("version %.20q is not one of 0001 to 0006", v)
	}
	for {
		text, err := p.Next()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		if strings.TrimSpace(text) == "" {
			p.attached = true
			return nil
		}
		if err := p.statement(text); err != nil {
			return err
		}
	}
}

// statement reads a comment, a field, or a key and its value. As in Teem, the text before a colon is a field if there is a
// field of that name, otherwise it is a key if ":=" follows.
func (p *parser) statement(text string) error {
	if text[0] == '#' {
		return nil
	}
	name, value, colon := strings.Cut(text, ":")
	name = fieldOf(name)
	if slices.Contains(fields, name) && colon && !strings.HasPrefix(value, "=") {
		if err := p.Once(name); err != nil {
			return err
		}
		if err := p.field(name, strings.Trim(value, " \t")); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		return nil
	}
	key, value, ok := strings.Cut(text, ":=")
	if !ok {
		return fmt.Errorf("%.60q is neither a field nor a key and its value", text)
	}
	key = unescape(key)
	if err := p.Once("key " + key); err != nil {
		return err
	}
	if p.h.Attributes == nil {
		p.h.Attributes = map[string]string{}
	}
	p.h.Attributes[key] = unescape(value)
	return nil
}

// unescape replaces the two escapes of keys and values. Any other backslash stays.
func unescape(s string) string { return escapes.Replace(s) }

var escapes = strings.NewReplacer(`\\`, `\`, `\n`, "\n")

// fields are those of the format.
var fields = []string{
	"dimension", "type", "encoding", "endian", "line skip", "byte skip", "sizes", "spacings", "kinds", "space units", "space",
	"space dimension", "space origin", "space directions", "data file",
	// These say nothing about the values or where they are.
	"block size", "number", "min", "max", "old min", "old max", "content", "sample units", "thicknesses", "axis mins",
	"axis maxs", "centers", "labels", "units", "measurement frame",
}

// fieldOf resolves the synonyms of a field's name. As in Teem, upper and lower case are the same.
func fieldOf(name string) string {
	name = strings.ToLower(strings.TrimSpace(name))
	if name == "centerings" {
		return "centers"
	}
	for _, f := range fields {
		if name == strings.ReplaceAll(f, " ", "") {
			return f
		}
	}
	return name
}

// types are the names of dtypes, without spaces and signed, which ints are anyway.
var types = map[string]dataset.Dtype{
	"char": dataset.Int8, "int8": dataset.Int8, "uchar": dataset.Uint8, "uint8": dataset.Uint8,
	"short": dataset.Int16, "shortint": dataset.Int16, "int16": dataset.Int16,
	"ushort": dataset.Uint16, "ushortint": dataset.Uint16, "uint16": dataset.Uint16,
	"int": dataset.Int32, "int32": dataset.Int32, "uint": dataset.Uint32, "uint32": dataset.Uint32,
	"longlong": dataset.Int64, "longlongint": dataset.Int64, "int64": dataset.Int64,
	"ulonglong": dataset.Uint64, "ulonglongint": dataset.Uint64, "uint64": dataset.Uint64,
	"float": dataset.Float32, "double": dataset.Float64,
}

var encodings = map[string]array.Encoding{
	"raw": array.Raw, "txt": array.Text, "text": array.Text, "ascii": array.Text,
	"gz": array.Gzip, "gzip": array.Gzip, "bz2": array.Bzip2, "bzip2": array.Bzip2,
}

// A space is a world: where its axes point, if they are those of the body, and how many it has without time.
type space struct {
	world string
	axes  int
}

// spaces are the worlds by their names without spaces and hyphens. A name may have "time" after it, or t after three letters.
var spaces = map[string]space{
	"ras": {"RAS", 3}, "rightanteriorsuperior": {"RAS", 3}, "las": {"LAS", 3}, "leftanteriorsuperior": {"LAS", 3},
	"lps": {"LPS", 3}, "leftposteriorsuperior": {"LPS", 3}, "scannerxyz": {"", 3}, "3drighthanded": {"", 3}, "3dlefthanded": {"", 3},
	"ru": {"", 2}, "rightup": {"", 2}, "rd": {"", 2}, "rightdown": {"", 2},
}

func (p *parser) field(name, value string) (err error) {
	words := strings.Fields(value)
	lower := strings.ToLower(value)
	var known bool
	switch name {
	case "dimension":
		n, err := array.Integers(words, 1, 1, maxAxes)
		if err == nil {
			p.axes = int(n[0])
		}
		return err
	case "type":
		plain := strings.ReplaceAll(strings.TrimSuffix(lower, "_t"), " ", "")
		plain = strings.Replace(strings.TrimPrefix(plain, "signed"), "unsigned", "u", 1)
		if p.h.Dtype, known = types[plain]; !known {
			err = fmt.Errorf("%.60q is not read", value)
		}
		return err
	case "encoding":
		if p.h.Encoding, p.encoded = encodings[lower]; !p.encoded {
			err = fmt.Errorf("%.60q is not read: want raw, ascii, gzip or bzip2", value)
		}
		return err
	case "endian":
		if p.h.Big, p.endian = lower == "big", lower == "big" || lower == "little"; !p.endian {
			err = fmt.Errorf("%.60q is neither little nor big", value)
		}
		return err
	case "line skip":
		return integer(&p.h.Lines, words, 0)
	case "byte skip":
		return integer(&p.h.Skip, words, -1)
	case "space":
		plain := strings.NewReplacer(" ", "", "-", "").Replace(lower)
		s, ok := spaces[plain]
		if rest, time := strings.CutSuffix(plain, "time"); time && !ok {
			s, ok = spaces[rest]
			s.axes++
		}
		if rest, time := strings.CutSuffix(plain, "t"); time && !ok && (len(rest) == 3 || rest == "scannerxyz") {
			s, ok = spaces[rest]
			s.axes++
		}
		if !ok || p.world != 0 {
			return fmt.Errorf("%.60q is not one, or there is a space dimension, too", value)
		}
		p.h.World, p.world = s.world, s.axes
		return nil
	case "space dimension":
		n, err := array.Integers(words, 1, 1, maxWorld)
		if err == nil && p.world != 0 {
			err = errors.New("there is a space, too")
		}
		if err == nil {
			p.world = int(n[0])
		}
		return err
	case "space units":
		if quoted := strings.Split(value, `"`); len(quoted) > 1 {
			p.unit = quoted[1]
		}
		return nil
	case "data file":
		if len(words) > 0 && (words[0] == "LIST" || words[0] == "SKIPLIST") || len(words) > 3 && strings.Contains(words[0], "%") {
			return errors.New("several data files are not read: want one")
		}
		p.h.File, err = array.Detached(p.name, value)
		return err
	case "space origin":
		vectors, err := p.vectors(value, 1)
		if err == nil {
			p.origin = vectors[0]
		}
		return err
	}
	if !slices.Contains(fields[:15], name) {
		return nil
	}
	if p.axes == 0 {
		return errors.New("dimension must come first")
	}
	switch name {
	case "sizes":
		return p.h.SetSizes(words, p.axes)
	case "spacings":
		p.spacings, err = array.Floats(words, p.axes)
		if slices.Contains(p.spacings, 0) {
			err = errors.New("one is 0")
		}
	case "kinds":
		if p.kinds = words; len(words) != p.axes {
			err = fmt.Errorf("%d values, want %d", len(words), p.axes)
		}
	case "space directions":
		p.directions, err = p.vectors(value, p.axes)
	}
	return err
}

func integer(at *int64, words []string, least int64) error {
	n, err := array.Integers(words, 1, least, math.MaxInt)
	if err == nil {
		*at = n[0]
	}
	return err
}

// vectors reads vectors of the world, such as (x,y,z). The word none gives nil, and so do coordinates that are all NaN.
func (p *parser) vectors(value string, n int) ([][]float64, error) {
	if p.world == 0 {
		return nil, errors.New("space or space dimension must come first")
	}
	vectors := make([][]float64, n)
	for i := range vectors {
		if rest, ok := strings.CutPrefix(value, "none"); ok {
			value = strings.TrimLeft(rest, " \t")
			continue
		}
		inside, rest, ok := strings.Cut(value, ")")
		if !ok || inside == "" || inside[0] != '(' {
			return nil, fmt.Errorf("vector %d: %.60q is neither (x,y,…) nor none", i, value)
		}
		v, err := array.Floats(strings.Split(inside[1:], ","), p.world)
		if err != nil {
			return nil, fmt.Errorf("vector %d: %w", i, err)
		}
		unknown := 0
		for _, x := range v {
			if x != x {
				unknown++
			}
		}
		if unknown == 0 {
			vectors[i] = v
		} else if unknown < len(v) {
			return nil, fmt.Errorf("vector %d: %v is only partly known", i, v)
		}
		value = strings.TrimLeft(rest, " \t")
	}
	if value != "" {
		return nil, fmt.Errorf("%.60q follows %d vectors", value, n)
	}
	return vectors, nil
}

// finish checks the header, and sets what the fields together say.
func (p *parser) finish() error {
	h := p.h
	switch {
	case h.Sizes == nil:
		return errors.New("dimension and sizes are missing")
	case h.Dtype == 0:
		return errors.New("type is missing")
	case !p.encoded:
		return errors.New("encoding is missing")
	case !p.endian && h.Encoding != array.Text && h.Dtype.Size() > 1:
		return fmt.Errorf("endian is missing, which %v needs", h.Dtype)
	case h.Skip < 0 && h.Encoding != array.Raw:
		return errors.New("byte skip: -1 is not read of values that are not raw")
	case h.File == "" && !p.attached:
		return errors.New("the header has neither a data file nor an empty line at its end")
	}
	if h.File == "" {
		h.Own, h.File, h.Offset = true, p.name, p.Read
	}
	mm := array.Millimetres(p.unit)
	h.SetOrigin(p.origin, mm)
	h.Axes = make([]array.Axis, p.axes)
	for k := range h.Axes {
		a := &h.Axes[k]
		if p.kinds != nil && p.kinds[k] != "???" && !strings.EqualFold(p.kinds[k], "none") {
			a.Kind = strings.ToLower(p.kinds[k])
		}
		if p.spacings != nil {
			a.Space(p.spacings[k], mm)
		}
		if p.directions == nil || p.directions[k] == nil {
			continue
		}
		if l := array.Length(p.directions[k]); p.spacings != nil && math.Abs(l-math.Abs(p.spacings[k])) > 1e-3*l {
			return fmt.Errorf("spacings: %g on axis %d, but its space direction has length %g", p.spacings[k], k, l)
		}
		a.Place(p.directions[k], mm)
	}
	_, err := h.Bytes()
	return err
}
