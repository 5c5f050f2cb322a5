package dataset

import (
	"context"
	"fmt"
	"slices"
)

// A Split is the training or the test samples of a dataset, as its authors
// divided it.
type Split string

// The splits of [CIFAR10], [CIFAR100], [MNIST] and [EMNIST].
const (
	Train Split = "train"
	Test  Split = "test"
)

func (s Split) check() error {
	if s != Train && s != Test {
		return fmt.Errorf("dataset: split %q: want %q or %q", string(s), Train, Test)
	}
	return nil
}

// maxImageBytes is the maximum size of all images in memory.
const maxImageBytes = 1 << 30

// Images is a dataset of small images of one size, held in memory with their
// labels. [CIFAR10], [CIFAR100], [MNIST] and [EMNIST] return one. All workers
// share the memory.
//
// The field "image" is uint8 of shape (c, h, w), channels first as in PyTorch.
// "label", int64, is the class. The transform package accepts such images.
type Images struct {
	spec   Spec
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

func newImages(shape Shape, labels ...string) *Images {
	p := &Images{
		spec:   Spec{{Name: "image", Dtype: Uint8, Shape: shape, Kind: Image}},
		labels: make([][]int64, len(labels)),
		names:  make([][]string, len(labels)),
	}
	for _, name := range labels {
		p.spec = append(p.spec, Field{Name: name, Dtype: Int64})
	}
	return p
}

// Len is the number of images.
func (p *Images) Len() int { return p.n }

// Spec is "image", uint8 (c, h, w), and "label", int64; CIFAR-100 adds "coarse".
func (p *Images) Spec() Spec { return p.spec }

// Classes are the names of the classes; a label is an index into them. They are
// nil where no file gives the names.
func (p *Images) Classes() []string { return slices.Clone(p.names[0]) }

// CoarseClasses are the names of the 20 superclasses of CIFAR-100; the field
// "coarse" is an index into them. They are nil for other datasets and where no
// file gives the names.
func (p *Images) CoarseClasses() []string {
	if len(p.names) < 2 {
		return nil
	}
	return slices.Clone(p.names[1])
}

// Labels are the classes of all images, in the order of the images, for
// [StratifiedSplit] and samplers that balance classes.
func (p *Images) Labels() []int {
	labels := make([]int, p.n)
	for i, label := range p.labels[0] {
		labels[i] = int(label)
	}
	return labels
}

// Name is the image's file and its index there, "test_batch.bin, image 1", or
// "" if i is out of range.
func (p *Images) Name(i int) string {
	if CheckIndex(i, p.n) != nil {
		return ""
	}
	f, k := p.find(i)
	return fmt.Sprintf("%s, image %d", f.name, k)
}

// find is the file of image i, and its index there.
func (p *Images) find(i int) (*imageFile, int) {
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
func (p *Images) Open() (Reader, error) { return imagesReader{p}, nil }

type imagesReader struct{ *Images }

func (r imagesReader) Close() error { return nil }

func (r imagesReader) Place(_ context.Context, i int, dst Slot) error {
	if err := CheckIndex(i, r.n); err != nil {
		return err
	}
	f, k := r.find(i)
	image := dst.Cell(0).Bytes()
	copy(image, f.data[k*f.record+f.skip:][:len(image)])
	for l, labels := range r.labels {
		Set(dst, 1+l, labels[i])
	}
	return nil
}
