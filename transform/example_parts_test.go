package transform_test

import (
	"context"
	"fmt"
	"log"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/transform"
)

// A detector's samples: pixels with boxes and their labels. Package dataset/coco reads
// such fields from COCO's annotations.
func detections() dataset.Dataset {
	spec := dataset.Spec{
		{Name: "image", Dtype: dataset.Uint8, Shape: dataset.Shape{100, 200, 3}},
		{Name: "boxes", Dtype: dataset.Float32, Shape: dataset.Shape{4}, Ragged: true},
		{Name: "label", Dtype: dataset.Int64, Ragged: true},
	}
	return dataset.Func(1, spec, func(_ context.Context, _ int, dst dataset.Slot) error {
		clear(dataset.Row[uint8](dst, 0))
		copy(dataset.Grow[float32](dst, 1, 2), []float32{10, 20, 60, 50, 150, 10, 40, 30}) // XYWH
		copy(dataset.Grow[int64](dst, 2, 2), []int64{3, 7})
		return nil
	})
}

func ExampleBoxes() {
	ds, err := transform.Images(detections(),
		transform.Boxes("boxes", dataset.BoxesXYWH, transform.With("label")),
		transform.Crop(0, 0, 100, 100), transform.Resize([2]int{50, 50}),
		transform.SanitizeBoundingBoxes(), transform.ConvertBoundingBoxFormat(dataset.BoxesXYXY),
		transform.ToTensor())
	if err != nil {
		log.Fatal(err)
	}
	sample, err := dataset.At(context.Background(), ds, 0)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(sample["boxes"].Data(), sample["label"].Data())
	// Output: [5 10 35 35] [3]
}

func ExampleViews() {
	ds, err := transform.Images(detections(), // not used here
		transform.Views(2, transform.RandomResizedCrop(224, transform.Scale(0.4, 1)), transform.ToTensor(), transform.As("global")),
		transform.Views(8, transform.RandomResizedCrop(96, transform.Scale(0.05, 0.4)), transform.ToTensor(), transform.As("local")))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(ds)
	// Output:
	// image uint8 (100, 200, 3)
	//   decode    pixels to RGB, once, only the window in which all views are
	//   views     global float32 (2, 3, 224, 224)
	//     resample  RandomResizedCrop(224, Scale(0.4, 1))
	//     store     ToTensor(), float32 CHW
	//   views     local float32 (8, 3, 96, 96)
	//     resample  RandomResizedCrop(96, Scale(0.05, 0.4))
	//     store     ToTensor(), float32 CHW
	//   pass on   boxes float32 (n, 4), label int64 (n)
}

func ExampleFiveCrop() {
	ds, err := transform.Images(detections(), transform.Resize(80), transform.FiveCrop(64), transform.ToTensor())
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(ds.Spec()[0])
	fmt.Println(ds)
	// Output:
	// image float32 (5, 3, 64, 64)
	// image uint8 (100, 200, 3) → image float32 (5, 3, 64, 64)
	//   decode    pixels to RGB, only the window that the steps need
	//   resample  Resize(80)
	//   crops     FiveCrop(64)
	//   store     ToTensor(), float32 CHW
	//   pass on   boxes float32 (n, 4), label int64 (n)
}

func ExampleTenCrop() {
	ds, err := transform.Images(detections(), transform.TenCrop([2]int{64, 96}, transform.VerticalFlip()))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(ds.Spec()[0])
	// Output: image uint8 (10, 64, 96, 3)
}

// Pixels of a mask with 16 bits keep their numbers.
func ExampleDtype() {
	spec := dataset.Spec{
		{Name: "image", Dtype: dataset.Uint8, Shape: dataset.Shape{1, 3, 3}},
		{Name: "mask", Dtype: dataset.Uint16, Shape: dataset.Shape{1, 3}},
	}
	ds := dataset.Func(1, spec, func(_ context.Context, _ int, dst dataset.Slot) error {
		clear(dataset.Row[uint8](dst, 0))
		copy(dataset.Row[uint16](dst, 1), []uint16{7, 300, 65535})
		return nil
	})
	images, err := transform.Images(ds, transform.Mask("mask", transform.Dtype(dataset.Int64), transform.Fill(1000)), transform.RandomHorizontalFlip(1), transform.Pad([4]int{0, 0, 1, 0}))
	if err != nil {
		log.Fatal(err)
	}
	sample, err := dataset.At(context.Background(), images, 0)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(sample["mask"].Data())
	// Output: [65535 300 7 1000]
}
