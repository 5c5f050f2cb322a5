package npy

import (
	"archive/zip"
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/internal/arrays"
	"github.com/penstock-go/penstock/internal/budget"
	"github.com/penstock-go/penstock/internal/files"
	"github.com/penstock-go/penstock/internal/inflate"
)

// OpenNpz makes a dataset of arrays in a file of numpy.savez or
// numpy.savez_compressed. Each array is a field, with the name of the array.
// Its first dimension is the number of samples, the same in all arrays. members
// selects arrays and their order; nil takes all, in the order of the file.
//
// Compressed arrays are decompressed into memory, where all workers share them,
// and their checksums are checked. Other arrays are read as [Open] reads them.
func OpenNpz(fsys fs.FS, file string, members []string, options ...Option) (dataset.Dataset, error) {
	c, err := configOf(options)
	if err != nil {
		return nil, err
	}
	ds, err := openNpz(fsys, file, members, &c.limit)
	if err != nil {
		return nil, fmt.Errorf("npy: read %s: %w", file, err)
	}
	return ds, nil
}

func openNpz(fsys fs.FS, file string, members []string, limit *int64) (dataset.Dataset, error) {
	f, at, size, err := files.OpenAt(fsys, file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	z, err := zip.NewReader(at, size)
	if err != nil {
		return nil, files.Cause(err)
	}
	z.RegisterDecompressor(zip.Deflate, new(inflater).open)
	chosen, err := chooseMembers(z, members)
	if err != nil {
		return nil, err
	}
	b := budget.For(size)
	fields := make([]*arrays.Array, 0, len(chosen))
	for _, m := range chosen {
		a, err := openMember(m, size, limit, &b)
		if err != nil {
			return nil, fmt.Errorf("member %q: %w", fieldOf(m), err)
		}
		a.FS, a.File = fsys, file
		fields = append(fields, a)
	}
	return arrays.Dataset("npy", fields...)
}

// fieldOf is the name that NumPy gives the array of a member.
func fieldOf(m *zip.File) string { return strings.TrimSuffix(m.Name, ".npy") }

func chooseMembers(z *zip.Reader, names []string) ([]*zip.File, error) {
	byName := make(map[string]*zip.File, len(z.File))
	var all []string
	for _, m := range z.File {
		name := fieldOf(m)
		if byName[name] != nil {
			return nil, fmt.Errorf("two members are named %q", name)
		}
		byName[name] = m
		all = append(all, name)
	}
	if names == nil {
		names = all
	}
	if len(names) == 0 {
		return nil, errors.New("no members")
	}
	var chosen []*zip.File
	for _, name := range names {
		m := byName[name]
		if m == nil {
			return nil, fmt.Errorf("no member %q: there are %q", name, all[:min(len(all), 20)])
		}
		chosen = append(chosen, m)
	}
	return chosen, nil
}

// headerMemory is how many bytes of memory a byte of a header takes.
const headerMemory = 4

// openMember reads a member's header and, as [arrays.Array.Attach] decides, its
// samples. The archive has size bytes. Members may share them, or have long headers that
// are short when compressed, so the headers are charged to the budget of all members.
func openMember(m *zip.File, size int64, limit *int64, b *budget.Budget) (*arrays.Array, error) {
	if m.Flags&1 != 0 {
		return nil, errors.New("encrypted")
	}
	content, err := m.Open()
	if err != nil {
		return nil, files.Cause(err)
	}
	in := files.NewInput(content, min(int64(min(m.CompressedSize64, 1<<62)), size))
	defer in.Close()
	if in.Packed = m.Method != zip.Store; !in.Packed {
		if err := findStored(in, m, size); err != nil {
			return nil, err
		}
	}
	a, err := arrayIn(in, fieldOf(m))
	if err == nil {
		err = b.Memory(headerMemory * in.Offset())
	}
	if err != nil {
		return nil, err
	}
	return a, a.Attach(in, limit)
}

// An inflater decompresses members one after another in the same memory, which is larger than most
// small members.
type inflater struct {
	from bufio.Reader
	inflate.Reader
}

func (f *inflater) open(r io.Reader) io.ReadCloser {
	f.from.Reset(r)
	f.ResetRaw(&f.from)
	return io.NopCloser(f)
}

// findStored finds the bytes of a member that is not compressed.
func findStored(in *files.Input, m *zip.File, size int64) error {
	start, err := m.DataOffset()
	if err != nil {
		return files.Cause(err)
	}
	n := int64(min(m.CompressedSize64, 1<<62))
	if m.CompressedSize64 != m.UncompressedSize64 || start > size || n > size-start {
		return fmt.Errorf("%d bytes stored as %d from byte %d of a file of %d: %w",
			m.UncompressedSize64, m.CompressedSize64, start, size, io.ErrUnexpectedEOF)
	}
	in.Start, in.Length = start, n
	return nil
}
