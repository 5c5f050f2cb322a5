package dataset

import (
	"context"
	"fmt"
	"slices"

	"gorgonia.org/tensor"
)

// Part is the part of a dataset that its makers set apart for one purpose.
type Part string

// The parts that [CIFAR10], [CIFAR100] and [MNIST] have.
const (
	Train Part = "train"
	Test  Part = "test"
)

func (p Part) check() error {
	if p != Train && p != Test {
		return fmt.Errorf("dataset: part %q: want %q or %q", string(p), Train, Test)
	}
	return nil
}

// maxPictures is how many bytes of pictures are read into memory at most.
const maxPictures = 1 << 30

// Pictures are small pictures of one size in memory with their labels, made by
// [CIFAR10], [CIFAR100] and [MNIST]. All workers share them.
//
// The field "image" is uint8 of shape (c, h, w), planes as PyTorch has them,
// and "label", int64, is the class. The transform package takes such pictures.
type Pictures struct {
	spec   Spec
	files  []pictureFile
	labels [][]int64 // per field after the picture
	names  [][]string
	n      int
}

// pictureFile is one file's pictures, a record each.
type pictureFile struct {
	name   string
	data   []byte
	record int // bytes from one to the next
	skip   int // bytes of labels before the picture
	end    int // of its samples among all
}

func newPictures(shape tensor.Shape, labels ...string) *Pictures {
	p := &Pictures{
		spec:   Spec{{Name: "image", Dtype: tensor.Uint8, Shape: shape}},
		labels: make([][]int64, len(labels)),
		names:  make([][]string, len(labels)),
	}
	for _, name := range labels {
		p.spec = append(p.spec, Field{Name: name, Dtype: tensor.Int64})
	}
	return p
}

// Len is the number of pictures.
func (p *Pictures) Len() int { return p.n }

// Spec is "image", uint8 (c, h, w), and "label", int64; CIFAR-100 adds "coarse".
func (p *Pictures) Spec() Spec { return p.spec }

// Classes are the names of the classes, by label, or nil where no file gives them.
func (p *Pictures) Classes() []string { return slices.Clone(p.names[0]) }

// CoarseClasses are the names of CIFAR-100's 20 superclasses, by the field
// "coarse", or nil where there are none.
func (p *Pictures) CoarseClasses() []string {
	if len(p.names) < 2 {
		return nil
	}
	return slices.Clone(p.names[1])
}

// Labels are the classes of all pictures in their order, for samplers that
// balance or stratify.
func (p *Pictures) Labels() []int {
	labels := make([]int, p.n)
	for i, label := range p.labels[0] {
		labels[i] = int(label)
	}
	return labels
}

// Name is the picture's file and its place in it, or "" if there is none.
func (p *Pictures) Name(i int) string {
	if CheckIndex(i, p.n) != nil {
		return ""
	}
	f, k := p.find(i)
	return fmt.Sprintf("%s, picture %d", f.name, k)
}

// find is the file of picture i, and its place in it.
func (p *Pictures) find(i int) (*pictureFile, int) {
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

// Open makes a Reader, which holds nothing.
func (p *Pictures) Open() (Reader, error) { return picturesReader{p}, nil }

type picturesReader struct{ *Pictures }

func (r picturesReader) Close() error { return nil }

func (r picturesReader) Place(_ context.Context, i int, dst Slot) error {
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
