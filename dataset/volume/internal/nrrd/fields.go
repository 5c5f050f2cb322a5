package nrrd

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
)

// A field is a field's name and the function that reads its value.
type field struct {
	name  string
	parse func(p *parser, value string) error
}

// fieldOf finds a field by its name or a synonym. As in Teem, upper and lower case are the same.
func fieldOf(name string) (field, bool) {
	name = strings.ToLower(name)
	switch name {
	case "centerings":
		name = "centers"
	case "blocksize", "spacedimension", "axismins", "axismaxs", "spacedirections", "oldmin", "oldmax", "lineskip",
		"byteskip", "sampleunits", "spaceunits", "spaceorigin", "measurementframe", "datafile":
		for _, word := range []string{"block", "space", "axis", "old", "line", "byte", "sample", "measurement", "data"} {
			if rest, ok := strings.CutPrefix(name, word); ok {
				name = word + " " + rest
			}
		}
	}
	parse := parserOf(name)
	return field{name, parse}, parse != nil
}

func parserOf(name string) func(*parser, string) error {
	switch name {
	case "dimension":
		return (*parser).dimension
	case "type":
		return named("type", func(h *Header) *Type { return &h.Type }, typeOf)
	case "encoding":
		return named("encoding", func(h *Header) *Encoding { return &h.Encoding }, encodingOf)
	case "endian":
		return named("byte order", func(h *Header) *Endian { return &h.Endian }, func(s string) (Endian, bool) {
			e := Endian(strings.ToLower(s))
			return e, e == Little || e == Big
		})
	case "block size":
		return integer(1, func(h *Header, n int64) { h.BlockSize = int(n) })
	case "line skip":
		return integer(0, func(h *Header, n int64) { h.LineSkip = n })
	case "byte skip":
		return integer(-1, func(h *Header, n int64) { h.ByteSkip = n })
	case "number":
		return integer(1, func(h *Header, n int64) { h.Number = n })
	case "min":
		return number(func(h *Header) **float64 { return &h.Min })
	case "max":
		return number(func(h *Header) **float64 { return &h.Max })
	case "old min":
		return number(func(h *Header) **float64 { return &h.OldMin })
	case "old max":
		return number(func(h *Header) **float64 { return &h.OldMax })
	case "content":
		return text(func(h *Header) *string { return &h.Content })
	case "sample units":
		return text(func(h *Header) *string { return &h.SampleUnits })
	case "sizes":
		return (*parser).sizes
	case "spacings":
		return perAxis(func(h *Header) *[]float64 { return &h.Spacings }, spacing)
	case "thicknesses":
		return perAxis(func(h *Header) *[]float64 { return &h.Thicknesses }, finite)
	case "axis mins":
		return perAxis(func(h *Header) *[]float64 { return &h.AxisMins }, finite)
	case "axis maxs":
		return perAxis(func(h *Header) *[]float64 { return &h.AxisMaxs }, finite)
	case "centers":
		return perAxis(func(h *Header) *[]string { return &h.Centers }, center)
	case "kinds":
		return perAxis(func(h *Header) *[]string { return &h.Kinds }, kind)
	case "labels":
		return quoted(func(h *Header) *[]string { return &h.Labels }, (*parser).needAxes)
	case "units":
		return quoted(func(h *Header) *[]string { return &h.Units }, (*parser).needAxes)
	case "space units":
		return quoted(func(h *Header) *[]string { return &h.SpaceUnits }, (*parser).needWorld)
	case "space":
		return (*parser).space
	case "space dimension":
		return (*parser).spaceDimension
	case "space origin":
		return (*parser).spaceOrigin
	case "space directions":
		return vectors(func(h *Header) *[][]float64 { return &h.SpaceDirections }, (*parser).needAxes)
	case "measurement frame":
		return vectors(func(h *Header) *[][]float64 { return &h.MeasurementFrame }, (*parser).needWorld)
	case "data file":
		return (*parser).dataFile
	}
	return nil
}

// needAxes is the number of axes. The field dimension must precede all fields per axis.
func (p *parser) needAxes() (int, error) {
	if p.axes == 0 {
		return 0, errors.New("dimension must come first")
	}
	return p.axes, nil
}

// needWorld is the world's dimension. A field with it must precede all vectors.
func (p *parser) needWorld() (int, error) {
	if p.h.SpaceDimension == 0 {
		return 0, errors.New("space or space dimension must come first")
	}
	return p.h.SpaceDimension, nil
}

func (p *parser) dimension(value string) error {
	n, err := parseInt(value)
	if err != nil {
		return err
	}
	if n < 1 || n > maxAxes {
		return fmt.Errorf("%d axes, want 1 to %d", n, maxAxes)
	}
	p.axes = int(n)
	return nil
}

