package metaimage

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/internal/budget"
	"github.com/penstock-go/penstock/internal/bulk"
)

const (
	maxHeader = 16 << 20 // bytes of a header
	maxLine   = 32 << 10
	maxAxes   = 10 // as in MetaIO
)

// A parser reads a header line by line.
type parser struct {
	budget.Budget
	r    *bufio.Reader
	read int64 // bytes of lines so far
	line int   // the current line, from 1
	h    *Header
	seen map[string]int // by field: its line

	matrix   []float64
	size     []float64 // ElementSize, which replaces a missing spacing
	elements string    // ElementDataFile
}

// parse reads a header up to the data, or to the end of the list of data files. The file has size bytes.
func parse(r *bufio.Reader, size int64, name string) (*Header, error) {
	p := &parser{Budget: budget.For(size), r: r, seen: map[string]int{}, h: &Header{Channels: 1, binary: true, big: !bulk.LittleEndian(), name: name}}
	err := p.header()
	if err == nil {
		if err = p.dataFiles(); err != nil {
			err = fmt.Errorf("ElementDataFile: %w", err)
		}
	}
	if err != nil {
		return nil, fmt.Errorf("line %d: %w", p.line, err)
	}
	p.h.data = p.read
	if err := p.geometry(); err != nil {
		return nil, err
	}
	if p.h.compressed && !p.h.binary {
		return nil, errors.New("CompressedData: compressed text is not supported")
	}
	if p.h.compressed && p.h.skip != 0 {
		return nil, fmt.Errorf("HeaderSize: %d cannot be combined with CompressedData", p.h.skip)
	}
	_, err = p.h.Bytes()
	return p.h, err
}

// header reads all lines up to ElementDataFile, which is the last one.
func (p *parser) header() error {
	for p.elements == "" {
		text, err := p.next()
		if err != nil {
			if p.line == 1 {
				return errors.New("not a MetaImage: no line of text")
			}
			return fmt.Errorf("the header ends without ElementDataFile: %w", err)
		}
		if strings.TrimSpace(text) == "" {
			continue
		}
		i := strings.IndexAny(text, "=:")
		if i < 0 {
			if p.line == 1 {
				return errors.New("not a MetaImage: the first line is not a field")
			}
			return fmt.Errorf("%.60q is not a field: = is missing", text)
		}
		key, value := strings.TrimSpace(text[:i]), strings.TrimSpace(text[i+1:])
		if first, ok := p.seen[key]; ok {
			return fmt.Errorf("%.60s is on line %d already", key, first)
		}
		const kept = 128 // bytes of what is remembered of a line, besides its text
		if err := p.Memory(kept + int64(len(text))); err != nil {
			return err
		}
		p.seen[key] = p.line
		if err := p.field(key, value); err != nil {
			return fmt.Errorf("%.60s: %w", key, err)
		}
	}
	for _, key := range []string{"DimSize", "ElementType"} {
		if p.seen[key] == 0 {
			return fmt.Errorf("%s is missing", key)
		}
	}
	return nil
}

// next reads a line, without the line break. It returns io.EOF if there is none.
func (p *parser) next() (string, error) {
	p.line++
	var line []byte
	for {
		part, err := p.r.ReadSlice('\n')
		p.read += int64(len(part))
		line = append(line, part...)
		switch {
		case len(line) > maxLine:
			return "", fmt.Errorf("a line of more than %d bytes", maxLine)
		case p.read > maxHeader:
			return "", fmt.Errorf("the header has more than %d bytes", maxHeader)
		case err == bufio.ErrBufferFull:
			continue
		case err == io.EOF && len(line) > 0:
			err = nil
		}
		return strings.TrimRight(string(line), "\r\n"), err
	}
}

// types are the dtypes of elements, with the sizes that MetaIO uses on all systems.
var types = map[string]dataset.Dtype{
	"MET_CHAR": dataset.Int8, "MET_ASCII_CHAR": dataset.Int8, "MET_UCHAR": dataset.Uint8, "MET_SHORT": dataset.Int16, "MET_USHORT": dataset.Uint16,
	"MET_INT": dataset.Int32, "MET_UINT": dataset.Uint32, "MET_LONG": dataset.Int32, "MET_ULONG": dataset.Uint32,
	"MET_LONG_LONG": dataset.Int64, "MET_ULONG_LONG": dataset.Uint64, "MET_FLOAT": dataset.Float32, "MET_DOUBLE": dataset.Float64,
}

