package transform_test

import (
	"context"
	"fmt"
	"log"

	"gorgonia.org/tensor"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/transform"
)

// A detector's samples: pixels with boxes and their labels. Package dataset/coco reads
// such fields from COCO's annotations.
func detections() dataset.Dataset {
	spec := dataset.Spec{
		{Name: "image", Dtype: tensor.Uint8, Shape: tensor.Shape{100, 200, 3}},
		{Name: "boxes", Dtype: tensor.Float32, Shape: tensor.Shape{4}, Ragged: true},
		{Name: "label", Dtype: tensor.Int64, Ragged: true},
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
		transform.Boxes("boxes", transform.XYWH).With("label"),
		transform.Crop(0, 0, 100, 100), transform.Resize(50, 50),
		transform.SanitizeBoundingBoxes(), transform.ConvertBoundingBoxFormat(transform.XYXY),
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
	ds, err := transform.Images(detections(),
		transform.Views(2, transform.RandomResizedCrop(224).Scale(0.4, 1), transform.ToTensor()).As("global"),
		transform.Views(8, transform.RandomResizedCrop(96).Scale(0.05, 0.4), transform.ToTensor()).As("local"))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(ds)
	// Output:
	// image uint8 (100, 200, 3)
	//   decode    pixels to RGB, once, only the window in which all views are
	//   views     global float32 (2, 3, 224, 224)
	//     resample  RandomResizedCrop(224).Scale(0.4, 1)
	//     store     ToTensor(), float32 CHW
	//   views     local float32 (8, 3, 96, 96)
	//     resample  RandomResizedCrop(96).Scale(0.05, 0.4)
	//     store     ToTensor(), float32 CHW
}
