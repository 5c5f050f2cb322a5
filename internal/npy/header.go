// Package npy reads and makes the header of a file of numpy.save, for dataset/npy and dataset/shards. See
// https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html.
package npy

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/internal/bulk"
	"github.com/penstock-go/penstock/internal/encoding"
	"github.com/penstock-go/penstock/internal/files"
)

const (
	magic = "\x93NUMPY"
	// MaxHeader limits the bytes of a header. NumPy writes 118 for all but structured
	// types.
	MaxHeader = 64 << 10
	maxRank   = 64 // NumPy's own limit
)

// A Header is what precedes the data in a file.
type Header struct {
	Encoding encoding.Encoding
	Fortran  bool // the first index is the fastest
	Shape    []int
}

// ReadHeader reads a header of version 1.0, 2.0 or 3.0.
func ReadHeader(in *files.Input) (Header, error) {
	var fixed [12]byte
	if err := in.Fill(fixed[:8]); err != nil {
		return Header{}, err
	}
	if string(fixed[:6]) != magic {
		return Header{}, fmt.Errorf("byte 0: magic string %q, want %q", fixed[:6], magic)
	}
	major, minor, size := fixed[6], fixed[7], uint32(0)
	switch {
	case major == 1 && minor == 0:
		if err := in.Fill(fixed[8:10]); err != nil {
			return Header{}, err
		}
		size = uint32(binary.LittleEndian.Uint16(fixed[8:]))
	case (major == 2 || major == 3) && minor == 0:
		if err := in.Fill(fixed[8:12]); err != nil {
			return Header{}, err
		}
		size = binary.LittleEndian.Uint32(fixed[8:])
	default:
		return Header{}, fmt.Errorf("byte 6: version %d.%d, want 1.0, 2.0 or 3.0", major, minor)
	}
	if size > MaxHeader {
		return Header{}, fmt.Errorf("byte 8: header of %d bytes, want at most %d", size, MaxHeader)
	}
	text := make([]byte, size)
	begin := in.Offset()
	if err := in.Fill(text); err != nil {
		return Header{}, err
	}
	if major == 3 && !utf8.Valid(text) {
		return Header{}, fmt.Errorf("byte %d: header is not UTF-8", begin)
	}
	p := parser{text: string(text), long: major < 3}
	h, err := p.header()
	if err != nil {
		return Header{}, fmt.Errorf("byte %d: header: %w", begin+int64(p.at), err)
	}
	return h, nil
}

// parser reads the header's text, which is a Python dictionary. After an error, at
// is the place of the error.
type parser struct {
	text string
	at   int
	long bool // whole numbers may end in an L, as Python 2 wrote them
}

func (p *parser) header() (Header, error) {
	var h Header
	if err := p.expect('{'); err != nil {
		return h, err
	}
	seen := map[string]bool{}
	for !p.accept('}') {
		begin := p.at
		key, err := p.quoted()
		if err != nil {
			return h, err
		}
		if seen[key] {
			p.at = begin
			return h, fmt.Errorf("key %q twice", key)
		}
		seen[key] = true
		if err := p.expect(':'); err != nil {
			return h, err
		}
		switch key {
		case "descr":
			h.Encoding, err = p.descr()
		case "fortran_order":
			h.Fortran, err = p.boolean()
		case "shape":
			h.Shape, err = p.tuple()
		default:
			p.at = begin
			err = fmt.Errorf("key %q, want descr, fortran_order and shape", key)
		}
		if err != nil {
			return h, err
		}
		if !p.accept(',') {
			if err := p.expect('}'); err != nil {
				return h, err
			}
			break
		}
	}
	for _, key := range []string{"descr", "fortran_order", "shape"} {
		if !seen[key] {
			return h, fmt.Errorf("no key %q", key)
		}
	}
	p.space()
	if p.at < len(p.text) {
		return h, errors.New("text after the dictionary")
	}
	return h, checkSize(h)
}

// checkSize refuses shapes whose size in bytes overflows an int.
func checkSize(h Header) error {
	bytes := h.Encoding.Size
	for _, d := range h.Shape {
		if d > math.MaxInt/bytes {
			return fmt.Errorf("shape %v is larger than any file", h.Shape)
		}
		bytes *= max(d, 1)
	}
	return nil
}

func (p *parser) space() {
	p.at = len(p.text) - len(strings.TrimLeft(p.text[p.at:], " \t\r\n\f"))
}

func (p *parser) accept(c byte) bool {
	p.space()
	if p.at < len(p.text) && p.text[p.at] == c {
		p.at++
		return true
	}
	return false
}

func (p *parser) expect(c byte) error {
	if !p.accept(c) {
		return fmt.Errorf("want %q, not %s", c, p.next())
	}
	return nil
}

// next is what comes next, for errors.
func (p *parser) next() string {
	if p.at == len(p.text) {
		return "the header's end"
	}
	return strconv.Quote(p.text[p.at:min(len(p.text), p.at+16)])
}