func (p *parser) sizes(value string) error {
	return perAxis(func(h *Header) *[]int { return &h.Sizes }, func(s string) (int, error) {
		n, err := parseInt(s)
		if err == nil && (n < 1 || n > math.MaxInt) {
			err = fmt.Errorf("%d samples, want 1 to %d", n, math.MaxInt)
		}
		return int(n), err
	})(p, value)
}

func (p *parser) space(value string) error {
	if line := p.seen["fieldspace dimension"]; line != 0 {
		return fmt.Errorf("space dimension is on line %d already", line)
	}
	var ok bool
	if p.h.Space, p.h.SpaceDimension, ok = spaceOf(value); !ok {
		return fmt.Errorf("there is no space %.60q", value)
	}
	return nil
}

func (p *parser) spaceDimension(value string) error {
	if line := p.seen["fieldspace"]; line != 0 {
		return fmt.Errorf("space is on line %d already", line)
	}
	n, err := parseInt(value)
	if err == nil && (n < 1 || n > maxWorld) {
		err = fmt.Errorf("%d axes, want 1 to %d", n, maxWorld)
	}
	p.h.SpaceDimension = int(n)
	return err
}

func (p *parser) spaceOrigin(value string) error {
	n, err := p.needWorld()
	if err != nil {
		return err
	}
	v, rest, err := vector(value, n)
	if err == nil && rest != "" {
		err = fmt.Errorf("%.60q follows the vector", rest)
	}
	p.h.SpaceOrigin = v
	return err
}

// named reads a value that is one of several names.
func named[T any](what string, at func(*Header) *T, of func(string) (T, bool)) func(*parser, string) error {
	return func(p *parser, value string) error {
		v, ok := of(value)
		if !ok {
			return fmt.Errorf("there is no %s %.60q", what, value)
		}
		*at(p.h) = v
		return nil
	}
}

func integer(least int64, set func(*Header, int64)) func(*parser, string) error {
	return func(p *parser, value string) error {
		n, err := parseInt(value)
		if err != nil {
			return err
		}
		if n < least || n > math.MaxInt {
			return fmt.Errorf("%d, want %d to %d", n, least, math.MaxInt)
		}
		set(p.h, n)
		return nil
	}
}

func number(at func(*Header) **float64) func(*parser, string) error {
	return func(p *parser, value string) error {
		v, err := parseFloat(value)
		*at(p.h) = &v
		return err
	}
}

func text(at func(*Header) *string) func(*parser, string) error {
	return func(p *parser, value string) error {
		*at(p.h) = value
		return nil
	}
}

// perAxis reads one word for every axis.
func perAxis[T any](at func(*Header) *[]T, of func(string) (T, error)) func(*parser, string) error {
	return func(p *parser, value string) error {
		n, err := p.needAxes()
		if err != nil {
			return err
		}
		words := strings.Fields(value)
		if len(words) != n {
			return fmt.Errorf("%d values for %d axes", len(words), n)
		}
		values := make([]T, n)
		for i, word := range words {
			if values[i], err = of(word); err != nil {
				return fmt.Errorf("axis %d: %w", i, err)
			}
		}
		*at(p.h) = values
		return nil
	}
}

func parseInt(s string) (int64, error) {
	n, err := strconv.ParseInt(s, 10, 64)
	if errors.Is(err, strconv.ErrRange) {
		return 0, fmt.Errorf("%.60q is out of range", s)
	}
	if err != nil {
		return 0, fmt.Errorf("%.60q is not an integer", s)
	}
	return n, nil
}

func parseFloat(s string) (float64, error) {
	v, err := strconv.ParseFloat(s, 64)
	if errors.Is(err, strconv.ErrRange) {
		return 0, fmt.Errorf("%.60q is out of range", s)
	}
	if err != nil {
		return 0, fmt.Errorf("%.60q is not a number", s)
	}
	return v, nil
}

func finite(s string) (float64, error) {
	if s == "???" {
		return math.NaN(), nil
	}
	v, err := parseFloat(s)
	if err == nil && math.IsInf(v, 0) {
		err = errors.New("it is infinite")
	}
	return v, err
}

func spacing(s string) (float64, error) {
	v, err := finite(s)
	if err == nil && v == 0 {
		err = errors.New("it is 0")
	}
	return v, err
}

func center(s string) (string, error) {
	switch t := strings.ToLower(s); t {
	case "???", "none":
		return "", nil
	case "cell", "node":
		return t, nil
	}
	return "", fmt.Errorf("%.60q is neither cell nor node", s)
}

func kind(s string) (string, error) {
	if s == "???" || s == "none" {
		return "", nil
	}
	k, ok := kindOf(s)
	if !ok {
		return "", fmt.Errorf("there is no kind %.60q", s)
	}
	return k, nil
}
