package classic

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/internal/budget"
	"github.com/penstock-go/penstock/internal/files"
	"github.com/penstock-go/penstock/internal/pickle"
)

const (
	cifarSide  = 32
	cifarBytes = 3 * cifarSide * cifarSide
)

// CIFAR10 makes a dataset of CIFAR-10, from its binary or its Python version, see
// https://www.cs.toronto.edu/~kriz/cifar.html. fsys is the folder of the files, such as
// os.DirFS("cifar-10-batches-py"), or the one that contains it: the argument root of
// torchvision's CIFAR10. An archive must be unpacked (tar -xzf).
//
// All files, together at most 1 GiB, are read into memory and checked before CIFAR10
// returns. Nothing in a pickle is executed. If batches.meta (batches.meta.txt in the binary
// version) is there, it gives the names of the classes.
func CIFAR10(fsys fs.FS, split Split) (*Dataset, error) {
	return readCIFAR(fsys, split, cifarSet{
		name:   "CIFAR-10",
		labels: []cifarLabel{{field: "label", classes: 10, lists: "labels", names: "label_names"}},
		versions: []cifarVersion{
			{
				folder: "cifar-10-batches-bin",
				train:  []string{"data_batch_1.bin", "data_batch_2.bin", "data_batch_3.bin", "data_batch_4.bin", "data_batch_5.bin"},
				test:   []string{"test_batch.bin"}, names: []string{"batches.meta.txt"},
			},
			{
				folder: "cifar-10-batches-py", python: true,
				train: []string{"data_batch_1", "data_batch_2", "data_batch_3", "data_batch_4", "data_batch_5"},
				test:  []string{"test_batch"}, names: []string{"batches.meta"},
			},
		},
	})
}

// CIFAR100 is [CIFAR10] for CIFAR-100. The folders are cifar-100-binary and
// cifar-100-python, and the files of the splits are train and test. The field
// "label" is the fine label, 0 to 99. A further field "coarse", int64, is the
// superclass, 0 to 19. If meta (fine_label_names.txt and coarse_label_names.txt
// in the binary version) exists, it gives the names of both. A record of the
// binary version has the coarse label before the fine one.
func CIFAR100(fsys fs.FS, split Split) (*Dataset, error) {
	return readCIFAR(fsys, split, cifarSet{
		name: "CIFAR-100",
		labels: []cifarLabel{
			{field: "label", classes: 100, lists: "fine_labels", names: "fine_label_names"},
			{field: "coarse", classes: 20, lists: "coarse_labels", names: "coarse_label_names"},
		},
		versions: []cifarVersion{
			{
				folder: "cifar-100-binary",
				train:  []string{"train.bin"}, test: []string{"test.bin"}, names: []string{"fine_label_names.txt", "coarse_label_names.txt"},
			},
			{
				folder: "cifar-100-python", python: true,
				train: []string{"train"}, test: []string{"test"}, names: []string{"meta"},
			},
		},
	})
}

// A cifarSet describes the files of CIFAR-10 or CIFAR-100.
type cifarSet struct {
	name     string
	labels   []cifarLabel
	versions []cifarVersion
}

// A cifarLabel is one label of an image.
type cifarLabel struct {
	field   string
	classes int
	lists   string // the key of the labels in a pickle
	names   string // the key of the classes' names
}

type cifarVersion struct {
	folder      string
	train, test []string
	names       []string // files of the classes' names: one per label, or one pickle
	python      bool
}

func (v *cifarVersion) files(split Split) []string {
	if split == Train {
		return v.train
	}
	return v.test
}

func readCIFAR(fsys fs.FS, split Split, set cifarSet) (*Dataset, error) {
	if fsys == nil {
		return nil, fmt.Errorf("classic: %s: the file system is nil", set.name)
	}
	if err := split.check(); err != nil {
		return nil, err
	}
	r := &cifarReader{fsys: fsys, set: set, limit: maxBytes, read: map[string]*cifarFile{}, names: make([][]string, len(set.labels))}
	wanted, err := r.readSplit(split)
	if err != nil {
		return nil, err
	}
	fields := make([]string, len(set.labels))
	for l := range fields {
		fields[l] = set.labels[l].field
	}
	p := newDataset(dataset.Shape{3, cifarSide, cifarSide}, fields...)
	for _, name := range wanted {
		f := r.read[name]
		for l := range f.labels {
			p.labels[l] = append(p.labels[l], f.labels[l]...)
		}
		p.n += len(f.data) / f.record
		p.files = append(p.files, imageFile{name, f.data, f.record, f.skip, p.n})
	}
	p.names = r.names
	return p, nil
}

// A cifarReader finds and reads files of CIFAR.
type cifarReader struct {
	fsys  fs.FS
	set   cifarSet
	limit int64                 // bytes of images that may still be read
	read  map[string]*cifarFile // by name
	names [][]string            // of the classes, per label
}

// readSplit reads the files of a split and returns their names.
func (r *cifarReader) readSplit(split Split) ([]string, error) {
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
		tried = append(tried, v.files(split)[0], v.folder)
	}
	return fmt.Errorf("classic: %s: none of %s: %w", r.set.name, strings.Join(tried, ", "), fs.ErrNotExist)
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

// A cifarFile is what one file holds.
type cifarFile struct {
	data   []byte
	record int // bytes from one image to the next
	skip   int // bytes before the first image
	labels [][]int64
}

// pickled is the first byte of a pickle. No label has this value.
const pickled = 0x80

