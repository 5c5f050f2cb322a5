package dataset

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/penstock-go/penstock/internal/budget"
	"github.com/penstock-go/penstock/internal/files"
)

// A cifarReader finds and reads files of CIFAR.
type cifarReader struct {
	fsys  fs.FS
	set   cifarSet
	limit int64                 // bytes of images that may still be read
	read  map[string]*cifarFile // by name
	names [][]string            // of the classes, per label
}

// readSplit reads the files of a split, or those named, and returns their names.
func (r *cifarReader) readSplit(split Split, named []string) ([]string, error) {
	if named != nil {
		// The version, which decides where the class names are, is known from the
		// contents of the files.
		if err := r.readFiles(named); err != nil {
			return nil, err
		}
		return named, r.readNames(path.Dir(named[0]))
	}
	if folder, version := r.findFolder(split); version != nil {
		var wanted []string
		for _, name := range version.files(split) {
			wanted = append(wanted, path.Join(folder, name))
		}
		if err := r.readFiles(wanted); err != nil {
			return nil, err
		}
		return wanted, r.readNames(folder)
	}
	for k := range r.set.versions {
		v := &r.set.versions[k]
		if r.exists(v.archive) {
			return r.readArchive(v, split)
		}
	}
	return nil, r.notFound(split)
}

func (r *cifarReader) exists(name string) bool {
	_, err := fs.Stat(r.fsys, name)
	return err == nil
}

// findFolder finds a folder with a file of the split: fsys itself, or a folder with
// the name that the archives give it.
func (r *cifarReader) findFolder(split Split) (string, *cifarVersion) {
	for _, inside := range []bool{false, true} {
		for k := range r.set.versions {
			v, folder := &r.set.versions[k], "."
			if inside {
				folder = v.folder
			}
			if slices.ContainsFunc(v.files(split), func(name string) bool { return r.exists(path.Join(folder, name)) }) {
				return folder, v
			}
		}
	}
	return "", nil
}

func (r *cifarReader) notFound(split Split) error {
	var tried []string
	for k := range r.set.versions {
		v := &r.set.versions[k]
		tried = append(tried, v.files(split)[0], v.folder, v.archive)
	}
	return fmt.Errorf("dataset: %s: none of %s: %w", r.set.name, strings.Join(tried, ", "), fs.ErrNotExist)
}

func (r *cifarReader) readFiles(names []string) error {
	for _, name := range names {
		if err := r.readFile(name); err != nil {
			return readError(name, err)
		}
	}
	return nil
}

func (r *cifarReader) readFile(name string) error {
	in, err := files.OpenInput(r.fsys, name)
	if err != nil {
		return err
	}
	defer in.Close()
	if in.Packed {
		return errors.New("compressed by gzip: want the plain file")
	}
	r.read[name], err = r.parse(in, in.Length)
	return err
}

// readNames reads the files of class names in a folder, if there are any.
func (r *cifarReader) readNames(folder string) error {
	for k := range r.set.versions {
		v := &r.set.versions[k]
		for l, name := range v.names {
			name = path.Join(folder, name)
			f, _, err := files.Open(r.fsys, name)
			if errors.Is(err, fs.ErrNotExist) {
				continue
			}
			if err == nil {
				err = r.parseNames(f, v, l)
				f.Close()
			}
			if err != nil {
				return readError(name, err)
			}
		}
	}
	return nil
}

// readArchive reads the files of a split from an archive, where they may be in any
// order, and returns their names.
func (r *cifarReader) readArchive(v *cifarVersion, split Split) ([]string, error) {
	in, err := files.OpenInput(r.fsys, v.archive)
	if err != nil {
		return nil, readError(v.archive, err)
	}
	defer in.Close()
	b := budget.For(in.Length)
	err = r.readMembers(in, v, split, &b)
	if err == nil {
		_, err = io.Copy(io.Discard, io.LimitReader(in, maxPadding)) // only at the end damage is noticed
	}
	if err != nil {
		return nil, readError(v.archive, err)
	}
	var wanted []string
	for _, name := range v.files(split) {
		name = path.Join(v.archive, v.folder, name)
		if r.read[name] == nil {
			return nil, readError(name, fs.ErrNotExist)
		}
		wanted = append(wanted, name)
	}
	return wanted, nil
}

// charged charges the bytes of an archive to its budget: many times as many as those of the file may
// have to be inflated only to be skipped.
type charged struct {
	io.Reader
	*budget.Budget
}

func (c *charged) Read(p []byte) (int, error) {
	n, err := c.Reader.Read(p)
	if over := c.Work(int64(n) / 2); over != nil { // a byte takes some nanoseconds
		return 0, over
	}
	return n, err
}

// take reads n bytes.
func (c *charged) take(n int) ([]byte, error) {
	if err := c.Memory(int64(n)); err != nil {
		return nil, err
	}
	b := make([]byte, n)
	_, err := io.ReadFull(c, b)
	return b, err
}

// maxPadding is how many bytes may follow the last member of an archive.
const maxPadding = 1 << 20

// readMembers reads the files of a split from an archive.
func (r *cifarReader) readMembers(archive *files.Input, v *cifarVersion, split Split, b *budget.Budget) error {
	all := &charged{archive, b}
	t := files.Tar{Take: all.take}
	for {
		m, err := t.Next()
		if err == io.EOF || err == files.ErrTarEnd {
			return nil
		}
		data := &io.LimitedReader{R: all, N: m.Size}
		if err == nil && m.Regular {
			err = r.readMember(archive, data, string(m.Name), v, split, b)
		}
		if err == nil {
			_, err = io.CopyN(io.Discard, all, data.N+m.Padded()-m.Size)
		}
		if err != nil {
			return files.Ended(err)
		}
	}
}

// readMember reads a file of the archive if it is wanted.
func (r *cifarReader) readMember(archive *files.Input, data *io.LimitedReader, at string, v *cifarVersion, split Split, b *budget.Budget) error {
	folder, name := path.Split(path.Clean(at))
	if path.Clean(folder) != v.folder {
		return nil
	}
	if l := slices.Index(v.names, name); l >= 0 {
		if err := r.parseNames(data, v, l); err != nil {
			return fmt.Errorf("%s: %w", at, err)
		}
		return nil
	}
	if !slices.Contains(v.files(split), name) {
		return nil
	}
	// The sizes of members are promises, as those of compressed files are.
	size := data.N
	member := files.NewInput(data, archive.Length)
	member.Packed = true
	b.Grant(0, min(size, maxImageBytes)/2) // what parse compares with the limit
	f, err := r.parse(member, size)
	if err != nil {
		return fmt.Errorf("%s: %w", at, err)
	}
	r.read[path.Join(v.archive, v.folder, name)] = f
	return nil
}
