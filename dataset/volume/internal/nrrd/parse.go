package nrrd

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"math"
	"path"
	"strconv"
	"strings"

	"github.com/penstock-go/penstock/internal/budget"
	"github.com/penstock-go/penstock/internal/bulk"
)

const (
	maxHeader = 16 << 20 // bytes of a header
	maxAxes   = 16       // Teem's NRRD_DIM_MAX
	maxWorld  = 8        // Teem's NRRD_SPACE_DIM_MAX
)

// A parser reads a header line by line.
type parser struct {
	budget.Budget
	r    *bufio.Reader
	read int64 // bytes of lines so far
	line int   // the current line, from 1
	h    *Header
	axes int            // the value of dimension, 0 before it is read
	seen map[string]int // by field or key: its line
}

// parse reads a header up to the data, of a file of size bytes.
func parse(r *bufio.Reader, size int64) (*Header, error) {
	p := &parser{Budget: budget.For(size), r: r, h: &Header{}, seen: map[string]int{}}
	attached, err := p.header()
	if err != nil {
		if p.line > 0 {
			err = fmt.Errorf("line %d: %w", p.line, err)
		}
		return nil, err
	}
	if p.axes > 0 && p.h.Sizes == nil {
		return nil, errors.New("sizes are missing")
	}
	if err := p.h.check(); err != nil {
		return nil, err
	}
	if !p.h.DataFiles.Attached() {
		return p.h, p.blank()
	}
	if !attached {
		return nil, errors.New("the header has neither a data file nor an empty line at its end")
	}
	p.h.data = p.read
	return p.h, nil
}

// header reads all lines, and reports whether an empty line ended the header.
func (p *parser) header() (empty bool, err error) {
	if magic, err := p.r.Peek(4); err != nil || string(magic) != "NRRD" {
		return false, errors.New("not a NRRD file: it does not begin with NRRD")
	}
	text, _, err := p.next()
	if err != nil {
		return false, err
	}
	if p.h.Version, err = version(text); err != nil {
		return false, err
	}
	for {
		text, last, err := p.next()
		if err != nil {
			return false, err
		}
		if strings.TrimSpace(text) == "" {
			return !last || text != "", nil
		}
		if err := p.statement(text); err != nil {
			return false, err
		}
		if p.h.DataFiles.listed {
			return p.list()
		}
	}
}

func version(magic string) (int, error) {
	switch v := strings.TrimPrefix(strings.TrimRight(magic, " \t"), "NRRD"); v {
	case "00.01":
		return 0, nil
	case "0001", "0002", "0003", "0004", "0005", "0006":
		return int(v[3] - '0'), nil
	default:
		return 0, fmt.Errorf("magic: version %.20q is not one of 0001 to 0006", v)
	}
}

// next reads a line, without the line break. last is true at the end of the file.
func (p *parser) next() (text string, last bool, err error) {
	p.line++
	var long []byte
	for {
		part, err := p.r.ReadSlice('\n')
		if p.read += int64(len(part)); p.read > maxHeader {
			return "", false, fmt.Errorf("the header has more than %d bytes", maxHeader)
		}
		if err := p.Memory(int64(len(part))); err != nil {
			return "", false, err
		}
		if err == bufio.ErrBufferFull {
			long = append(long, part...)
			continue
		}
		if err != nil && err != io.EOF {
			return "", false, err
		}
		if long != nil {
			part = append(long, part...)
		}
		text = strings.TrimSuffix(string(part), "\n")
		return strings.TrimSuffix(text, "\r"), err == io.EOF, nil
	}
}

// statement reads a comment, a field, or a key and its value. As in Teem, the text before a colon is a field if there is a
// field of that name. Otherwise it is a key if ":=" follows.
func (p *parser) statement(text string) error {
	if text[0] == '#' {
		p.h.Comments = append(p.h.Comments, strings.TrimSpace(strings.TrimLeft(text, "# ")))
		return nil
	}
	const kept = 128 // bytes of what is remembered of a field or key, besides its text
	if err := p.Memory(kept); err != nil {
		return err
	}
	name, value, colon := strings.Cut(text, ":")
	if f, ok := fieldOf(strings.TrimSpace(name)); colon && ok && !strings.HasPrefix(value, "=") {
		if err := p.once("field", f.name); err != nil {
			return err
		}
		if err := f.parse(p, strings.Trim(value, " \t")); err != nil {
			return fmt.Errorf("%s: %w", f.name, err)
		}
		return nil
	}
	key, value, ok := strings.Cut(text, ":=")
	if !ok && colon {
		return fmt.Errorf("there is no field %.60q", name)
	}
	if !ok {
		return fmt.Errorf("%.60q is neither a field nor a key and its value", text)
	}
	key = unescape(key)
	if err := p.once("key", key); err != nil {
		return err
	}
	p.h.KeyValues = append(p.h.KeyValues, KeyValue{key, unescape(value)})
	return nil
}

