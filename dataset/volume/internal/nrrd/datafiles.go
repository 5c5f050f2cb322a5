package nrrd

import (
	"errors"
	"fmt"
	"math"
	"path"
	"strconv"
	"strings"

	"github.com/penstock-go/penstock/internal/files"
)

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