// field reads one field. If a field has several names, the oldest is last.
func (p *parser) field(key, value string) (err error) {
	h := p.h
	switch key {
	case "ObjectType":
		if !strings.HasPrefix(value, "Image") {
			return fmt.Errorf("%.60q is not Image", value)
		}
	case "NDims":
		n, err := strconv.Atoi(value)
		if err != nil || n < 1 || n > maxAxes {
			return fmt.Errorf("%.60q axes, want 1 to %d", value, maxAxes)
		}
		h.Sizes = make([]int, n)
	case "DimSize":
		err = p.dimSize(value)
	case "ElementNumberOfChannels":
		if h.Channels, err = strconv.Atoi(value); err != nil || h.Channels < 1 || h.Channels > 1<<20 {
			return fmt.Errorf("%.60q values, want at least 1", value)
		}
	case "ElementType":
		dtype, ok := types[value]
		if !ok {
			return fmt.Errorf("%.60q is not supported", value)
		}
		h.Dtype = dtype
	case "BinaryData":
		h.binary, err = truth(value)
	case "BinaryDataByteOrderMSB", "ElementByteOrderMSB":
		h.big, err = truth(value)
	case "CompressedData":
		h.compressed, err = truth(value)
	case "HeaderSize":
		if h.skip, err = strconv.ParseInt(value, 10, 62); err != nil || h.skip < -1 {
			return fmt.Errorf("%.60q is not a number of bytes", value)
		}
	case "ElementSpacing":
		h.Spacing, err = p.numbers(value, 1)
	case "ElementSize":
		p.size, err = p.numbers(value, 1)
		h.Fields = append(h.Fields, Field{key, value})
	case "Offset", "Position", "Origin":
		err = p.once(&h.Origin, value, 1, "Offset, Position and Origin")
	case "TransformMatrix", "Rotation", "Orientation":
		err = p.once(&p.matrix, value, len(h.Sizes), "TransformMatrix, Rotation and Orientation")
	case "DistanceUnits":
		switch value {
		case "mm", "cm", "um":
			h.Unit = value
		default:
			h.Fields = append(h.Fields, Field{key, value})
		}
	case "ElementDataFile":
		if p.elements = value; value == "" {
			return errors.New("it is empty")
		}
	case "CompressedDataSize": // compressed data mark their end themselves
	default:
		h.Fields = append(h.Fields, Field{key, value})
	}
	return err
}

func (p *parser) once(at *[]float64, value string, times int, names string) (err error) {
	if *at != nil {
		return fmt.Errorf("want only one of %s", names)
	}
	*at, err = p.numbers(value, times)
	return err
}

func truth(value string) (bool, error) {
	switch {
	case value != "" && strings.ContainsRune("Tt1", rune(value[0])):
		return true, nil
	case value != "" && strings.ContainsRune("Ff0", rune(value[0])):
		return false, nil
	}
	return false, fmt.Errorf("%.60q is neither True nor False", value)
}

func (p *parser) dimSize(value string) error {
	words := strings.Fields(value)
	if p.h.Sizes == nil {
		return errors.New("NDims must come first")
	}
	if len(words) != len(p.h.Sizes) {
		return fmt.Errorf("%d numbers for %d axes", len(words), len(p.h.Sizes))
	}
	for i, word := range words {
		n, err := strconv.Atoi(word)
		if err != nil || n < 1 {
			return fmt.Errorf("axis %d: %.60q samples, want 1 to %d", i, word, math.MaxInt)
		}
		p.h.Sizes[i] = n
	}
	return nil
}

// numbers reads a number of values per axis, given by times.
func (p *parser) numbers(value string, times int) ([]float64, error) {
	words := strings.Fields(value)
	if p.h.Sizes == nil {
		return nil, errors.New("NDims must come first")
	}
	if len(words) != times*len(p.h.Sizes) {
		return nil, fmt.Errorf("%d numbers, want %d", len(words), times*len(p.h.Sizes))
	}
	numbers := make([]float64, len(words))
	for i, word := range words {
		v, err := strconv.ParseFloat(word, 64)
		if err != nil || math.IsNaN(v) || math.IsInf(v, 0) {
			return nil, fmt.Errorf("%.60q is not a finite number", word)
		}
		numbers[i] = v
	}
	return numbers, nil
}