// quoted reads a string without escapes, which these headers do not need.
func (p *parser) quoted() (string, error) {
	p.space()
	for _, quote := range []byte{'\'', '"'} {
		if !p.accept(quote) {
			continue
		}
		n := strings.IndexAny(p.text[p.at:], string(quote)+"\\\n")
		if n < 0 || p.text[p.at+n] != quote {
			return "", errors.New("a string without a closing quote, or with an escape")
		}
		s := p.text[p.at : p.at+n]
		p.at += n + 1
		return s, nil
	}
	return "", fmt.Errorf("want a string, not %s", p.next())
}

func (p *parser) boolean() (bool, error) {
	p.space()
	for word, value := range map[string]bool{"True": true, "False": false} {
		if strings.HasPrefix(p.text[p.at:], word) {
			p.at += len(word)
			return value, nil
		}
	}
	return false, fmt.Errorf("want True or False, not %s", p.next())
}

// tuple reads a tuple of integers, 0 or more.
func (p *parser) tuple() ([]int, error) {
	if err := p.expect('('); err != nil {
		return nil, err
	}
	shape := []int{}
	for !p.accept(')') {
		n, err := p.number()
		if err != nil {
			return nil, err
		}
		if len(shape) == maxRank {
			return nil, fmt.Errorf("more than %d dimensions", maxRank)
		}
		shape = append(shape, n)
		if p.accept(',') {
			continue
		}
		if len(shape) == 1 {
			return nil, fmt.Errorf("want a comma after the only number of a tuple, not %s", p.next())
		}
		if err := p.expect(')'); err != nil {
			return nil, err
		}
		break
	}
	return shape, nil
}

func (p *parser) number() (int, error) {
	p.space()
	rest := p.text[p.at:]
	digits := len(rest) - len(strings.TrimLeft(rest, "0123456789"))
	if digits == 0 || digits > 1 && rest[0] == '0' {
		return 0, fmt.Errorf("want an integer of 0 or more, not %s", p.next())
	}
	n, err := strconv.ParseInt(rest[:digits], 10, 0)
	if err != nil {
		return 0, fmt.Errorf("number %s... of %d digits is too large", rest[:min(digits, 20)], digits)
	}
	p.at += digits
	if p.long && p.at < len(p.text) && p.text[p.at] == 'L' {
		p.at++
	}
	return int(n), nil
}

// descr reads the dtype: a character for the byte order, a letter for the type of
// number, and the size of a value in bytes.
func (p *parser) descr() (encoding.Encoding, error) {
	p.space()
	begin := p.at
	if strings.HasPrefix(p.text[p.at:], "[") || strings.HasPrefix(p.text[p.at:], "(") {
		return encoding.Encoding{}, errors.New("a structured type: want an array of plain numbers; save its columns one by one")
	}
	descr, err := p.quoted()
	if err != nil {
		return encoding.Encoding{}, err
	}
	k, err := encodingOf(descr)
	if err != nil {
		p.at = begin
	}
	return k, err
}

func encodingOf(descr string) (encoding.Encoding, error) {
	code, big, ordered := descr, !bulk.LittleEndian(), true
	if code != "" {
		switch code[0] {
		case '<':
			code, big = code[1:], false
		case '>':
			code, big = code[1:], true
		case '=':
			code = code[1:]
		case '|':
			code, ordered = code[1:], false
		}
	}
	if code == "f2" && ordered {
		return encoding.Float16(big), nil
	}
	if dt, ok := dtypes[code]; ok && (ordered || dt.Size() == 1) {
		return encoding.Of(dt, big), nil
	}
	switch {
	case strings.HasPrefix(code, "O"):
		return encoding.Encoding{}, fmt.Errorf("type %q: Python objects, which are pickled: want numbers or bool", descr)
	case strings.HasPrefix(code, "S") || strings.HasPrefix(code, "U") || strings.HasPrefix(code, "a"):
		return encoding.Encoding{}, fmt.Errorf("type %q: text: want numbers or bool", descr)
	case strings.HasPrefix(code, "M") || strings.HasPrefix(code, "m"):
		return encoding.Encoding{}, fmt.Errorf("type %q: times: want numbers or bool; save them as int64", descr)
	}
	return encoding.Encoding{}, fmt.Errorf("type %q: want bool, an integer of 1 to 8 bytes, a float of 2, 4 or 8, or a complex number of 8 or 16", descr)
}

var dtypes = map[string]dataset.Dtype{
	"b1": dataset.Bool,
	"i1": dataset.Int8, "i2": dataset.Int16, "i4": dataset.Int32, "i8": dataset.Int64,
	"u1": dataset.Uint8, "u2": dataset.Uint16, "u4": dataset.Uint32, "u8": dataset.Uint64,
	"f4": dataset.Float32, "f8": dataset.Float64,
	"c8": dataset.Complex64, "c16": dataset.Complex128,
}
