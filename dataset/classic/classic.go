// Package classic reads the small datasets that papers and courses begin with: CIFAR-10 and CIFAR-100, and MNIST with
// those in its format (Fashion-MNIST, KMNIST, EMNIST), as their authors and torchvision store them.
package classic

import (
	"context"
	"fmt"
	"slices"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/internal/files"
)

// A Split is the training or the test samples of a dataset, as its authors
// divided it.
type Split string

// The splits of all datasets of this package.
const (
	Train Split = "train"
	Test  Split = "test"
)

func (s Split) check() error {
	if s != Train && s != Test {
		return fmt.Errorf("classic: split %q: want %q or %q", string(s), Train, Test)
	}
	return nil
}

// maxBytes is the maximum size of all images in memory.
const maxBytes = 1 << 30

// A Dataset holds small images of one size and their labels in memory, which all
// workers share.
//
// The field "image" is uint8 of shape (c, h, w), channels first as in PyTorch.
// "label", int64, is the class. Package transform accepts such images.
type Dataset struct {
	spec   dataset.Spec
	files  []imageFile
	labels [][]int64 // per field after the image
	names  [][]string
	n      int
}

// imageFile is one file's images, a record each.
type imageFile struct {
	name   string
	data   []byte
	record int // bytes from one to the next
	skip   int // bytes of labels before the image
	end    int // of its samples among all
}

func newDataset(shape dataset.Shape, labels ...string) *Dataset {
	p := &Dataset{
		spec:   dataset.Spec{{Name: "image", Dtype: dataset.Uint8, Shape: shape, Kind: dataset.Image}},
		labels: make([][]int64, len(labels)),
		names:  make([][]string, len(labels)),
	}
	for _, name := range labels {
		p.spec = append(p.spec, dataset.Field{Name: name, Dtype: dataset.Int64})
	}
	return p
}

// Len is the number of images.
func (p *Dataset) Len() int { return p.n }

// Spec is "image", uint8 (c, h, w), and "label", int64; CIFAR-100 adds "coarse".
func (p *Dataset) Spec() dataset.Spec { return p.spec }

// Classes are the names of the classes; a label is an index into them. They are
// nil where no file gives the names.
func (p *Dataset) Classes() []string { return slices.Clone(p.names[0]) }

// CoarseClasses are the names of the 20 superclasses of CIFAR-100; the field
// "coarse" is an index into them. They are nil for other datasets and where no
// file gives the names.
func (p *Dataset) CoarseClasses() []string {
	if len(p.names) < 2 {
		return nil
	}
	return slices.Clone(p.names[1])
}

// Labels are the classes of all images, in the order of the images, for
// [dataset.StratifiedSplit] and samplers that balance classes.
func (p *Dataset) Labels() []int {
	labels := make([]int, p.n)
	for i, label := range p.labels[0] {
		labels[i] = int(label)
	}
	return labels
}

// Name is the image's file and its index there, "test_batch.bin, image 1", or
// "" if i is out of range.
func (p *Dataset) Name(i int) string {
	if dataset.CheckIndex(i, p.n) != nil {
		return ""
	}
	f, k := p.find(i)
	return fmt.Sprintf("%s, image %d", f.name, k)
}

// find is the file of image i, and its index there.
func (p *Dataset) find(i int) (*imageFile, int) {
	begin := 0
	for k := range p.files {
		f := &p.files[k]
		if i < f.end {
			return f, i - begin
		}
		begin = f.end
	}
	panic("unreachable: the last file ends at p.n")
}

// Open makes a Reader. It holds no resources.
func (p *Dataset) Open() (dataset.Reader, error) { return reader{p}, nil }

type reader struct{ *Dataset }

func (r reader) Close() error { return nil }

func (r reader) Place(_ context.Context, i int, dst dataset.Slot) error {
	if err := dataset.CheckIndex(i, r.n); err != nil {
		return err
	}
	f, k := r.find(i)
	image := dst.Cell(0).Bytes()
	copy(image, f.data[k*f.record+f.skip:][:len(image)])
	for l, labels := range r.labels {
		dataset.Set(dst, 1+l, labels[i])
	}
	return nil
}

// readError says which file could not be read. It does not repeat a name that
// err already has.
func readError(name string, err error) error {
	return fmt.Errorf("classic: read %s: %w", name, files.Cause(err))
}
