package nrrd

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/klauspost/compress/gzip"

	"github.com/penstock-go/penstock/internal/bulk"
)

// Write writes an image with an attached header. The data must be in the machine's byte order, and Sizes and Type must
// describe them. Encoding must be raw or gzip. If it is empty, it is raw. Version, Number, Endian, DataFiles and both skips
// of h are ignored. The version of the file is the oldest that has all its fields.
func Write(w io.Writer, h *Header, data []byte) error {
	encoding := h.Encoding
	if encoding == "" {
		encoding = Raw
	}
	if encoding != Raw && encoding != Gzip {
		return fmt.Errorf("encoding: %s is not raw or gzip", encoding)
	}
	text, err := h.format(encoding)
	if err != nil {
		return err
	}
	// The parser checks that the header can be read again.
	back, err := parse(bufio.NewReader(bytes.NewReader(text)), int64(len(text)))
	if err != nil {
		return err
	}
	if n, err := back.Bytes(); err != nil {
		return err
	} else if n != int64(len(data)) {
		return fmt.Errorf("sizes: %v elements of type %s have %d bytes, but the data have %d", h.Sizes, h.Type, n, len(data))
	}
	if _, err := w.Write(text); err != nil {
		return err
	}
	if encoding == Raw {
		_, err = w.Write(data)
		return err
	}
	z := gzip.NewWriter(w)
	if _, err := z.Write(data); err != nil {
		return err
	}
	return z.Close()
}

// A printer writes lines and remembers the first error.
type printer struct {
	bytes.Buffer
	err error
}

func (p *printer) line(name, separator, value string) {
	if p.err == nil && strings.ContainsAny(name+value, "\r\n") {
		p.err = fmt.Errorf("%s: it has a line break", name)
	}
	p.WriteString(name + separator + value + "\n")
}

func (p *printer) field(name, value string) {
	if value != "" {
		p.line(name, ": ", value)
	}
}

// format is the header as text.
func (h *Header) format(encoding Encoding) ([]byte, error) {
	var p printer
	fmt.Fprintf(&p, "NRRD%04d\n", h.oldest())
	for _, c := range h.Comments {
		p.line("#", " ", c)
	}
	p.field("content", h.Content)
	p.field("type", string(h.Type))
	if h.Type == Block {
		p.field("block size", strconv.Itoa(h.BlockSize))
	}
	p.field("dimension", strconv.Itoa(len(h.Sizes)))
	if h.Space != "" {
		p.field("space", h.Space)
	} else if h.SpaceDimension != 0 {
		p.field("space dimension", strconv.Itoa(h.SpaceDimension))
	}
	p.field("sizes", list(h.Sizes, strconv.Itoa))
	p.field("spacings", list(h.Spacings, float))
	p.field("thicknesses", list(h.Thicknesses, float))
	p.field("axis mins", list(h.AxisMins, float))
	p.field("axis maxs", list(h.AxisMaxs, float))
	p.field("space directions", list(h.SpaceDirections, vectorText))
	p.field("centers", list(h.Centers, word))
	p.field("kinds", list(h.Kinds, word))
	p.field("labels", list(h.Labels, quote))
	p.field("units", list(h.Units, quote))
	for _, f := range []struct {
		name  string
		value *float64
	}{{"min", h.Min}, {"max", h.Max}, {"old min", h.OldMin}, {"old max", h.OldMax}} {
		if f.value != nil {
			p.field(f.name, float(*f.value))
		}
	}
	if h.Type.size() > 1 {
		p.field("endian", string(native()))
	}
	p.field("encoding", string(encoding))
	p.field("sample units", h.SampleUnits)
	p.field("space units", list(h.SpaceUnits, quote))
	if h.SpaceOrigin != nil {
		p.field("space origin", vectorText(h.SpaceOrigin))
	}
	p.field("measurement frame", list(h.MeasurementFrame, vectorText))
	for _, kv := range h.KeyValues {
		if err := writable(kv.Key); err != nil {
			return nil, err
		}
		p.line(escape(kv.Key), ":=", escape(kv.Value))
	}
	p.WriteString("\n")
	return p.Bytes(), p.err
}

// oldest is the first version that has all of the header's fields.
func (h *Header) oldest() int {
	switch {
	case strings.HasPrefix(h.Space, "right-up") || strings.HasPrefix(h.Space, "right-down"):
		return 6
	case h.MeasurementFrame != nil:
		return 5
	case h.Thicknesses != nil || h.Space != "" || h.SpaceDimension != 0 || h.SampleUnits != "":
		return 4
	case h.Kinds != nil:
		return 3
	case h.KeyValues != nil:
		return 2
	}
	return 1
}

// writable checks that a key will be read as a key.
func writable(key string) error {
	name, _, _ := strings.Cut(key+":", ":")
	if _, ok := fieldOf(strings.TrimSpace(name)); ok && name != key {
		return fmt.Errorf("key %.60q begins like the field %s", key, name)
	}
	if strings.HasPrefix(key, "#") || strings.Contains(key, ":=") || strings.TrimSpace(key) == "" || strings.HasSuffix(key, ":") {
		return fmt.Errorf("key %.60q: the format cannot distinguish it from other lines", key)
	}
	return nil
}

func native() Endian {
	if bulk.LittleEndian() {
		return Little
	}
	return Big
}

// list is the text of every value, with spaces between them.
func list[T any](values []T, text func(T) string) string {
	words := make([]string, len(values))
	for i, v := range values {
		words[i] = text(v)
	}
	return strings.Join(words, " ")
}

func float(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }

func word(s string) string {
	if s == "" {
		return "???"
	}
	return s
}

func quote(s string) string { return `"` + strings.ReplaceAll(s, `"`, `\"`) + `"` }

func escape(s string) string {
	return strings.NewReplacer(`\`, `\\`, "\n", `\n`).Replace(s)
}

func vectorText(v []float64) string {
	if v == nil {
		return "none"
	}
	return "(" + strings.Join(strings.Fields(list(v, float)), ",") + ")"
}
