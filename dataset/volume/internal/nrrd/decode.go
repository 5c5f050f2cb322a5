package nrrd

import (
	"bufio"
	"compress/bzip2"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/penstock-go/penstock/internal/budget"
	"github.com/penstock-go/penstock/internal/bulk"
	"github.com/penstock-go/penstock/internal/files"
)

// prefix is how many bytes may come before compressed data with byte skip -1. If the data are larger, it is their size.
const prefix = 1 << 20

// load reads all data.
func (h *Header) load(fsys fs.FS, total int64) ([]byte, error) {
	n := h.files()
	stored := bulk.Stored(fsys, n, h.file)
	d := &decoder{Header: h}
	d.Want(total, h.likely(total, stored), stored)
	defer d.Close()
	for i := range n {
		name, err := h.file(i)
		if err != nil {
			return nil, err
		}
		if err := d.file(fsys, name, h.skip(i), total/n); err != nil {
			if h.DataFiles.Attached() {
				return nil, fmt.Errorf("data: %w", err)
			}
			return nil, fmt.Errorf("data file %s: %w", name, err)
		}
	}
	data := d.Filler.Bytes()
	if h.swapped() {
		bulk.Swap(data, h.Type.size())
	}
	return data, nil
}

// A decoder reads one data file after the other.
type decoder struct {
	*Header
	bulk.Filler
}

// file reads the size bytes of one data file.
func (d *decoder) file(fsys fs.FS, name string, skip, size int64) error {
	if err := d.Open(fsys, name); err != nil {
		return files.Cause(err)
	}
	src := d.Source
	if d.DataFiles.Attached() {
		if err := src.Skip(d.data); err != nil {
			return fmt.Errorf("byte %d: the header: %w", src.Offset(), err)
		}
	}
	for i := range d.LineSkip {
		if err := skipLine(src); err != nil {
			return fmt.Errorf("byte %d: line skip: line %d of %d: %w", src.Offset(), i+1, d.LineSkip, err)
		}
	}
	switch d.Encoding {
	case Gzip:
		z, err := bulk.NewGzip(src.Reader)
		if err != nil {
			return fmt.Errorf("byte %d: gzip: %w", src.Offset(), bulk.Unexpected(err))
		}
		return d.inflate(z, skip, size)
	case Bzip2:
		return d.inflate(bzip2.NewReader(src.Reader), skip, size)
	}
	if skip == -1 {
		if skip = src.Size() - src.Offset() - size; skip < 0 {
			return fmt.Errorf("byte skip -1: the data have %d bytes, but only %d are left", size, src.Size()-src.Offset())
		}
	}
	if err := src.Skip(skip); err != nil {
		return fmt.Errorf("byte %d: byte skip %d: %w", src.Offset(), skip, err)
	}
	var r io.Reader = src
	switch d.Encoding {
	case ASCII:
		r = bulk.NewNumbers(src, d.Dtype().Type().Kind())
	case Hex:
		r = &hexadecimal{src: src}
	case ZRL:
		r = &zeroRuns{src: src}
	}
	return d.Take(r, size)
}

// inflate reads the size bytes of one compressed file, and checks its checksum.
func (d *decoder) inflate(r io.Reader, skip, size int64) error {
	if skip > 0 {
		b := budget.For(d.Size())
		if err := b.Work(skip / 2); err != nil { // a byte takes some nanoseconds
			return fmt.Errorf("byte skip: %w", err)
		}
		if n, err := io.CopyN(io.Discard, r, skip); err != nil {
			return fmt.Errorf("byte %d: byte skip: %d of %d bytes: %w", d.Offset(), n, skip, bulk.Unexpected(err))
		}
	}
	if skip == -1 {
		return d.last(r, size)
	}
	return d.TakeUnzipped(r, size)
}

// last takes the last size bytes of r.
func (d *decoder) last(r io.Reader, size int64) error {
	if err := d.Take(r, size); err != nil {
		return err
	}
	all := d.Filler.Bytes()
	ring := all[int64(len(all))-size:]
	at := 0 // the oldest byte
	for more := int64(0); ; {
		n, err := r.Read(ring[at:])
		at = (at + n) % len(ring)
		if more += int64(n); more > max(size, prefix) {
			return fmt.Errorf("byte %d: byte skip -1: more than %d bytes before the data", d.Offset(), max(size, prefix))
		}
		if err == io.EOF {
			break
		}
		if err != nil {
			return fmt.Errorf("byte %d: %w", d.Offset(), err)
		}
	}
	slices.Reverse(ring[:at])
	slices.Reverse(ring[at:])
	slices.Reverse(ring)
	return nil
}

