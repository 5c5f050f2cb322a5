package dataset

import (
	archive "archive/zip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"

	"github.com/klauspost/compress/flate"

	"github.com/penstock-go/penstock/internal/files"
)

// An NpzOption changes what [Npz] does.
type NpzOption interface{ npz(*npzConfig) }

type npzConfig struct {
	arrayConfig
	members []string
}

func (m MemoryLimit) npz(c *npzConfig) { c.limit = m }

type npzOption func(*npzConfig)

func (o npzOption) npz(c *npzConfig) { o(c) }

// Members chooses arrays of the file, by the names that NumPy knows them by, in
// the order of the fields. The default is all, in the file's order.
func Members(names ...string) NpzOption {
	return npzOption(func(c *npzConfig) { c.members = names })
}

// Npz makes a dataset of the arrays that NumPy's savez or savez_compressed
// wrote to one file: each is a field, named as there, and its first dimension
// counts the samples, equally many in all. What [Npy] says of kinds holds here
// too. Compressed arrays are decompressed once, into memory, and checked by
// their checksums; stored ones are read as by Npy.
func Npz(fsys fs.FS, file string, options ...NpzOption) (Dataset, error) {
	c := npzConfig{arrayConfig: arrayConfig{limit: defaultMemoryLimit}}
	for _, option := range options {
		option.npz(&c)
	}
	if err := c.limit.check(); err != nil {
		return nil, err
	}
	f, size, err := files.Open(fsys, file)
	if err != nil {
		return nil, readError(file, err)
	}
	defer f.Close()
	at, err := files.ReaderAt(f)
	if err != nil {
		return nil, readError(file, err)
	}
	z, err := archive.NewReader(at, size)
	if err != nil {
		return nil, readError(file, err)
	}
	z.RegisterDecompressor(archive.Deflate, flate.NewReader)
	members, err := chooseMembers(z, c.members)
	if err != nil {
		return nil, readError(file, err)
	}
	fields := make([]array, 0, len(members))
	for _, m := range members {
		a, err := npzArray(m, file, size, &c.limit)
		if err != nil {
			return nil, err
		}
		a.fsys, a.file = fsys, file
		fields = append(fields, a)
	}
	return newArrays(fields)
}

func memberField(m *archive.File) string { return strings.TrimSuffix(m.Name, ".npy") }

func chooseMembers(z *archive.Reader, names []string) ([]*archive.File, error) {
	byName := make(map[string]*archive.File, len(z.File))
	var all []string
	for _, m := range z.File {
		name := memberField(m)
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
		return nil, errors.New("no member")
	}
	var chosen []*archive.File
	for _, name := range names {
		m := byName[name]
		if m == nil {
			return nil, fmt.Errorf("no member %q, only %q", name, all[:min(len(all), 20)])
		}
		chosen = append(chosen, m)
	}
	return chosen, nil
}

// npzArray reads a member's header and, as attach decides, its samples.
func npzArray(m *archive.File, file string, size int64, limit *MemoryLimit) (array, error) {
	name := file + ", member " + memberField(m)
	if m.Flags&1 != 0 {
		return array{}, readError(name, errors.New("encrypted"))
	}
	content, err := m.Open()
	if err != nil {
		return array{}, readError(name, err)
	}
	in := &input{name: name, r: content, packed: m.Method != archive.Store, closer: content}
	defer in.Close()
	if in.packed {
		in.length = min(int64(min(m.CompressedSize64, 1<<62)), size)
	} else if err := in.placeStored(m, size); err != nil {
		return array{}, readError(name, err)
	}
	a, err := npyArray(in, memberField(m))
	if err != nil {
		return array{}, err
	}
	return a, a.attach(in, limit)
}

// placeStored finds where a member lies that is not compressed.
func (in *input) placeStored(m *archive.File, size int64) error {
	start, err := m.DataOffset()
	if err != nil {
		return err
	}
	n := int64(min(m.CompressedSize64, 1<<62))
	if m.CompressedSize64 != m.UncompressedSize64 || start > size || n > size-start {
		return fmt.Errorf("%d bytes stored as %d from byte %d of a file of %d: %w",
			m.UncompressedSize64, m.CompressedSize64, start, size, io.ErrUnexpectedEOF)
	}
	in.start, in.length = start, n
	return nil
}
