package metaimage

import (
	"fmt"
	"io"
	"io/fs"
	"math"
	"path"
	"strconv"
	"strings"

	"github.com/penstock-go/penstock/internal/bulk"
	"github.com/penstock-go/penstock/internal/files"
	"github.com/penstock-go/penstock/internal/inflate"
)

// load reads all data, which have size bytes.
func (h *Header) load(fsys fs.FS, size int64) ([]byte, error) {
	var f bulk.Filler
	defer f.Close()
	n := max(h.dataFiles.count, 1)
	stored := bulk.Stored(fsys, n, h.file)
	f.Want(size, h.likely(size, stored), stored)
	for i := range n {
		name, err := h.file(i)
		if err != nil {
			return nil, err
		}
		if err := h.take(fsys, &f, name, size/n); err != nil {
			if h.dataFiles.local() {
				return nil, fmt.Errorf("data: %w", err)
			}
			return nil, fmt.Errorf("data file %s: %w", name, err)
		}
	}
	data := f.Bytes()
	if h.big == bulk.LittleEndian() && h.binary {
		bulk.Swap(data, h.Dtype.Size())
	}
	return data, nil
}

// likely is the expected size of the decoded data, from the size of the files.
func (h *Header) likely(size, stored int64) int64 {
	switch {
	case h.compressed:
		return bulk.Unzipped(size, stored)
	case !h.binary:
		return 4 * min(stored, 1<<50) // two characters, a digit and a space, can be a float64
	}
	return stored
}

// take reads the size bytes of one data file.
func (h *Header) take(fsys fs.FS, f *bulk.Filler, name string, size int64) error {
	if err := f.Open(fsys, name); err != nil {
		return files.Cause(err)
	}
	skip := h.skip
	switch {
	case skip == -1:
		if skip = f.Size() - size; skip < 0 {
			return fmt.Errorf("HeaderSize: -1: the data have %d bytes, but the file has %d", size, f.Size())
		}
	case skip == 0 && h.dataFiles.local():
		skip = h.data
	}
	if err := f.Skip(skip); err != nil {
		return fmt.Errorf("byte %d: %d bytes before the data: %w", f.Offset(), skip, bulk.Unexpected(err))
	}
	switch {
	case h.compressed:
		z, err := decompressed(f.Source)
		if err != nil {
			return fmt.Errorf("byte %d: %w", f.Offset(), bulk.Unexpected(err))
		}
		return f.TakeUnzipped(z, size)
	case !h.binary:
		return f.Take(bulk.NewNumbers(f.Source, h.Dtype.Type().Kind()), size)
	}
	return f.Take(f.Source, size)
}

// decompressed decompresses gzip or zlib. It recognises gzip by the first byte, as zlib does for MetaIO.
func decompressed(src *bulk.Source) (io.Reader, error) {
	if magic, err := src.Peek(1); err == nil && magic[0] == 0x1f {
		return bulk.NewGzip(src.Reader)
	}
	z := new(inflate.Reader)
	return z, z.ResetZlib(src.Reader)
}

// dataFiles are the files of ElementDataFile: one or more names, or a pattern. Without either the data are LOCAL.
type dataFiles struct {
	names       []string // in the header's folder
	pattern     files.Pattern
	first, step int64
	count       int64
}

// local reports whether the data follow the header.
func (d *dataFiles) local() bool { return d.count == 0 }

// file is the path of data file i in the file system of the header.
func (h *Header) file(i int64) (string, error) {
	d := &h.dataFiles
	if d.local() {
		return h.name, nil
	}
	own := ""
	if d.names != nil {
		own = d.names[i]
	} else {
		own = d.pattern.Name(d.first + i*d.step)
	}
	return files.Below(path.Dir(h.name), own)
}

// dataFiles reads the value of ElementDataFile, and the list of files on the next lines.
func (p *parser) dataFiles() error {
	d := &p.h.dataFiles
	words := strings.Fields(p.elements)
	switch {
	case strings.EqualFold(p.elements, "LOCAL"):
		return nil
	case words[0] == "LIST":
		return p.list(words[1:])
	case strings.Contains(p.elements, "%"):
		return p.pattern(words)
	}
	d.names, d.count = []string{p.elements}, 1
	_, err := p.h.file(0)
	return err
}

// list reads the names of files. Words may have the number of axes in a file. Without it a file has all axes except the
// slowest.
func (p *parser) list(words []string) error {
	d, rank := &p.h.dataFiles, len(p.h.Sizes)-1
	if len(words) > 0 {
		n, err := strconv.Atoi(strings.TrimRight(words[0], "dD"))
		if err != nil || n < 1 || n > rank {
			return fmt.Errorf("files of %.60q axes, want 1 to %d", words[0], rank)
		}
		rank = n
	}
	want := int64(1)
	for _, n := range p.h.Sizes[max(rank, 0):] {
		if want > math.MaxInt64/int64(n) {
			return fmt.Errorf("LIST of %v files", p.h.Sizes[max(rank, 0):])
		}
		want *= int64(n)
	}
	seen := map[string]bool{}
	for d.count < want {
		text, err := p.next()
		if err != nil {
			return fmt.Errorf("%d files of %d axes, want %d", d.count, rank, want)
		}
		d.names, d.count = append(d.names, strings.TrimSpace(text)), d.count+1
		const kept = 128 // bytes of what is remembered of a name, besides its text
		if err := p.Memory(kept + int64(len(text))); err != nil {
			return err
		}
		name, err := p.h.file(d.count - 1)
		if err == nil && seen[name] {
			err = fmt.Errorf("%.60q is in the list already", text)
		}
		if err != nil {
			return err
		}
		seen[name] = true
	}
	return nil
}

// pattern reads a name with one %d. There is one file per slice of the slowest axis. The first number may follow, or the
// first, the last and the step. Without them the first number is 1.
func (p *parser) pattern(words []string) error {
	d := &p.h.dataFiles
	var numbers []int64
	for len(words) > 1 && len(numbers) < 3 {
		n, err := strconv.ParseInt(words[len(words)-1], 10, 32)
		if err != nil {
			break
		}
		numbers = append([]int64{n}, numbers...)
		words = words[:len(words)-1]
	}
	var ok bool
	if d.pattern, ok = files.ParsePattern(strings.Join(words, " ")); !ok {
		return fmt.Errorf("%.60q is not a pattern: want one %%d in it", strings.Join(words, " "))
	}
	d.count, d.first, d.step = int64(p.h.Sizes[len(p.h.Sizes)-1]), 1, 1
	switch len(numbers) {
	case 1:
		d.first = numbers[0]
	case 2:
		return fmt.Errorf("%d to %d: the step is missing", numbers[0], numbers[1])
	case 3:
		d.first, d.step = numbers[0], numbers[2]
		if d.step == 0 || (numbers[1]-d.first)/d.step+1 != d.count {
			return fmt.Errorf("%d to %d by %d are not the numbers of %d files", d.first, numbers[1], d.step, d.count)
		}
	}
	_, err := p.h.file(0)
	return err
}
