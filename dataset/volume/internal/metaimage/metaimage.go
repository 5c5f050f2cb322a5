// Package metaimage reads the headers of MetaImage, the format of ITK: a text header and an array, in one file (.mha) or in
// two (.mhd and the file that it names). The array is binary, text, or compressed by zlib or gzip.
//
// It follows the documentation and the behaviour of Kitware's MetaIO, in the version of SimpleITK 2.5. The world is LPS: x
// grows to the patient's left, y to the back, z to the head.
package metaimage

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/dataset/volume/internal/array"
	"github.com/penstock-go/penstock/internal/bulk"
)

// maxAxes is MetaIO's.
const maxAxes = 10

// ReadHeader reads the header of the named file. It does not open data files. Errors do not name the file.
//
// Several channels are the first axis.
func ReadHeader(fsys fs.FS, name string) (*array.Header, error) {
	src, err := array.Open(fsys, name)
	if err != nil {
		return nil, err
	}
	defer src.Close()
	return parse(src.Reader, src.Size(), name)
}

// A parser reads a header line by line.
type parser struct {
	*array.Lines
	h    *array.Header
	name string // of the header

	axes             int // NDims
	channels         int
	text, compressed bool
	spacing, size    []float64 // ElementSpacing and ElementSize, which replaces it
	origin, matrix   []float64
	unit             string
	elements         string // ElementDataFile
}

func parse(r *bufio.Reader, size int64, name string) (*array.Header, error) {
	p := &parser{Lines: array.NewLines(r, size), h: &array.Header{World: "LPS", Big: !bulk.LittleEndian()}, name: name, channels: 1}
	err := p.header()
	if err == nil {
		if err = p.dataFile(); err != nil {
			err = fmt.Errorf("ElementDataFile: %w", err)
		}
	}
	if err != nil {
		return nil, fmt.Errorf("line %d: %w", p.Line, err)
	}
	return p.h, p.finish()
}

// header reads all lines up to ElementDataFile, which is the last one.
func (p *parser) header() error {
	for p.elements == "" {
		text, err := p.Next()
		if err == io.EOF {
			return fmt.Errorf("the header ends without ElementDataFile")
		}
		if err != nil {
			return err
		}
		if strings.TrimSpace(text) == "" {
			continue
		}
		i := strings.IndexAny(text, "=:")
		if i < 0 && p.Line == 1 {
			return errors.New("not a MetaImage: the first line is not a field")
		}
		if i < 0 {
			return fmt.Errorf("%.60q is not a field: = is missing", text)
		}
		key, value := strings.TrimSpace(text[:i]), strings.TrimSpace(text[i+1:])
		if err := p.Once(key); err != nil {
			return err
		}
		if err := p.field(key, value); err != nil {
			return fmt.Errorf("%.60s: %w", key, err)
		}
	}
	if p.h.Sizes == nil || p.h.Dtype == 0 {
		return errors.New("DimSize or ElementType is missing")
	}
	return nil
}

// types are the dtypes of elements, with the sizes that MetaIO uses on all systems.
var types = map[string]dataset.Dtype{
	"MET_CHAR": dataset.Int8, "MET_ASCII_CHAR": dataset.Int8, "MET_UCHAR": dataset.Uint8, "MET_SHORT": dataset.Int16, "MET_USHORT": dataset.Uint16,
	"MET_INT": dataset.Int32, "MET_UINT": dataset.Uint32, "MET_LONG": dataset.Int32, "MET_ULONG": dataset.Uint32,
	"MET_LONG_LONG": dataset.Int64, "MET_ULONG_LONG": dataset.Uint64, "MET_FLOAT": dataset.Float32, "MET_DOUBLE": dataset.Float64,
}

