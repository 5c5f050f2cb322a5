package dataset

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"strings"

	"gorgonia.org/tensor"

	"github.com/penstock-go/penstock/internal/files"
)

// A CIFAROption changes what [CIFAR10] and [CIFAR100] do.
type CIFAROption struct{ set func(*cifarConfig) }

type cifarConfig struct{ files []string }

// CIFARFiles names the files to be read instead of those that belong to the
// part. The files of the classes' names are looked for next to the first.
func CIFARFiles(names ...string) CIFAROption {
	return CIFAROption{func(c *cifarConfig) { c.files = names }}
}

const (
	cifarSide  = 32
	cifarBytes = 3 * cifarSide * cifarSide
)

// cifarLabel is a byte before the image.
type cifarLabel struct {
	field   string
	classes int
	names   string // the file of the classes' names
}

// CIFAR10 makes a dataset of CIFAR-10's binary version: fsys is usually
// os.DirFS("cifar-10-batches-bin"). The training part is the files
// data_batch_1.bin to data_batch_5.bin, the test part test_batch.bin;
// batches.meta.txt gives the classes' names, if it is there.
//
// A record is a byte for the class, 0 to 9, and 3072 of 32×32 pixels, the red
// plane first, see https://www.cs.toronto.edu/~kriz/cifar.html. Everything,
// 1 GiB at most, is read into memory and checked at once, as torchvision does.
func CIFAR10(fsys fs.FS, part Part, options ...CIFAROption) (*Images, error) {
	files := []string{"test_batch.bin"}
	if part == Train {
		files = []string{"data_batch_1.bin", "data_batch_2.bin", "data_batch_3.bin", "data_batch_4.bin", "data_batch_5.bin"}
	}
	return readCIFAR(fsys, part, files, []cifarLabel{{"label", 10, "batches.meta.txt"}}, options)
}

// CIFAR100 makes a dataset of CIFAR-100's binary version: fsys is usually
// os.DirFS("cifar-100-binary"), and the parts are train.bin and test.bin. The
// field "label" is the fine label, 0 to 99, and a field "coarse", int64, is the
// superclass, 0 to 19; fine_label_names.txt and coarse_label_names.txt name
// them. A record is that of CIFAR-10 with the coarse label before the fine one.
func CIFAR100(fsys fs.FS, part Part, options ...CIFAROption) (*Images, error) {
	return readCIFAR(fsys, part, []string{string(part) + ".bin"}, []cifarLabel{
		{"label", 100, "fine_label_names.txt"},
		{"coarse", 20, "coarse_label_names.txt"},
	}, options)
}

// readCIFAR reads files whose records begin with a byte per label, the last one first.
func readCIFAR(fsys fs.FS, part Part, files []string, labels []cifarLabel, options []CIFAROption) (*Images, error) {
	c := cifarConfig{files: files}
	for _, option := range options {
		if option.set != nil {
			option.set(&c)
		}
	}
	if err := part.check(); err != nil {
		return nil, err
	}
	if len(c.files) == 0 {
		return nil, errors.New("dataset: CIFARFiles(): want one file or more")
	}
	fields := make([]string, len(labels))
	for l := range labels {
		fields[l] = labels[l].field
	}
	limit := int64(maxImageBytes)
	p := newImages(tensor.Shape{3, cifarSide, cifarSide}, fields...)
	for _, name := range c.files {
		if err := p.addCIFAR(fsys, name, labels, &limit); err != nil {
			return nil, readError(name, otherVersion(fsys, name, err))
		}
	}
	for l := range labels {
		folder := path.Dir(c.files[0])
		names, err := readNames(fsys, path.Join(folder, labels[l].names), labels[l].classes)
		if err != nil {
			return nil, err
		}
		p.names[l] = names
	}
	return p, nil
}

// addCIFAR reads one file and checks its labels.
func (p *Images) addCIFAR(fsys fs.FS, name string, labels []cifarLabel, limit *int64) error {
	in, err := files.OpenInput(fsys, name)
	if err != nil {
		return err
	}
	defer in.Close()
	if in.Packed {
		return errors.New("compressed by gzip: want the plain file")
	}
	skip := len(labels)
	record := skip + cifarBytes
	if in.Length == 0 {
		return fmt.Errorf("file of 0 bytes, want an image or more of %d", record)
	}
	if in.Length%int64(record) != 0 {
		return fmt.Errorf("file of %d bytes, want a multiple of %d: %d images and %d bytes",
			in.Length, record, in.Length/int64(record), in.Length%int64(record))
	}
	if in.Length > int64(*limit) {
		return fmt.Errorf("%d bytes to be held in memory, of %d at most %d are left", in.Length, maxImageBytes, *limit)
	}
	*limit -= in.Length
	data, err := in.Rest(in.Length)
	if err != nil {
		return err
	}
	for at := 0; at < len(data); at += record {
		for l := range labels {
			place := at + skip - 1 - l
			label := int64(data[place])
			if label >= int64(labels[l].classes) {
				return fmt.Errorf("byte %d: %s %d of image %d, want 0 to %d", place, labels[l].field, label, at/record, labels[l].classes-1)
			}
			p.labels[l] = append(p.labels[l], label)
		}
	}
	p.n += len(data) / record
	p.files = append(p.files, imageFile{name, data, record, skip, p.n})
	return nil
}

// otherVersion adds to err, if the file is not there, that the one of the version
// for Python is.
func otherVersion(fsys fs.FS, name string, err error) error {
	pickled := strings.TrimSuffix(name, ".bin")
	if _, found := fs.Stat(fsys, pickled); found == nil && errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%w, but %s: this is the version for Python, want the binary version", err, pickled)
	}
	return err
}

// readNames reads the names of so many classes, one a line. A file that does
// not exist gives none.
func readNames(fsys fs.FS, name string, classes int) ([]string, error) {
	f, _, err := files.Open(fsys, name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, readError(name, err)
	}
	defer f.Close()
	const limit = 64 << 10
	text, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err == nil && len(text) > limit {
		err = fmt.Errorf("more than %d bytes of names", limit)
	}
	if err != nil {
		return nil, readError(name, err)
	}
	var names []string
	for line := range strings.Lines(string(text)) {
		if line = strings.TrimSpace(line); line != "" {
			names = append(names, line)
		}
	}
	if len(names) != classes {
		return nil, readError(name, fmt.Errorf("%d names of classes, want %d", len(names), classes))
	}
	return names, nil
}
