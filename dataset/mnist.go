package dataset

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"gorgonia.org/tensor"

	"github.com/penstock-go/penstock/internal/dense"
)

// An MNISTOption changes what [MNIST] does.
type MNISTOption interface{ mnist(*mnistConfig) }

type mnistConfig struct {
	limit  MemoryLimit
	prefix string
}

func (m MemoryLimit) mnist(c *mnistConfig) { c.limit = m }

type mnistOption func(*mnistConfig)

func (o mnistOption) mnist(c *mnistConfig) { o(c) }

// Prefix is what the files' names begin with: "emnist-letters-" for that split
// of EMNIST, whose splits share a folder.
func Prefix(prefix string) MNISTOption {
	return mnistOption(func(c *mnistConfig) { c.prefix = prefix })
}

// MNIST makes a dataset of the files of MNIST, Fashion-MNIST, KMNIST or EMNIST:
// fsys is the folder that they lie in, for torchvision's
// os.DirFS("data/MNIST/raw"). Pictures are gray, so "image" is uint8 (1, h, w).
//
// The files are train-images-idx3-ubyte and train-labels-idx1-ubyte, or with
// t10k or test instead of train for the test part, plain or compressed by gzip
// as .gz, and idx may follow a dot instead of a dash. Everything is read into
// memory and checked at once, as torchvision does.
//
// Pictures are as the files have them, and in EMNIST's the two sides of every
// picture are exchanged. Its split of letters counts classes from 1.
func MNIST(fsys fs.FS, part Part, options ...MNISTOption) (*Pictures, error) {
	c := mnistConfig{limit: defaultMemoryLimit}
	for _, option := range options {
		option.mnist(&c)
	}
	if err := errors.Join(part.check(), c.limit.check()); err != nil {
		return nil, err
	}
	images, err := findMNIST(fsys, part, c.prefix, "images", 3)
	if err != nil {
		return nil, err
	}
	labels, err := findMNIST(fsys, part, c.prefix, "labels", 1)
	if err != nil {
		return nil, err
	}
	x, err := openIDX(fsys, images, "image", &c.limit, true)
	if err != nil {
		return nil, err
	}
	y, err := openIDX(fsys, labels, "label", &c.limit, true)
	if err != nil {
		return nil, err
	}
	switch {
	case x.field.Dtype != tensor.Uint8 || len(x.field.Shape) != 2:
		return nil, readError(images, fmt.Errorf("samples are %v, want uint8 of two dimensions", x.field))
	case len(y.field.Shape) != 0:
		return nil, readError(labels, fmt.Errorf("samples are %v, want a number each", y.field))
	case x.n != y.n:
		return nil, fmt.Errorf("dataset: %s has %d pictures, %s has %d labels", images, x.n, labels, y.n)
	}
	p := newPictures(append(tensor.Shape{1}, x.field.Shape...), "label")
	p.n = x.n
	p.files = []pictureFile{{images, x.data, x.field.Bytes(), 0, x.n}}
	p.labels[0], err = integers(y)
	if err != nil {
		return nil, readError(labels, err)
	}
	return p, nil
}

// findMNIST finds the file of that content, which has so many dimensions.
func findMNIST(fsys fs.FS, part Part, prefix, content string, rank int) (string, error) {
	parts := []string{"train"}
	if part == Test {
		parts = []string{"t10k", "test"}
	}
	var tried []string
	for _, part := range parts {
		for _, separator := range []string{"-", "."} {
			for _, end := range []string{"", ".gz"} {
				name := fmt.Sprintf("%s%s-%s%sidx%d-ubyte%s", prefix, part, content, separator, rank, end)
				_, err := fs.Stat(fsys, name)
				if err == nil {
					return name, nil
				}
				if !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, fs.ErrInvalid) {
					return "", readError(name, err)
				}
				tried = append(tried, name)
			}
		}
	}
	return "", fmt.Errorf("dataset: MNIST: none of the files %s: %w", strings.Join(tried, ", "), fs.ErrNotExist)
}

// integers are the values of a field of whole numbers that is in memory.
func integers(a array) ([]int64, error) {
	switch a.field.Dtype {
	case tensor.Uint8:
		return widen(a.data), nil
	case tensor.Int8:
		return widen(dense.Values[int8](a.data)), nil
	case tensor.Int16:
		return widen(dense.Values[int16](a.data)), nil
	case tensor.Int32:
		return widen(dense.Values[int32](a.data)), nil
	}
	return nil, fmt.Errorf("labels of kind %v, want whole numbers", a.field.Dtype)
}

func widen[T int8 | uint8 | int16 | int32](from []T) []int64 {
	to := make([]int64, len(from))
	for i, v := range from {
		to[i] = int64(v)
	}
	return to
}
