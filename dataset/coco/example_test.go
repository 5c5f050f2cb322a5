package coco_test

import (
	"context"
	"fmt"
	"log"
	"testing/fstest"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/dataset/coco"
)

// The mask of a triangle in an image of 5×3 pixels.
func ExampleOpen() {
	fsys := fstest.MapFS{ // usually os.DirFS("coco")
		"val2017/1.jpg": {},
		"annotations/instances_val2017.json": {Data: []byte(`{
			"images": [{"id": 1, "file_name": "1.jpg", "height": 3, "width": 5}],
			"categories": [{"id": 18, "name": "dog"}],
			"annotations": [{"id": 7, "image_id": 1, "category_id": 18, "iscrowd": 0,
				"bbox": [0, 0, 5, 3], "area": 7.5, "segmentation": [[0, 0, 5, 0, 0, 3]]}]
		}`)},
	}
	ds, err := coco.Open(fsys, "annotations/instances_val2017.json", coco.Folder("val2017"), coco.Masks(256<<20), coco.WithoutCrowds())
	if err != nil {
		log.Fatal(err)
	}
	sample, err := dataset.At(context.Background(), ds, 0)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(ds.Categories()[0].Name, sample["label"].Data(), sample["boxes"].Data())
	mask := sample["masks"].Data().([]uint8)
	for y := range 3 {
		fmt.Println(mask[5*y : 5*y+5])
	}
	// Output:
	// dog [18] [0 0 5 3]
	// [1 1 1 1 0]
	// [1 1 0 0 0]
	// [1 0 0 0 0]
}
