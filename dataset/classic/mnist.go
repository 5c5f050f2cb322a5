package classic

import (
	"errors"
	"fmt"
	"io/fs"
	"reflect"
	"strings"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/internal/files"
)

// MNIST makes a dataset of the files of MNIST, Fashion-MNIST or KMNIST. fsys is the folder
// that holds them, compressed by gzip or not, or a folder where they are in raw or MNIST/raw,
// as torchvision downloads them: os.DirFS("data"), os.DirFS("data/FashionMNIST"). Images are
// grey, so "image" is uint8 (1, h, w).
//
// All files, together at most 1 GiB, are read into memory and checked before MNIST returns.
func MNIST(fsys fs.FS, split Split) (*Dataset, error) { return readMNIST(fsys, split, "MNIST", "") }

// EMNIST is [MNIST] for a variant of EMNIST: "balanced", "byclass", "bymerge",
// "digits", "letters" or "mnist" (the argument split of torchvision's EMNIST).
// All variants share one folder, EMNIST/raw in torchvision.
//
// Images are as the files store them, with rows and columns exchanged. The
// classes of "letters" begin at 1.
func EMNIST(fsys fs.FS, variant string, split Split) (*Dataset, error) {
	return readMNIST(fsys, split, "EMNIST", "emnist-"+variant+"-")
}

// readMNIST reads the files whose names begin with prefix, in fsys or where
// torchvision puts what it downloads.
func readMNIST(fsys fs.FS, split Split, folder, prefix string) (*Dataset, error) {
	if fsys == nil {
		return nil, fmt.Errorf("classic: %s: the file system is nil", folder)
	}
	if err := split.check(); err != nil {
		return nil, err
	}
	folder, err := findMNISTFolder(fsys, split, folder, prefix)
	if err != nil {
		return nil, err
	}
	images, err := findMNIST(fsys, split, folder+prefix, "images", 3)
	if err != nil {
		return nil, err
	}
	labels, err := findMNIST(fsys, split, folder+prefix, "labels", 1)
	if err != nil {
		return nil, err
	}
	limit := int64(maxBytes)
	x, err := readIDX(fsys, images, &limit)
	if err == nil && (x.kind != reflect.Uint8 || len(x.shape) != 3) {
		err = fmt.Errorf("an array of %v %v, want images: uint8 of shape (n, h, w)", x.kind, x.shape)
	}
	if err != nil {
		return nil, readError(images, err)
	}
	p := newDataset(dataset.Shape{1, x.shape[1], x.shape[2]}, "label")
	if err := p.spec.Validate(); err != nil {
		return nil, readError(images, err)
	}
	y, err := readIDX(fsys, labels, &limit)
	if err == nil && (y.kind != reflect.Uint8 || len(y.shape) != 1) {
		err = fmt.Errorf("an array of %v %v, want labels: uint8 of shape (n)", y.kind, y.shape)
	}
	if err != nil {
		return nil, readError(labels, err)
	}
	for _, label := range y.data {
		p.labels[0] = append(p.labels[0], int64(label))
	}
	p.n = x.shape[0]
	if n := y.shape[0]; n != p.n {
		return nil, fmt.Errorf("classic: MNIST: %s has %d images, %s has %d labels", images, p.n, labels, n)
	}
	p.files = []imageFile{{images, x.data, p.spec[0].Bytes(), 0, p.n}}
	return p, nil
}

// findMNISTFolder is the folder of the images with a slash at its end, "" for fsys
// itself, or one of torchvision's folders.
func findMNISTFolder(fsys fs.FS, split Split, folder, prefix string) (string, error) {
	var missing error // from fsys itself
	for _, at := range []string{"", "raw/", folder + "/raw/"} {
		_, err := findMNIST(fsys, split, at+prefix, "images", 3)
		if err == nil || !errors.Is(err, fs.ErrNotExist) {
			return at, err
		}
		if missing == nil {
			missing = err
		}
	}
	return "", fmt.Errorf("%w, nor in raw or %s/raw", missing, folder)
}

// findMNIST finds the file of images or labels; rank is its number of dimensions.
func findMNIST(fsys fs.FS, split Split, prefix, content string, rank int) (string, error) {
	words := []string{"train"}
	if split == Test {
		words = []string{"t10k", "test"}
	}
	var tried []string
	for _, word := range words {
		for _, separator := range []string{"-", "."} {
			for _, end := range []string{"", ".gz"} {
				name := fmt.Sprintf("%s%s-%s%sidx%d-ubyte%s", prefix, word, content, separator, rank, end)
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
	return "", fmt.Errorf("classic: MNIST: none of the files %s: %w", strings.Join(tried, ", "), fs.ErrNotExist)
}

// idxArray is an array in memory.
type idxArray struct {
	kind  reflect.Kind
	shape []int
	data  []byte
}

// readIDX reads a whole file of bytes, and of any other only the header. It subtracts its size from the limit.
func readIDX(fsys fs.FS, name string, limit *int64) (a idxArray, err error) {
	in, err := files.OpenInput(fsys, name)
	if err != nil {
		return a, err
	}
	defer in.Close()
	kind, shape, err := files.ReadIDXHeader(in)
	if err != nil {
		return a, err
	}
	if kind != reflect.Uint8 {
		return idxArray{kind, shape, nil}, nil
	}
	size := int64(1)
	for _, d := range shape {
		if d > 0 && size > (1<<62)/int64(d) {
			return a, fmt.Errorf("shape %v is larger than any file", shape)
		}
		size *= int64(d)
	}
	if err := in.Holds(size); err != nil {
		return a, err
	}
	if size > *limit {
		return a, fmt.Errorf("%d bytes of values, more than the %d that are left of the limit of %d", size, *limit, maxBytes)
	}
	data, err := in.Rest(size)
	if err != nil {
		return a, err
	}
	*limit -= size
	return idxArray{kind, shape, data}, nil
}
