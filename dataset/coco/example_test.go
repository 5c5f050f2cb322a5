package coco_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"log"
	"testing/fstest"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/dataset/coco"
	"github.com/penstock-go/penstock/transform"
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
	ds, err := coco.Open(fsys, "annotations/instances_val2017.json", coco.ImagesIn("val2017"), coco.Masks(256<<20), coco.WithoutCrowds())
	if err != nil {
		log.Fatal(err)
	}
	sample, err := dataset.At(context.Background(), ds, 0)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(ds.Categories()[0].Name, sample["label"].Data(), sample["boxes"].Data())
	mask := dataset.ValuesOf[uint8](sample["masks"])
	for y := range 3 {
		fmt.Println(mask[5*y : 5*y+5])
	}
	// Output:
	// dog [18] [0 0 5 3]
	// [1 1 1 1 0]
	// [1 1 0 0 0]
	// [1 0 0 0 0]
}

// The ids of panoptic segments move with their image.
func ExamplePanoptic() {
	ids := image.NewNRGBA(image.Rect(0, 0, 3, 1))
	for x, id := range []int{300, 300, 7} {
		ids.SetNRGBA(x, 0, color.NRGBA{uint8(id), uint8(id >> 8), uint8(id >> 16), 255})
	}
	var photo, segments bytes.Buffer
	if err := errors.Join(png.Encode(&photo, image.NewGray(ids.Rect)), png.Encode(&segments, ids)); err != nil {
		log.Fatal(err)
	}
	fsys := fstest.MapFS{ // usually os.DirFS("coco")
		"val2017/1.jpg":          {Data: photo.Bytes()},
		"panoptic_val2017/1.png": {Data: segments.Bytes()},
		"panoptic_val2017.json": {Data: []byte(`{
			"images": [{"id": 1, "file_name": "1.jpg", "height": 1, "width": 3}],
			"categories": [{"id": 18, "name": "dog", "isthing": 1}, {"id": 187, "name": "sky", "isthing": 0}],
			"annotations": [{"image_id": 1, "file_name": "1.png", "segments_info": [
				{"id": 300, "category_id": 187, "iscrowd": 0, "bbox": [0, 0, 2, 1], "area": 2},
				{"id": 7, "category_id": 18, "iscrowd": 0, "bbox": [2, 0, 1, 1], "area": 1}]}]
		}`)},
	}
	ds, err := coco.Open(fsys, "panoptic_val2017.json", coco.ImagesIn("val2017"), coco.Panoptic("panoptic_val2017"))
	if err != nil {
		log.Fatal(err)
	}
	images, err := transform.Images(ds, transform.RandomHorizontalFlip(1), transform.CenterCrop([2]int{1, 3}), transform.ToTensor())
	if err != nil {
		log.Fatal(err)
	}
	sample, err := dataset.At(context.Background(), images, 0)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(sample["segments"].Data(), sample["id"].Data(), sample["label"].Data())
	// Output: [7 300 300] [300 7] [187 18]
}

// Labels from 0 on, and the keypoints of persons. The third image has no object.
func ExampleKeyPoints() {
	fsys := fstest.MapFS{
		"1.jpg": {}, "2.jpg": {}, "3.jpg": {},
		"persons.json": {Data: []byte(`{
			"images": [{"id": 1, "file_name": "1.jpg"}, {"id": 2, "file_name": "2.jpg"}, {"id": 3, "file_name": "3.jpg"}],
			"categories": [{"id": 1, "name": "person", "keypoints": ["nose", "left eye"]}, {"id": 18, "name": "dog"}],
			"annotations": [
				{"id": 5, "image_id": 1, "category_id": 1, "bbox": [0, 0, 9, 9], "area": 40, "iscrowd": 0, "keypoints": [4, 3, 2, 5, 2, 1]},
				{"id": 6, "image_id": 2, "category_id": 18, "bbox": [2, 2, 5, 5], "area": 20, "iscrowd": 0}]
		}`)},
	}
	ds, err := coco.Open(fsys, "persons.json", coco.KeyPoints(2), coco.Contiguous(), coco.WithoutEmpty())
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(ds.Len(), "images,", ds.Objects(), "objects,", ds.Categories()[0].KeyPoints)
	for i := range ds.Len() {
		sample, err := dataset.At(context.Background(), ds, i)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(ds.Name(i), sample["label"].Data(), sample["keypoints"].Data())
	}
	// Output:
	// 2 images, 2 objects, [nose left eye]
	// 1.jpg [0] [4 3 2 5 2 1]
	// 2.jpg [1] [0 0 0 0 0 0]
}
