package classic_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log"
	"slices"
	"testing/fstest"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/dataset/classic"
	"github.com/penstock-go/penstock/dataset/idx"
	"github.com/penstock-go/penstock/transform"
)

// colour is an image of one colour in a file of CIFAR, after its labels.
func colour(level byte, labels ...byte) []byte {
	return append(labels, bytes.Repeat([]byte{level}, 3*32*32)...)
}

// idxFiles are black images and their labels in the format of MNIST.
func idxFiles(labels ...uint8) (images, classes []byte) {
	ds, err := dataset.Tensors(dataset.Named("image", dataset.TensorOf(make([]uint8, len(labels)*28*28), len(labels), 28, 28)), dataset.Named("label", labels))
	if err != nil {
		log.Fatal(err)
	}
	var x, y bytes.Buffer
	if err := errors.Join(idx.Write(context.Background(), &x, ds, "image"), idx.Write(context.Background(), &y, ds, "label")); err != nil {
		log.Fatal(err)
	}
	return x.Bytes(), y.Bytes()
}

// The test split of CIFAR-10 is read, and its pixels are normalised to -1 to 1.
func ExampleCIFAR10() {
	// Usually os.DirFS("cifar-10-batches-bin").
	fsys := fstest.MapFS{
		"test_batch.bin":   {Data: slices.Concat(colour(0, 3), colour(20, 8), colour(40, 3))},
		"batches.meta.txt": {Data: []byte("airplane\nautomobile\nbird\ncat\ndeer\ndog\nfrog\nhorse\nship\ntruck\n")},
	}
	test, err := classic.CIFAR10(fsys, classic.Test)
	if err != nil {
		log.Fatal(err)
	}
	ds, err := transform.Images(test, transform.ToTensor(), transform.Normalize([]float32{.5}, []float32{.5}))
	if err != nil {
		log.Fatal(err)
	}
	s, err := dataset.At(context.Background(), ds, 1)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(ds.Len(), ds.Spec())
	fmt.Println(test.Name(1), test.Labels(), test.Classes()[dataset.ValuesOf[int64](s["label"])[0]])
	fmt.Println(dataset.ValuesOf[float32](s["image"])[0]) // the byte is 20
	// Output:
	// 3 image float32 (3, 32, 32), label int64 ()
	// test_batch.bin, image 1 [3 8 3] ship
	// -0.84313726
}

func ExampleCIFAR100() {
	// Usually os.DirFS("cifar-100-binary").
	fsys := fstest.MapFS{"train.bin": {Data: slices.Concat(colour(0, 19, 99), colour(20, 0, 7))}}
	train, err := classic.CIFAR100(fsys, classic.Train)
	if err != nil {
		log.Fatal(err)
	}
	s, err := dataset.At(context.Background(), train, 0)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(train.Spec())
	fmt.Println(s["label"].Data(), s["coarse"].Data(), len(train.CoarseClasses()))
	// Output:
	// image uint8 (3, 32, 32), label int64 (), coarse int64 ()
	// 99 19 0
}

func ExampleEMNIST() {
	images, labels := idxFiles(1, 26, 7)
	// Usually os.DirFS("data/EMNIST/raw").
	fsys := fstest.MapFS{
		"emnist-letters-train-images-idx3-ubyte": {Data: images},
		"emnist-letters-train-labels-idx1-ubyte": {Data: labels},
	}
	train, err := classic.EMNIST(fsys, "letters", classic.Train)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(train.Len(), train.Spec(), train.Labels())
	// Output: 3 image uint8 (1, 28, 28), label int64 () [1 26 7]
}

// A folder as torchvision downloads it, with MNIST/raw in it.
func ExampleMNIST() {
	images, labels := idxFiles(5, 0, 4)
	// Usually os.DirFS("data").
	fsys := fstest.MapFS{
		"MNIST/raw/train-images-idx3-ubyte": {Data: images},
		"MNIST/raw/train-labels-idx1-ubyte": {Data: labels},
	}
	train, err := classic.MNIST(fsys, classic.Train)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(train.Len(), train.Spec(), train.Labels())
	// Output: 3 image uint8 (1, 28, 28), label int64 () [5 0 4]
}