// skipLine reads up to the end of a line.
func skipLine(src *bulk.Source) error {
	for {
		_, err := src.ReadSlice('\n')
		if err == bufio.ErrBufferFull {
			continue
		}
		return bulk.Unexpected(err)
	}
}

// DataFiles says which files hold the data of a detached header: a list of files or, if Format is not empty, a pattern.
// Without either the data follow the header.
type DataFiles struct {
	Names []string // paths relative to the header's folder, and in it
	Skips []int64  // for a SKIPLIST: the byte skip of each file

	Format         string // a pattern as in C's printf, with one %d
	Min, Max, Step int64  // the numbers of the pattern

	// Subdim is how many axes one file of a list or pattern spans. If it is all of them, the files are slabs of equal
	// thickness along the slowest axis.
	Subdim int

	listed, skipped bool // the data files are a LIST or SKIPLIST; they are a SKIPLIST
}

// Attached reports whether the data follow the header in the same file.
func (d *DataFiles) Attached() bool { return d.Format == "" && len(d.Names) == 0 }

// dataFile reads the field's value: a name, a pattern with its numbers, or LIST, with the names on the next lines.
func (p *parser) dataFile(value string) error {
	d := &p.h.DataFiles
	if value == "" {
		return errors.New("it is empty")
	}
	words := strings.Fields(value)
	switch {
	case words[0] == "LIST" || words[0] == "SKIPLIST":
		if p.h.Sizes == nil {
			return fmt.Errorf("%s must be the last field, but sizes are missing", words[0])
		}
		d.listed, d.skipped = true, words[0] == "SKIPLIST"
		return p.subdim(words[1:])
	case isPattern(words[0]):
		if len(words) < 4 {
			return fmt.Errorf("pattern %.60q: want the numbers min, max and step after it", words[0])
		}
		d.Format = words[0]
		for i, n := range []*int64{&d.Min, &d.Max, &d.Step} {
			v, err := strconv.ParseInt(words[1+i], 10, 32)
			if err != nil {
				return fmt.Errorf("%.60q is not an integer of 32 bits", words[1+i])
			}
			*n = v
		}
		if d.Step == 0 || (d.Max-d.Min)*d.Step < 0 {
			return fmt.Errorf("step %d does not lead from %d to %d", d.Step, d.Min, d.Max)
		}
		return p.subdim(words[4:])
	}
	d.Names = []string{value}
	return nil
}

// subdim reads the optional last word of a list or pattern.
func (p *parser) subdim(words []string) error {
	n, err := p.needAxes()
	if err != nil {
		return err
	}
	if p.h.DataFiles.Subdim = n - 1; len(words) == 0 {
		return nil
	}
	v, err := parseInt(words[0])
	switch {
	case err != nil:
		return err
	case len(words) > 1:
		return fmt.Errorf("%.60q is one word too many", words[1])
	case v < 1 || v > int64(n):
		return fmt.Errorf("files of %d axes, want 1 to %d", v, n)
	}
	p.h.DataFiles.Subdim = int(v)
	return nil
}

// isPattern reports whether a name has one conversion %d, as in C's printf. It may have a width.
func isPattern(name string) bool {
	_, ok := files.ParsePattern(name)
	return ok
}

// pieces is how many data files sizes require. If a file spans all axes, it is the greatest possible number.
func (h *Header) pieces() int64 {
	n := int64(1)
	for _, s := range h.Sizes[min(h.DataFiles.Subdim, len(h.Sizes)-1):] {
		if int64(s) > math.MaxInt64/n {
			return math.MaxInt64
		}
		n *= int64(s)
	}
	return n
}

// files is how many files hold the data.
func (h *Header) files() int64 {
	d := &h.DataFiles
	switch {
	case d.Format != "":
		return (d.Max-d.Min)/d.Step + 1
	case len(d.Names) > 0:
		return int64(len(d.Names))
	}
	return 1
}

// checkFiles checks that the number of data files is the one that sizes require, and that all are in the header's folder.
func (h *Header) checkFiles() error {
	d := &h.DataFiles
	if d.listed && len(d.Names) == 0 {
		return errors.New("data file: the list is empty")
	}
	if d.skipped && h.ByteSkip != 0 {
		return errors.New("byte skip: SKIPLIST has skips of its own")
	}
	if d.skipped && (h.Encoding == Gzip || h.Encoding == Bzip2) {
		return fmt.Errorf("data file: SKIPLIST cannot be combined with encoding %s", h.Encoding)
	}
	if d.Format != "" || d.listed {
		n, want := h.files(), h.pieces()
		if slabs := d.Subdim == len(h.Sizes); !slabs && n != want {
			return fmt.Errorf("data file: %d files of %d axes, but sizes %v require %d", n, d.Subdim, h.Sizes, want)
		} else if slabs && want%n != 0 {
			return fmt.Errorf("data file: %d slices do not divide into %d files", want, n)
		}
	}
	if d.Format != "" {
		_, err := h.file(0)
		return err
	}
	for i := range d.Names {
		if _, err := h.file(int64(i)); err != nil {
			return err
		}
	}
	return nil
}