// once remembers the line of a field or key. A second one is an error.
func (p *parser) once(what, name string) error {
	if line := p.seen[what+name]; line != 0 {
		return fmt.Errorf("%s %q is on line %d already", what, name, line)
	}
	p.seen[what+name] = p.line
	return nil
}

// unescape replaces the two escapes of keys and values. Any other backslash stays.
func unescape(s string) string { return escapes.Replace(s) }

var escapes = strings.NewReplacer(`\\`, `\`, `\n`, "\n")

// list reads the names of data files, up to the end of the header.
func (p *parser) list() (empty bool, err error) {
	d := &p.h.DataFiles
	most := p.h.pieces()
	seen := map[string]bool{}
	for {
		text, last, err := p.next()
		if err != nil {
			return false, err
		}
		if text = strings.TrimRight(text, " \t"); text == "" {
			return !last, nil
		}
		if d.skipped {
			skip, name, ok := strings.Cut(text, " ")
			n, err := parseInt(skip)
			if err != nil || !ok {
				return false, fmt.Errorf("data file: SKIPLIST: %.60q, want a number of bytes and a name", text)
			}
			if n < -1 {
				return false, fmt.Errorf("data file: skip of %d bytes", n)
			}
			d.Skips = append(d.Skips, n)
			text = name
		}
		const kept = 64 // bytes of what is remembered of a name, besides its text
		if err := p.Memory(kept); err != nil {
			return false, err
		}
		if name := path.Clean(text); seen[name] {
			return false, fmt.Errorf("data file: %q is in the list already", text)
		} else {
			seen[name] = true
		}
		if d.Names = append(d.Names, text); int64(len(d.Names)) > most {
			return false, fmt.Errorf("data file: more files than the %d that sizes require", most)
		}
	}
}

// blank checks that only white space follows a detached header.
func (p *parser) blank() error {
	for ; p.read <= maxHeader; p.read++ {
		c, err := p.r.ReadByte()
		switch {
		case err == io.EOF:
			return nil
		case err != nil:
			return err
		case !strings.ContainsRune(" \t\r\n", rune(c)):
			return fmt.Errorf("byte %d: bytes follow the header, but the data are in another file", p.read)
		}
	}
	return fmt.Errorf("the header has more than %d bytes", maxHeader)
}

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

// hexadecimal converts pairs of digits to bytes. White space may be anywhere.
type hexadecimal struct{ src *bulk.Source }

func (t *hexadecimal) Read(p []byte) (int, error) {
	for n := range p {
		high, err := t.digit()
		if err != nil {
			return n, err
		}
		low, err := t.digit()
		if err != nil {
			return n, bulk.Unexpected(err)
		}
		p[n] = high<<4 | low
	}
	return len(p), nil
}

func (t *hexadecimal) digit() (byte, error) {
	for {
		c, err := t.src.ReadByte()
		if err != nil {
			return 0, err
		}
		switch {
		case c >= '0' && c <= '9':
			return c - '0', nil
		case c|0x20 >= 'a' && c|0x20 <= 'f':
			return (c | 0x20) - 'a' + 10, nil
		case c == ' ' || c >= '\t' && c <= '\r':
			continue
		}
		return 0, fmt.Errorf("%q is not a hexadecimal digit", c)
	}
}

// zeroRuns expands Teem's ZRL. A byte of 0 and a count mean that many zeros. A count of 256 or more is a byte of 0 and two
// bytes, the lower one first.
type zeroRuns struct {
	src  *bulk.Source
	left int // zeros to come
}

func (t *zeroRuns) Read(p []byte) (int, error) {
	for n := 0; n < len(p); {
		if t.left > 0 {
			k := min(t.left, len(p)-n)
			clear(p[n : n+k])
			n, t.left = n+k, t.left-k
			continue
		}
		c, err := t.src.ReadByte()
		if err != nil {
			return n, err
		}
		if c != 0 {
			p[n] = c
			n++
			continue
		}
		if t.left, err = t.count(); err != nil {
			return n, bulk.Unexpected(err)
		}
	}
	return len(p), nil
}

func (t *zeroRuns) count() (int, error) {
	var c [3]byte
	for i := range c {
		var err error
		if c[i], err = t.src.ReadByte(); err != nil {
			return 0, err
		}
		if c[0] != 0 {
			return int(c[0]), nil
		}
	}
	return int(c[1]) | int(c[2])<<8, nil
}