// oldPickled are the first bytes of a dictionary that protocols 0 and 1 write. No label has the
// value of the first one.
var oldPickled = []string{"(d", "}q", "}("}

// parse reads a file of size bytes of either version.
func (r *cifarReader) parse(in *files.Input, size int64) (*cifarFile, error) {
	if size > r.limit {
		return nil, fmt.Errorf("%d bytes of images, more than the %d that are left of the limit of %d", size, r.limit, maxBytes)
	}
	if err := in.Holds(size); err != nil {
		return nil, err
	}
	r.limit -= size
	begin, err := in.Peek(2)
	switch {
	case err != nil: // too short for anything
	case begin[0] == pickled:
		return r.parsePickle(in, size)
	case slices.Contains(oldPickled, string(begin)):
		return nil, errors.New("a pickle of protocol 0 or 1, want 2 to 5: pickle.dump(value, file, 2) writes such a file")
	}
	return r.parseBinary(in, size)
}

// parseBinary reads records that begin with a byte per label, in reverse order.
func (r *cifarReader) parseBinary(in *files.Input, size int64) (*cifarFile, error) {
	skip := len(r.set.labels)
	record := skip + cifarBytes
	if size == 0 {
		return nil, fmt.Errorf("file of 0 bytes, want at least one image of %d", record)
	}
	if size%int64(record) != 0 {
		return nil, fmt.Errorf("file of %d bytes, want a multiple of %d: %d images and %d bytes", size, record, size/int64(record), size%int64(record))
	}
	data, err := in.Rest(size)
	if err != nil {
		return nil, err
	}
	f := &cifarFile{data, record, skip, make([][]int64, skip)}
	for at := 0; at < len(data); at += record {
		for l := range f.labels {
			f.labels[l] = append(f.labels[l], int64(data[at+skip-1-l]))
		}
	}
	return f, f.check(r.set.labels)
}

// parsePickle reads a dictionary of an array of images and lists of labels.
func (r *cifarReader) parsePickle(in *files.Input, size int64) (*cifarFile, error) {
	var b budget.Budget
	dict, err := readDict(in, size, &b)
	if err != nil {
		return nil, err
	}
	images, ok := dict.Get("data").(*pickle.Array)
	if !ok {
		return nil, errors.New(`key "data" is missing or not an array`)
	}
	if images.Type != "u1" || images.Fortran || len(images.Shape) != 2 || images.Shape[1] != cifarBytes {
		return nil, fmt.Errorf("array of %s %v, want images: u1 [n %d]", images.Type, images.Shape, cifarBytes)
	}
	f := &cifarFile{data: images.Data, record: cifarBytes, labels: make([][]int64, len(r.set.labels))}
	for l, label := range r.set.labels {
		if f.labels[l], err = pickle.Integers(dict.Get(label.lists), &b); err != nil {
			return nil, fmt.Errorf("key %q: %w", label.lists, err)
		}
		if got, want := len(f.labels[l]), images.Shape[0]; got != want {
			return nil, fmt.Errorf("key %q: %d labels for %d images", label.lists, got, want)
		}
	}
	return f, f.check(r.set.labels)
}

func readDict(r io.Reader, size int64, b *budget.Budget) (*pickle.Dict, error) {
	v, err := pickle.Read(r, size, b)
	if err != nil {
		return nil, err
	}
	dict, ok := v.(*pickle.Dict)
	if !ok {
		return nil, errors.New("pickle: not a dictionary")
	}
	return dict, nil
}

// check compares the labels with the number of classes.
func (f *cifarFile) check(labels []cifarLabel) error {
	for l, label := range labels {
		for k, v := range f.labels[l] {
			if v < 0 || v >= int64(label.classes) {
				return fmt.Errorf("image %d: %s %d, want 0 to %d", k, label.field, v, label.classes-1)
			}
		}
	}
	return nil
}

// maxNames is the maximum size of a file of class names, in bytes.
const maxNames = 64 << 10

// parseNames reads class names: those of label l, one per line, or those of all
// labels from a pickle.
func (r *cifarReader) parseNames(from io.Reader, v *cifarVersion, l int) error {
	text, err := io.ReadAll(io.LimitReader(from, maxNames+1))
	if err == nil && len(text) > maxNames {
		err = fmt.Errorf("more than %d bytes of names", maxNames)
	}
	if err != nil {
		return err
	}
	if v.python {
		var b budget.Budget
		dict, err := readDict(bytes.NewReader(text), int64(len(text)), &b)
		if err != nil {
			return err
		}
		for l, label := range r.set.labels {
			names, err := pickle.Texts(dict.Get(label.names), &b)
			if err != nil {
				return fmt.Errorf("key %q: %w", label.names, err)
			}
			if err := r.setNames(l, names); err != nil {
				return fmt.Errorf("key %q: %w", label.names, err)
			}
		}
		return nil
	}
	lines := strings.FieldsFunc(string(text), func(r rune) bool { return r == '\n' || r == '\r' })
	for k := range lines {
		lines[k] = strings.TrimSpace(lines[k])
	}
	return r.setNames(l, slices.DeleteFunc(lines, func(s string) bool { return s == "" }))
}

func (r *cifarReader) setNames(l int, names []string) error {
	if want := r.set.labels[l].classes; len(names) != want {
		return fmt.Errorf("%d class names, want %d", len(names), want)
	}
	r.names[l] = names
	return nil
}
