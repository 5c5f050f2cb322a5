package dataset

import (
	"errors"
	"fmt"
	"io/fs"
)

// A CIFAROption changes what [CIFAR10] and [CIFAR100] do.
type CIFAROption struct{ set func(*cifarConfig) }

type cifarConfig struct{ files []string }

// CIFARFiles names the files to read instead of the usual files of the split.
// The files with the names of the classes are looked for next to the first one.
func CIFARFiles(names ...string) CIFAROption {
	return CIFAROption{func(c *cifarConfig) {
		c.files = append([]string{}, names...) // not nil, which means the files of the split
	}}
}

const (
	cifarSide  = 32
	cifarBytes = 3 * cifarSide * cifarSide
)

// CIFAR10 makes a dataset of CIFAR-10, from its binary version or its Python
// version. fsys is the folder of the files, such as
// os.DirFS("cifar-10-batches-py"). It may also be the folder that contains this
// one, or that contains the archive cifar-10-python.tar.gz, such as the argument
// root of torchvision's CIFAR10.
//
// The training split is data_batch_1 to data_batch_5 and the test split
// test_batch, with .bin at the end in the binary version. If batches.meta
// (batches.meta.txt in the binary version) exists, it gives the names of the
// classes. A record of the binary version is one byte for the class, 0 to 9,
// and 3072 bytes for an image of 32×32 pixels: the red plane, then green, then
// blue. See https://www.cs.toronto.edu/~kriz/cifar.html. The Python version is
// a pickle of protocol 2 to 5. Nothing in it is executed.
//
// All files, together at most 1 GiB, are read into memory and checked before
// CIFAR10 returns.
func CIFAR10(fsys fs.FS, split Split, options ...CIFAROption) (*Images, error) {
	return readCIFAR(fsys, split, cifarSet{
		name:   "CIFAR-10",
		labels: []cifarLabel{{field: "label", classes: 10, lists: "labels", names: "label_names"}},
		versions: []cifarVersion{
			{
				folder: "cifar-10-batches-bin", archive: "cifar-10-binary.tar.gz",
				train: []string{"data_batch_1.bin", "data_batch_2.bin", "data_batch_3.bin", "data_batch_4.bin", "data_batch_5.bin"},
				test:  []string{"test_batch.bin"}, names: []string{"batches.meta.txt"},
			},
			{
				folder: "cifar-10-batches-py", archive: "cifar-10-python.tar.gz", python: true,
				train: []string{"data_batch_1", "data_batch_2", "data_batch_3", "data_batch_4", "data_batch_5"},
				test:  []string{"test_batch"}, names: []string{"batches.meta"},
			},
		},
	}, options)
}

// CIFAR100 is [CIFAR10] for CIFAR-100. The folders are cifar-100-binary and
// cifar-100-python, and the files of the splits are train and test. The field
// "label" is the fine label, 0 to 99. A further field "coarse", int64, is the
// superclass, 0 to 19. If meta (fine_label_names.txt and coarse_label_names.txt
// in the binary version) exists, it gives the names of both. A record of the
// binary version has the coarse label before the fine one.
func CIFAR100(fsys fs.FS, split Split, options ...CIFAROption) (*Images, error) {
	return readCIFAR(fsys, split, cifarSet{
		name: "CIFAR-100",
		labels: []cifarLabel{
			{field: "label", classes: 100, lists: "fine_labels", names: "fine_label_names"},
			{field: "coarse", classes: 20, lists: "coarse_labels", names: "coarse_label_names"},
		},
		versions: []cifarVersion{
			{
				folder: "cifar-100-binary", archive: "cifar-100-binary.tar.gz",
				train: []string{"train.bin"}, test: []string{"test.bin"}, names: []string{"fine_label_names.txt", "coarse_label_names.txt"},
			},
			{
				folder: "cifar-100-python", archive: "cifar-100-python.tar.gz", python: true,
				train: []string{"train"}, test: []string{"test"}, names: []string{"meta"},
			},
		},
	}, options)
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
	folder, archive string
	train, test     []string
	names           []string // files of the classes' names: one per label, or one pickle
	python          bool
}

func (v *cifarVersion) files(split Split) []string {
	if split == Train {
		return v.train
	}
	return v.test
}

func readCIFAR(fsys fs.FS, split Split, set cifarSet, options []CIFAROption) (*Images, error) {
	var c cifarConfig
	for _, option := range options {
		if option.set != nil {
			option.set(&c)
		}
	}
	if fsys == nil {
		return nil, fmt.Errorf("dataset: %s: the file system is nil", set.name)
	}
	if err := split.check(); err != nil {
		return nil, err
	}
	if c.files != nil && len(c.files) == 0 {
		return nil, errors.New("dataset: CIFARFiles(): want one file or more")
	}
	r := &cifarReader{fsys: fsys, set: set, limit: maxImageBytes, read: map[string]*cifarFile{}, names: make([][]string, len(set.labels))}
	wanted, err := r.readSplit(split, c.files)
	if err != nil {
		return nil, err
	}
	fields := make([]string, len(set.labels))
	for l := range fields {
		fields[l] = set.labels[l].field
	}
	p := newImages(Shape{3, cifarSide, cifarSide}, fields...)
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