// field reads one field. If a field has several names, the oldest is last.
func (p *parser) field(key, value string) (err error) {
	h, words := p.h, strings.Fields(value)
	switch key {
	case "DimSize", "ElementSpacing", "ElementSize", "Offset", "Position", "Origin", "TransformMatrix", "Rotation", "Orientation":
		if p.axes == 0 {
			return errors.New("NDims must come first")
		}
	}
	switch key {
	case "ObjectType":
		if !strings.HasPrefix(value, "Image") {
			return fmt.Errorf("%.60q is not Image", value)
		}
	case "NDims":
		n, err := array.Integers(words, 1, 1, maxAxes)
		if err == nil {
			p.axes = int(n[0])
		}
		return err
	case "DimSize":
		err = h.SetSizes(words, p.axes)
	case "ElementNumberOfChannels":
		n, err := array.Integers(words, 1, 1, 1<<20)
		if err == nil {
			p.channels = int(n[0])
		}
		return err
	case "ElementType":
		var ok bool
		if h.Dtype, ok = types[value]; !ok {
			return fmt.Errorf("%.60q is not read", value)
		}
	case "BinaryData":
		binary := false
		err = truth(&binary, value)
		p.text = !binary
	case "BinaryDataByteOrderMSB", "ElementByteOrderMSB":
		err = truth(&h.Big, value)
	case "CompressedData":
		err = truth(&p.compressed, value)
	case "HeaderSize":
		n, err := array.Integers(words, 1, -1, 1<<62)
		if err == nil {
			h.Skip = n[0]
		}
		return err
	case "ElementSpacing":
		err = numbers(&p.spacing, words, p.axes)
	case "ElementSize":
		err = numbers(&p.size, words, p.axes)
	case "Offset", "Position", "Origin":
		err = numbers(&p.origin, words, p.axes)
	case "TransformMatrix", "Rotation", "Orientation":
		err = numbers(&p.matrix, words, p.axes*p.axes)
	case "DistanceUnits":
		p.unit = value
	case "ElementDataFile":
		if p.elements = value; value == "" {
			return errors.New("it is empty")
		}
	case "CompressedDataSize": // compressed data mark their end themselves
	default:
		if h.Attributes == nil {
			h.Attributes = map[string]string{}
		}
		h.Attributes[key] = value
	}
	return err
}

// numbers reads the numbers of a field that has several names, of which a header has one.
func numbers(at *[]float64, words []string, n int) (err error) {
	if *at != nil {
		return errors.New("it is there already, under another name")
	}
	*at, err = array.Floats(words, n)
	for _, x := range *at {
		if x != x {
			return errors.New("NaN is not a finite number")
		}
	}
	return err
}

func truth(at *bool, value string) error {
	switch {
	case value != "" && strings.ContainsRune("Tt1", rune(value[0])):
		*at = true
	case value != "" && strings.ContainsRune("Ff0", rune(value[0])):
		*at = false
	default:
		return fmt.Errorf("%.60q is neither True nor False", value)
	}
	return nil
}

// dataFile reads the value of ElementDataFile.
func (p *parser) dataFile() (err error) {
	h, words := p.h, strings.Fields(p.elements)
	switch {
	case strings.EqualFold(p.elements, "LOCAL"):
		h.Own, h.File, h.Offset = true, p.name, p.Read
		if h.Skip > 0 { // it counts from the beginning of the file
			h.Offset = 0
		}
		return nil
	case words[0] == "LIST" || strings.Contains(p.elements, "%"):
		return errors.New("several data files are not read: want one")
	}
	h.File, err = array.Detached(p.name, p.elements)
	return err
}

// finish checks the header, and sets what the fields together say.
func (p *parser) finish() error {
	h := p.h
	switch {
	case p.compressed && p.text:
		return errors.New("CompressedData: compressed text is not read")
	case p.compressed && h.Skip != 0:
		return errors.New("HeaderSize cannot be combined with CompressedData")
	case p.compressed:
		h.Encoding = array.Gzip
	case p.text:
		h.Encoding = array.Text
	}
	if err := p.geometry(); err != nil {
		return err
	}
	if p.channels > 1 {
		h.Sizes = slices.Insert(h.Sizes, 0, p.channels)
		h.Axes = slices.Insert(h.Axes, 0, array.Axis{Kind: "list"})
	}
	_, err := h.Bytes()
	return err
}

// geometry sets the axes and the origin as ITK does. A negative spacing reverses its axis. A missing spacing is 1, and a
// missing origin is 0. Only the first three axes are spatial.
func (p *parser) geometry() error {
	h, n := p.h, p.axes
	if p.spacing == nil {
		p.spacing = p.size
	}
	if p.spacing == nil {
		p.spacing = slices.Repeat([]float64{1}, n)
	}
	if p.origin == nil {
		p.origin = make([]float64, n)
	}
	if p.matrix == nil {
		p.matrix = make([]float64, n*n)
		for i := range n {
			p.matrix[i*n+i] = 1
		}
	}
	world := min(n, 3)
	if world < 3 {
		h.World = ""
	}
	mm := array.Millimetres(p.unit)
	h.SetOrigin(p.origin[:world], mm)
	h.Axes = make([]array.Axis, n)
	for i, s := range p.spacing {
		if s == 0 {
			return fmt.Errorf("ElementSpacing: axis %d: it is 0", i)
		}
		row := p.matrix[i*n : (i+1)*n]
		for k, x := range row {
			if (i < world) != (k < world) && x != 0 {
				return fmt.Errorf("TransformMatrix: axis %d mixes spatial and other axes", i)
			}
		}
		a := &h.Axes[i]
		a.Kind = "list"
		a.Space(s, mm)
		if i < world {
			a.Kind = "space"
			step := slices.Clone(row[:world])
			for d := range step {
				step[d] *= s
			}
			a.Place(step, mm)
		}
	}
	return nil
}
