package dataset_test

import (
	"bytes"
	"context"
	"fmt"
	"log"
	"math"
	"testing/fstest"

	"gorgonia.org/tensor"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/transform"
)

// colours are n pictures of one colour each, with their labels.
func colours(n, channels, side int, labels ...dataset.Values) dataset.Dataset {
	pixels := make([]uint8, n*channels*side*side)
	for i := range pixels {
		pixels[i] = uint8(20 * (i / (channels * side * side)))
	}
	image := tensor.New(tensor.WithShape(n, channels, side, side), tensor.WithBacking(pixels))
	ds, err := dataset.Tensors(append([]dataset.Values{dataset.Named("image", image)}, labels...)...)
	if err != nil {
		log.Fatal(err)
	}
	return ds
}

// CIFAR-10 on its way to a network.
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
	fmt.Println(test.Name(1), test.Labels(), test.Classes()[s["label"].Data().(int64)])
	// Output:
	// 3 image float32 (3, 32, 32), label int64 ()
	// test_batch.bin, picture 1 [3 8 3] ship
}

func ExampleCIFAR100() {
	var file bytes.Buffer
	ds := colours(2, 3, 32, dataset.Named("label", []int64{99, 7}), dataset.Named("coarse", []int64{19, 0}))
	if err := dataset.WriteCIFAR100(context.Background(), &file, ds); err != nil {
		log.Fatal(err)
	}
	// Usually os.DirFS("cifar-100-binary"), and no Files.
	fsys := fstest.MapFS{"mine.bin": {Data: file.Bytes()}}
	train, err := dataset.CIFAR100(fsys, dataset.Train, dataset.Files("mine.bin"), dataset.MemoryLimit(64<<20))
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

func ExampleMNIST() {
	var images, labels bytes.Buffer
	if err := dataset.WriteMNIST(context.Background(), &images, &labels, colours(3, 1, 28, dataset.Named("label", []int64{1, 26, 7}))); err != nil {
		log.Fatal(err)
	}
	// Usually os.DirFS("data/EMNIST/raw"), or without Prefix os.DirFS("data/MNIST/raw").
	fsys := fstest.MapFS{
		"emnist-letters-train-images-idx3-ubyte": {Data: images.Bytes()},
		"emnist-letters-train-labels-idx1-ubyte": {Data: labels.Bytes()},
	}
	train, err := dataset.MNIST(fsys, dataset.Train, dataset.Prefix("emnist-letters-"))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(train.Len(), train.Spec(), train.Labels())
	// Output: 3 image uint8 (1, 28, 28), label int64 () [1 26 7]
}

// A file of any type and rank.
func ExampleIDX() {
	ctx := context.Background()
	signals, err := dataset.Tensors(dataset.Named("signal", [][4]float32{{1, 2, 3, 4}, {5, 6, 7, 8}}))
	if err != nil {
		log.Fatal(err)
	}
	var file bytes.Buffer
	if err := dataset.WriteIDX(ctx, &file, signals, "signal"); err != nil {
		log.Fatal(err)
	}
	ds, err := dataset.IDX(fstest.MapFS{"signals-idx2-float": {Data: file.Bytes()}}, "signals-idx2-float", "x")
	if err != nil {
		log.Fatal(err)
	}
	s, err := dataset.At(ctx, ds, 1)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(ds.Len(), ds.Spec(), s["x"].Data())
	// Output: 2 x float32 (4) [5 6 7 8]
}

// Two arrays of NumPy's as the fields of one dataset.
func ExampleNpy() {
	ctx := context.Background()
	all, err := dataset.Tensors(
		dataset.Named("features", [][2]float32{{1, 2}, {3, 4}, {5, 6}}),
		dataset.Named("label", []int64{0, 1, 0}))
	if err != nil {
		log.Fatal(err)
	}
	fsys := fstest.MapFS{} // usually an os.DirFS
	for _, field := range []string{"features", "label"} {
		var file bytes.Buffer
		if err := dataset.WriteNpy(ctx, &file, all, field); err != nil {
			log.Fatal(err)
		}
		fsys[field+".npy"] = &fstest.MapFile{Data: file.Bytes()}
	}
	features, err := dataset.Npy(fsys, "features.npy", "x", dataset.MemoryLimit(1<<30))
	if err != nil {
		log.Fatal(err)
	}
	labels, err := dataset.Npy(fsys, "label.npy", "y")
	if err != nil {
		log.Fatal(err)
	}
	ds, err := dataset.Zip(features, labels)
	if err != nil {
		log.Fatal(err)
	}
	s, err := dataset.At(ctx, ds, 1)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(ds.Len(), ds.Spec())
	fmt.Println(s["x"].Data(), s["y"].Data())
	// Output:
	// 3 x float32 (2), y int64 ()
	// [3 4] 1
}

func ExampleNpyItems() {
	ctx := context.Background()
	fsys := fstest.MapFS{} // usually an os.DirFS
	for i, rows := range [][][2]float32{{{1, 2}, {3, 4}}, {{5, 6}, {7, 8}}} {
		item, err := dataset.Tensors(dataset.Named("x", rows))
		if err != nil {
			log.Fatal(err)
		}
		var file bytes.Buffer
		if err := dataset.WriteNpy(ctx, &file, item, "x"); err != nil {
			log.Fatal(err)
		}
		fsys[fmt.Sprintf("items/%d.npy", i)] = &fstest.MapFile{Data: file.Bytes()}
	}
	ds, err := dataset.NpyItems(fsys, "items/*.npy", "x")
	if err != nil {
		log.Fatal(err)
	}
	s, err := dataset.At(ctx, ds, 1)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(ds.Len(), ds.Spec(), dataset.Name(ds, 1), s["x"].Data())
	// Output: 2 x float32 (2, 2) items/1.npy [5 6 7 8]
}

func ExampleNpz() {
	ctx := context.Background()
	all, err := dataset.Tensors(
		dataset.Named("x_train", [][2]float32{{1, 2}, {3, 4}}),
		dataset.Named("y_train", []int64{0, 1}),
		dataset.Named("weights", []float64{.5, .5}))
	if err != nil {
		log.Fatal(err)
	}
	var file bytes.Buffer
	if err := dataset.WriteNpz(ctx, &file, all); err != nil {
		log.Fatal(err)
	}
	ds, err := dataset.Npz(fstest.MapFS{"train.npz": {Data: file.Bytes()}}, "train.npz", dataset.Members("x_train", "y_train"))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(ds.Len(), ds.Spec())
	// Output: 2 x_train float32 (2), y_train int64 ()
}

func ExampleCSV() {
	const iris = `sepal length,sepal width,petal length,species
5.1,3.5,1.4,setosa
7.0,3.2,4.7,versicolor
6.3,,6.0,virginica
4.9,3.0,1.4,setosa
`
	fsys := fstest.MapFS{"iris.csv": {Data: []byte(iris)}} // usually an os.DirFS
	table, err := dataset.CSV(fsys, "iris.csv", []dataset.CSVField{
		dataset.Vector[float32]("features", "sepal length", "sepal width"),
		dataset.Category("label", "species"),
	}, dataset.DropMissing())
	if err != nil {
		log.Fatal(err)
	}
	s, err := dataset.At(context.Background(), table, 1)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(table.Len(), table.Spec())
	fmt.Println(s["features"].Data(), s["label"].Data(), table.Classes("label"))
	fmt.Println(table.Name(2))
	// Output:
	// 3 features float32 (2), label int64 ()
	// [7 3.2] 1 [setosa versicolor]
	// iris.csv, line 5
}

// A file without names of columns, in which gaps are filled.
func ExampleNoHeader() {
	const people = "# age;smokes;note\n31;true;\"a; b\"\n?;false;c\n"
	table, err := dataset.CSV(fstest.MapFS{"people.csv": {Data: []byte(people)}}, "people.csv", []dataset.CSVField{
		dataset.Scalar[float64]("age", "0"),
		dataset.Scalar[bool]("smokes", "1"),
		dataset.Text("note", "2"),
	}, dataset.NoHeader(), dataset.Delimiter(';'), dataset.Comment('#'), dataset.Missing("?"), dataset.FillMissing(math.NaN()))
	if err != nil {
		log.Fatal(err)
	}
	for i := range table.Len() {
		s, err := dataset.At(context.Background(), table, i)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Printf("%v %v %s\n", s["age"].Data(), s["smokes"].Data(), s["note"].Data())
	}
	// Output:
	// 31 true a; b
	// NaN false c
}
