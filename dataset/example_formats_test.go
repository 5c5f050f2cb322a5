package dataset_test

import (
	"bytes"
	"context"
	"fmt"
	"log"
	"testing/fstest"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/transform"
)

// colours are n images of one colour each, with their labels.
func colours(n, channels, side int, labels ...dataset.Values) dataset.Dataset {
	pixels := make([]uint8, n*channels*side*side)
	for i := range pixels {
		pixels[i] = uint8(20 * (i / (channels * side * side)))
	}
	image := dataset.TensorOf(pixels, n, channels, side, side)
	ds, err := dataset.Tensors(append([]dataset.Values{dataset.Named("image", image)}, labels...)...)
	if err != nil {
		log.Fatal(err)
	}
	return ds
}

// The test split of CIFAR-10 is read, and its pixels are normalised to -1 to 1.
func ExampleCIFAR10() {
	var batch bytes.Buffer
	if err := dataset.WriteCIFAR10(context.Background(), &batch, colours(3, 3, 32, dataset.Named("label", []int64{3, 8, 3}))); err != nil {
		log.Fatal(err)
	}
	// Usually os.DirFS("cifar-10-batches-bin").
	fsys := fstest.MapFS{
		"test_batch.bin":   {Data: batch.Bytes()},
		"batches.meta.txt": {Data: []byte("airplane\nautomobile\nbird\ncat\ndeer\ndog\nfrog\nhorse\nship\ntruck\n")},
	}
	test, err := dataset.CIFAR10(fsys, dataset.Test)
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
	var file bytes.Buffer
	ds := colours(2, 3, 32, dataset.Named("label", []int64{99, 7}), dataset.Named("coarse", []int64{19, 0}))
	if err := dataset.WriteCIFAR100(context.Background(), &file, ds); err != nil {
		log.Fatal(err)
	}
	// Usually os.DirFS("cifar-100-binary"), and no CIFARFiles.
	fsys := fstest.MapFS{"mine.bin": {Data: file.Bytes()}}
	train, err := dataset.CIFAR100(fsys, dataset.Train, dataset.CIFARFiles("mine.bin"))
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
	var images, labels bytes.Buffer
	if err := dataset.WriteMNIST(context.Background(), &images, &labels, colours(3, 1, 28, dataset.Named("label", []int64{1, 26, 7}))); err != nil {
		log.Fatal(err)
	}
	// Usually os.DirFS("data/EMNIST/raw").
	fsys := fstest.MapFS{
		"emnist-letters-train-images-idx3-ubyte": {Data: images.Bytes()},
		"emnist-letters-train-labels-idx1-ubyte": {Data: labels.Bytes()},
	}
	train, err := dataset.EMNIST(fsys, "letters", dataset.Train)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(train.Len(), train.Spec(), train.Labels())
	// Output: 3 image uint8 (1, 28, 28), label int64 () [1 26 7]
}

// A folder as torchvision downloads it, with MNIST/raw in it.
func ExampleMNIST() {
	var images, labels bytes.Buffer
	if err := dataset.WriteMNIST(context.Background(), &images, &labels, colours(3, 1, 28, dataset.Named("label", []int64{5, 0, 4}))); err != nil {
		log.Fatal(err)
	}
	// Usually os.DirFS("data").
	fsys := fstest.MapFS{
		"MNIST/raw/train-images-idx3-ubyte": {Data: images.Bytes()},
		"MNIST/raw/train-labels-idx1-ubyte": {Data: labels.Bytes()},
	}
	train, err := dataset.MNIST(fsys, dataset.Train)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(train.Len(), train.Spec(), train.Labels())
	// Output: 3 image uint8 (1, 28, 28), label int64 () [5 0 4]
}
