package classic_test

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/dataset/classic"
	"github.com/penstock-go/penstock/internal/datatest"
)

func mnistFiles(prefix, images, labels string) fstest.MapFS {
	return fstest.MapFS{
		prefix + images: {Data: datatest.IDX(8, []int{3, 2, 2}, []byte{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12})},
		prefix + labels: {Data: datatest.IDX(8, []int{3}, []byte{7, 0, 255})},
	}
}

func TestMNISTFindsItsFiles(t *testing.T) {
	for _, c := range []struct {
		split          classic.Split
		variant        string
		images, labels string
		zip            bool
	}{
		{classic.Train, "", "train-images-idx3-ubyte", "train-labels-idx1-ubyte", false},
		{classic.Train, "", "train-images-idx3-ubyte.gz", "train-labels-idx1-ubyte.gz", true},
		{classic.Train, "", "train-images.idx3-ubyte", "train-labels.idx1-ubyte.gz", false},
		{classic.Test, "", "t10k-images-idx3-ubyte", "t10k-labels-idx1-ubyte", true},
		{classic.Test, "letters", "emnist-letters-test-images-idx3-ubyte.gz", "emnist-letters-test-labels-idx1-ubyte.gz", true},
	} {
		fsys := mnistFiles("", c.images, c.labels)
		if c.zip {
			for _, f := range fsys {
				f.Data = datatest.Gzip(f.Data)
			}
		}
		ds, err := classic.MNIST(fsys, c.split)
		if c.variant != "" {
			ds, err = classic.EMNIST(fsys, c.variant, c.split)
		}
		if err != nil {
			t.Error(err)
			continue
		}
		if got, want := ds.Spec().String(), "image uint8 (1, 2, 2), label int64 ()"; got != want {
			t.Errorf("spec %s, want %s", got, want)
		}
		s := datatest.Sample(t, ds, 1)
		if got, want := dataset.ValuesOf[uint8](s["image"]), []byte{5, 6, 7, 8}; !bytes.Equal(got, want) || dataset.ValuesOf[int64](s["label"])[0] != 0 {
			t.Errorf("%v with label %v, want %v with 0", got, s["label"].Data(), want)
		}
		if got, want := ds.Labels(), []int{7, 0, 255}; !slices.Equal(got, want) {
			t.Errorf("labels %v, want %v", got, want)
		}
		if got, want := ds.Name(2), c.images+", image 2"; got != want {
			t.Errorf("name %q, want %q", got, want)
		}
	}
}

func TestMNISTSaysWhatIsWrong(t *testing.T) {
	const x, y = "train-images-idx3-ubyte", "train-labels-idx1-ubyte"
	with := func(name string, data []byte) fstest.MapFS {
		fsys := mnistFiles("", x, y)
		fsys[name] = &fstest.MapFile{Data: data}
		return fsys
	}
	for _, c := range []struct {
		fsys fstest.MapFS
		want string
	}{
		{fstest.MapFS{}, "classic: MNIST: none of the files train-images-idx3-ubyte, train-images-idx3-ubyte.gz, train-images.idx3-ubyte, train-images.idx3-ubyte.gz: file does not exist, nor in raw or MNIST/raw"},
		{with(x, datatest.IDX(8, []int{2, 2, 2}, make([]byte, 8))), "classic: MNIST: train-images-idx3-ubyte has 2 images, train-labels-idx1-ubyte has 3 labels"},
		{with(x, datatest.IDX(9, []int{3, 2, 2}, make([]byte, 12))), "classic: read train-images-idx3-ubyte: an array of int8 [3 2 2], want images: uint8 of shape (n, h, w)"},
		{with(y, datatest.IDX(8, []int{3, 2}, make([]byte, 6))), "classic: read train-labels-idx1-ubyte: an array of uint8 [3 2], want labels: uint8 of shape (n)"},
		{with(y, datatest.IDX(13, []int{3}, make([]float32, 3))), "classic: read train-labels-idx1-ubyte: an array of float32 [3], want labels: uint8 of shape (n)"},
		{with(y, datatest.IDX(8, []int{3}, make([]byte, 2))), "classic: read train-labels-idx1-ubyte: header promises 3 bytes of data from byte 8, the file has 2: unexpected EOF"},
	} {
		_, err := classic.MNIST(c.fsys, classic.Train)
		if got := fmt.Sprint(err); got != c.want {
			t.Errorf("got  %s\nwant %s", got, c.want)
		}
	}
	for shape, want := range map[[3]int]string{
		{1 << 16, 256, 128}:               "2147483648 bytes of values, more than the 1073741824 that are left of the limit of 1073741824",
		{1<<31 - 1, 1<<31 - 1, 1<<31 - 1}: "shape [2147483647 2147483647 2147483647] is larger than any file",
		{0, 0, 5}:                         "field \"image\": shape (1, 0, 5) has a dimension below 1",
	} {
		size := int64(16)
		if shape[0] == 1<<16 {
			size += 1 << 31
		}
		fsys := datatest.Promising{FS: with(x+".gz", nil), Content: string(datatest.IDX(8, shape[:], []byte{})), Size: size}
		delete(fsys.FS.(fstest.MapFS), x)
		_, err := classic.MNIST(fsys, classic.Train)
		if got := fmt.Sprint(err); !strings.HasSuffix(got, want) {
			t.Errorf("got  %s\nwant … %s", got, want)
		}
	}
}

func TestMNISTLooksWhereTorchvisionPutsIt(t *testing.T) {
	const x, y = "t10k-images-idx3-ubyte", "t10k-labels-idx1-ubyte"
	for _, folder := range []string{"", "raw/", "MNIST/raw/"} {
		ds, err := classic.MNIST(mnistFiles(folder, x, y), classic.Test)
		if err != nil {
			t.Errorf("%q: %v", folder, err)
			continue
		}
		if got, want := ds.Name(2), folder+x+", image 2"; got != want {
			t.Errorf("name %q, want %q", got, want)
		}
	}
	both := mnistFiles("", x, y)
	for name, file := range mnistFiles("MNIST/raw/", x, y) {
		both[name] = &fstest.MapFile{Data: file.Data[:4]}
	}
	if _, err := classic.MNIST(both, classic.Test); err != nil {
		t.Errorf("files at hand are not taken first: %v", err)
	}
	letters := mnistFiles("EMNIST/raw/emnist-letters-", "test-images-idx3-ubyte", "test-labels-idx1-ubyte")
	if _, err := classic.EMNIST(letters, "letters", classic.Test); err != nil {
		t.Error(err)
	}
}
