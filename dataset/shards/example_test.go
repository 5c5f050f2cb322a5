package shards_test

import (
	"context"
	"fmt"
	"log"

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