// file is the path of data file i in the file system of the header.
func (h *Header) file(i int64) (string, error) {
	d := &h.DataFiles
	var name string
	switch {
	case d.Format != "":
		pattern, _ := files.ParsePattern(d.Format)
		name = pattern.Name(d.Min + i*d.Step)
	case len(d.Names) > 0:
		name = d.Names[i]
	default:
		return h.name, nil
	}
	full, err := files.Below(path.Dir(h.name), name)
	if err != nil {
		return "", fmt.Errorf("data file: %w", err)
	}
	return full, nil
}

// skip is the byte skip of data file i.
func (h *Header) skip(i int64) int64 {
	if h.DataFiles.skipped {
		return h.DataFiles.Skips[i]
	}
	return h.ByteSkip
}

// quoted reads strings in double quotes. Need returns their number.
func quoted(at func(*Header) *[]string, need func(*parser) (int, error)) func(*parser, string) error {
	return func(p *parser, value string) error {
		n, err := need(p)
		if err != nil {
			return err
		}
		values := make([]string, n)
		for i := range values {
			if values[i], value, err = unquote(value); err != nil {
				return fmt.Errorf("axis %d: %w", i, err)
			}
		}
		if value != "" {
			return fmt.Errorf("%.60q follows %d strings", value, n)
		}
		*at(p.h) = values
		return nil
	}
}

// unquote takes a string in double quotes from the beginning of s. \" is a quote in it. There are no other escapes.
func unquote(s string) (text, rest string, err error) {
	s, ok := strings.CutPrefix(s, `"`)
	if !ok {
		return "", "", errors.New("a string in double quotes is missing")
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		switch {
		case s[i] == '"':
			return b.String(), strings.TrimLeft(s[i+1:], " \t"), nil
		case s[i] == '\\' && i+1 < len(s) && s[i+1] == '"':
			i++
		}
		b.WriteByte(s[i])
	}
	return "", "", errors.New("the closing double quote is missing")
}

// vectors reads vectors of the world. Need returns their number.
func vectors(at func(*Header) *[][]float64, need func(*parser) (int, error)) func(*parser, string) error {
	return func(p *parser, value string) error {
		world, err := p.needWorld()
		if err != nil {
			return err
		}
		n, err := need(p)
		if err != nil {
			return err
		}
		values := make([][]float64, n)
		for i := range values {
			if values[i], value, err = vector(value, world); err != nil {
				return fmt.Errorf("axis %d: %w", i, err)
			}
		}
		if value != "" {
			return fmt.Errorf("%.60q follows %d vectors", value, n)
		}
		*at(p.h) = values
		return nil
	}
}

// vector takes a vector of n coordinates from the beginning of s, for example (x,y,z). The word none gives nil, and so do
// coordinates that are all NaN.
func vector(s string, n int) (v []float64, rest string, err error) {
	if rest, ok := strings.CutPrefix(s, "none"); ok && (rest == "" || strings.ContainsRune(" \t", rune(rest[0]))) {
		return nil, strings.TrimLeft(rest, " \t"), nil
	}
	s, ok := strings.CutPrefix(s, "(")
	if !ok {
		return nil, "", errors.New("a vector, (x,y,…) or none, is missing")
	}
	inside, rest, ok := strings.Cut(s, ")")
	if !ok {
		return nil, "", errors.New("the closing parenthesis is missing")
	}
	words := strings.Split(inside, ",")
	if len(words) != n {
		return nil, "", fmt.Errorf("(%.60s) has %d coordinates, the world %d", inside, len(words), n)
	}
	v = make([]float64, n)
	unknown := 0
	for i, word := range words {
		if v[i], err = finite(strings.TrimSpace(word)); err != nil {
			return nil, "", fmt.Errorf("coordinate %d: %w", i, err)
		}
		if math.IsNaN(v[i]) {
			unknown++
		}
	}
	rest = strings.TrimLeft(rest, " \t")
	switch unknown {
	case 0:
		return v, rest, nil
	case n:
		return nil, rest, nil
	}
	return nil, "", fmt.Errorf("(%.60s) is only partly known", inside)
}
