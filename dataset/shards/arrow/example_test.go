package arrow_test

import (
	"context"
	"fmt"
	"log"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/dataset/objects"
	"github.com/penstock-go/penstock/dataset/shards"
	"github.com/penstock-go/penstock/dataset/shards/arrow"
)

// The files that Hugging Face's save_to_disk wrote. A bucket is another Store.
func ExampleFormat() {
	ctx := context.Background()
	store := objects.Folder("testdata")
	index, err := shards.Scan(ctx, store, arrow.Format(arrow.Columns("image", "label")), []string{"photos-data-*.arrow"})
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
	classes := arrow.Classes(index, "label")
	for i := range ds.Len() {
		sample, err := dataset.At(ctx, ds, i)
		if err != nil {
			log.Fatal(err)
		}
		label := dataset.ValuesOf[int64](sample["label"])[0]
		fmt.Println(ds.Name(i), sample["image"].Shape(), classes[label])
	}
	// Output:
	// photos-data-00000-of-00002.arrow/n03584829_iron.JPEG (2150) object-i-p
	// photos-data-00000-of-00002.arrow/n04254120_soap_dispenser.JPEG (2736) object-q-z
	// photos-data-00001-of-00002.arrow/n02089078_black-and-tan_coonhound.JPEG (3544) dog
}
