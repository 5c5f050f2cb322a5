package parquet_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"testing/fstest"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/dataset/objects"
	"github.com/penstock-go/penstock/dataset/shards"
	"github.com/penstock-go/penstock/dataset/shards/parquet"
)

// A file that Hugging Face's datasets wrote, here in a folder. An HTTP server or a bucket
// is another Store.
func ExampleFormat() {
	ctx := context.Background()
	store := objects.Folder("testdata")
	index, err := shards.Scan(ctx, store, parquet.Format(), []string{"photos.parquet"})
	if err != nil {
		log.Fatal(err)
	}
	ds, err := shards.Open(store, index, []shards.Field{
		shards.Bytes("image", "image"), // for transform.Images
		shards.Scalar[int64]("label", "label"),
	})
	if err != nil {
		log.Fatal(err)
	}
	classes := parquet.Classes(index, "label")
	for i := range ds.Len() {
		sample, err := dataset.At(ctx, ds, i)
		if err != nil {
			log.Fatal(err)
		}
		label := dataset.ValuesOf[int64](sample["label"])[0]
		fmt.Println(ds.Name(i), sample["image"].Shape(), classes[label])
	}
	// Output:
	// photos.parquet/n03584829_iron.JPEG (2150) object-i-p
	// photos.parquet/n04254120_soap_dispenser.JPEG (2736) object-q-z
	// photos.parquet/n02089078_black-and-tan_coonhound.JPEG (3544) dog
}

// A folder of images becomes shards that Hugging Face's datasets loads, with its classes. A
// program that is killed and started again continues.
func ExampleWrite() {
	dir, err := os.MkdirTemp("", "parquet")
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
	columns := []parquet.Column{parquet.Image("image", "image"), parquet.ClassLabel("label", "label", images.Classes())}
	err = parquet.Write(ctx, filepath.Join(dir, "train-%05d.parquet"), images, columns, parquet.Paths(images.Name))
	if err != nil {
		log.Fatal(err)
	}

	store := objects.Folder(dir)
	index, err := shards.Scan(ctx, store, parquet.Format(), []string{"train-*.parquet"})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(index, parquet.Classes(index, "label"))
	// Output: parquet: 2 samples in 1 shards, 1 blocks [cat dog]
}
