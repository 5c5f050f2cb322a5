package shards_test

import (
	"bytes"
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"testing/fstest"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/dataset/objects"
	"github.com/penstock-go/penstock/dataset/shards"
	"github.com/penstock-go/penstock/sampler"
)

// Tar files of WebDataset, here in a folder. An HTTP server or a bucket is another Store.
func Example() {
	ctx := context.Background()
	store := objects.Folder("testdata/webdataset")
	index, err := shards.Scan(ctx, store, shards.WebDataset(), []string{"train-{000000..000000}.tar"})
	if err != nil {
		log.Fatal(err)
	}
	ds, err := shards.Open(store, index, []shards.Field{
		shards.Bytes("image", "jpg", "png"),
		shards.Scalar[int64]("label", "cls"),
		shards.Array[float32]("box", []int{2, 2}, "box.npy"),
	})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(ds.Spec())
	order := sampler.Grouped(ds.Ends(), 1, sampler.Together(64)).Epoch(0)
	for k := range order.Len() {
		sample, err := dataset.At(ctx, ds, order.At(k))
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(ds.Name(order.At(k)), sample["image"].Shape(), sample["label"])
	}
	// Output:
	// image uint8 (n), label int64 (), box float32 (2, 2)
	// train-000000.tar/n03584829_iron (2150) 7
	// train-000000.tar/n02089078_black-and-tan_coonhound (3544) 1
	// train-000000.tar/n04254120_soap_dispenser (2736) 8
}

// Any dataset becomes shards. A program that is killed and started again continues.
func ExampleWriteTar() {
	dir, err := os.MkdirTemp("", "shards")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	ctx := context.Background()
	images, err := dataset.ImageFolder(fstest.MapFS{
		"cat/tom.jpg": {Data: []byte("\xff\xd8 tom")}, "dog/pluto.jpg": {Data: []byte("\xff\xd8 pluto")},
	})
	if err != nil {
		log.Fatal(err)
	}
	columns := []shards.Column{{Field: "image", Extension: "jpg"}, {Field: "label", Extension: "cls"}}
	if err := shards.WriteTar(ctx, filepath.Join(dir, "train-%06d.tar"), images, columns, shards.MaxShardBytes(64<<20)); err != nil {
		log.Fatal(err)
	}

	store := objects.Folder(dir)
	index, err := shards.Scan(ctx, store, shards.WebDataset(), []string{"train-000000.tar"})
	if err != nil {
		log.Fatal(err)
	}
	var saved bytes.Buffer // an index is saved next to its shards, so that no other program scans them
	if _, err := index.WriteTo(&saved); err != nil {
		log.Fatal(err)
	}
	index, err = shards.ReadIndex(&saved, shards.WebDataset())
	if err != nil {
		log.Fatal(err)
	}
	ds, err := shards.Open(store, index, []shards.Field{shards.Bytes("image", "jpg"), shards.Scalar[int64]("label", "cls")})
	if err != nil {
		log.Fatal(err)
	}
	for i := range ds.Len() {
		sample, err := dataset.At(ctx, ds, i)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(ds.Name(i), sample["image"].Shape(), sample["label"])
	}
	// Output:
	// train-000000.tar/000000000 (6) 0
	// train-000000.tar/000000001 (8) 1
}

// A program that is started again reads the index that it has saved.
func ExampleOpenSaved() {
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	store := objects.Folder("testdata/tfrecord")
	for range 2 {
		ds, err := shards.OpenSaved(ctx, store, shards.TFRecord(), []string{"train.tfrecord"}, filepath.Join(dir, "train.index"), []shards.Field{
			shards.Bytes("image", "image"),
			shards.Scalar[int64]("label", "label"),
			shards.Ragged[int64]("tokens", nil, "tokens"),
		})
		if err != nil {
			log.Fatal(err)
		}
		sample, err := dataset.At(ctx, ds, 1)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(ds.Name(1), sample["image"].Shape(), sample["label"], sample["tokens"])
	}
	// Output:
	// train.tfrecord, sample 1 (2736) 8 [-7 -8]
	// train.tfrecord, sample 1 (2736) 8 [-7 -8]
}
