package npy_test

import (
	"bytes"
	"context"
	"fmt"
	"log"
	"testing/fstest"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/dataset/npy"
)

// Two .npy files become the fields of one dataset.
func ExampleOpen() {
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
		if err := npy.Write(ctx, &file, all, field); err != nil {
			log.Fatal(err)
		}
		fsys[field+".npy"] = &fstest.MapFile{Data: file.Bytes()}
	}
	features, err := npy.Open(fsys, "features.npy", "x", npy.MaxBytes(1<<30))
	if err != nil {
		log.Fatal(err)
	}
	labels, err := npy.Open(fsys, "label.npy", "y")
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

// Every sample is a file.
func ExampleItems() {
	ctx := context.Background()
	fsys := fstest.MapFS{} // usually an os.DirFS
	for i, rows := range [][][2]float32{{{1, 2}, {3, 4}}, {{5, 6}, {7, 8}}} {
		item, err := dataset.Tensors(dataset.Named("x", rows))
		if err != nil {
			log.Fatal(err)
		}
		var file bytes.Buffer
		if err := npy.Write(ctx, &file, item, "x"); err != nil {
			log.Fatal(err)
		}
		fsys[fmt.Sprintf("items/%d.npy", i)] = &fstest.MapFile{Data: file.Bytes()}
	}
	ds, err := npy.Items(fsys, "items/*.npy", "x")
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

// Two of the three arrays of an .npz file become fields.
func ExampleOpenNpz() {
	ctx := context.Background()
	all, err := dataset.Tensors(
		dataset.Named("x_train", [][2]float32{{1, 2}, {3, 4}}),
		dataset.Named("y_train", []int64{0, 1}),
		dataset.Named("weights", []float64{.5, .5}))
	if err != nil {
		log.Fatal(err)
	}
	var file bytes.Buffer
	if err := npy.WriteNpz(ctx, &file, all); err != nil {
		log.Fatal(err)
	}
	ds, err := npy.OpenNpz(fstest.MapFS{"train.npz": {Data: file.Bytes()}}, "train.npz", []string{"x_train", "y_train"})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(ds.Len(), ds.Spec())
	// Output: 2 x_train float32 (2), y_train int64 ()
}
