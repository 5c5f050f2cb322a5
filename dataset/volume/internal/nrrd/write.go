package nrrd

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/klauspost/compress/gzip"

	"github.com/penstock-go/penstock/dataset/volume/internal/array"
	"github.com/penstock-go/penstock/internal/bulk"
)

// Write writes an array with an attached header, as h describes it; values are in the machine's byte order. What [ReadHeader]
// would not give back, directions up to rounding, is an error, and nothing is written.
func Write(w io.Writer, h *array.Header, values []byte, compress bool) error {
	text := format(h, compress)
	back, err := parse(bufio.NewReader(bytes.NewReader(text)), int64(len(text)), "")
	if err == nil {
		err = same(h, back)
	}
	if err != nil {
		return err
	}
	if n, err := h.Bytes(); err != nil || n != int64(len(values)) {
		return fmt.Errorf("%d bytes of data, want %d", len(values), n)
	}
	if _, err := w.Write(text); err != nil {
		return err
	}
	if !compress {
		_, err := w.Write(values)
		return err
	}
	z := gzip.NewWriter(w)
	if _, err := z.Write(values); err != nil {
		return err
	}
	return z.Close()
}

// format is the header as text.
func format(h *array.Header, compress bool) []byte {
	var b bytes.Buffer
	b.WriteString("NRRD0004\n")
	field := func(name string, words ...string) {
		fmt.Fprintf(&b, "%s: %s\n", name, strings.Join(words, " "))
	}
	kinds, spacings, directions, directed := []string{}, []string{}, []string{}, false
	world := len(h.Origin)
	for _, a := range h.Axes {
		kind, spacing, direction := "???", math.NaN(), "none"
		if a.Kind != "" {
			kind = a.Kind
		}
		if a.Direction != nil {
			directed, world = true, len(a.Direction)
			step := make([]float64, world)
			for d, x := range a.Direction {
				step[d] = x * a.Spacing
			}
			direction = vector(step)
		} else if a.Spacing != 0 {
			spacing = a.Spacing
		}
		kinds, spacings, directions = append(kinds, kind), append(spacings, number(spacing)), append(directions, direction)
	}
	sizes := make([]string, len(h.Sizes))
	for k, n := range h.Sizes {
		sizes[k] = strconv.Itoa(n)
	}
	name := h.Dtype.String()
	switch name {
	case "float32":
		name = "float"
	case "float64":
		name = "double"
	}
	field("type", name)
	field("dimension", strconv.Itoa(len(sizes)))
	switch {
	case h.World != "" && world == 4: // the fourth is time
		field("space", h.World+"T")
	case h.World != "":
		field("space", h.World)
	case world > 0:
		field("space dimension", strconv.Itoa(world))
	}
	field("sizes", sizes...)
	field("spacings", spacings...)
	field("kinds", kinds...)
	if directed {
		field("space directions", directions...)
	}
	if h.Origin != nil {
		field("space origin", vector(h.Origin))
	}
	field("endian", map[bool]string{true: "little", false: "big"}[bulk.LittleEndian()])
	field("encoding", map[bool]string{true: "gzip", false: "raw"}[compress])
	escape := strings.NewReplacer(`\`, `\\`, "\n", `\n`)
	for _, key := range slices.Sorted(maps.Keys(h.Attributes)) {
		fmt.Fprintf(&b, "%s:=%s\n", escape.Replace(key), escape.Replace(h.Attributes[key]))
	}
	b.WriteString("\n")
	return b.Bytes()
}

func number(x float64) string { return strconv.FormatFloat(x, 'g', -1, 64) }

func vector(v []float64) string {
	words := make([]string, len(v))
	for d, x := range v {
		words[d] = number(x)
	}
	return "(" + strings.Join(words, ",") + ")"
}

// same finds what a header that was read lacks.
func same(given, read *array.Header) error {
	const precision = 1e-6 // of directions that were stored as float32
	near := func(a, b float64) bool { return math.Abs(a-b) <= precision*math.Abs(b) }
	switch {
	case given.Dtype != read.Dtype:
		return fmt.Errorf("values of %v, which NRRD does not have", given.Dtype)
	case !slices.Equal(given.Sizes, read.Sizes):
		return fmt.Errorf("sizes %v", given.Sizes)
	case given.World != read.World:
		return fmt.Errorf("world %.60q", given.World)
	case (given.Origin == nil) != (read.Origin == nil) || !slices.Equal(given.Origin, read.Origin):
		return fmt.Errorf("origin %v", given.Origin)
	case len(given.Attributes)+len(read.Attributes) > 0 && !maps.Equal(given.Attributes, read.Attributes):
		return errors.New("a key of Attributes that is read as another line")
	}
	for k, a := range given.Axes {
		b := read.Axes[k]
		what := ""
		switch {
		case a.Kind != b.Kind:
			what = "kind"
		case !near(a.Spacing, b.Spacing):
			what = "spacing"
		case (a.Direction == nil) != (b.Direction == nil) || len(a.Direction) != len(b.Direction):
			what = "direction"
		}
		for d, x := range a.Direction {
			if what == "" && !(math.Abs(x-b.Direction[d]) <= precision) {
				what = "direction"
			}
		}
		if what != "" {
			return fmt.Errorf("axis %d: no such %s in NRRD: kind %.60q, spacing %v, direction %v", -1-k, what, a.Kind, a.Spacing, a.Direction)
		}
	}
	return nil
}
