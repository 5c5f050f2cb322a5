package dataset_test

import (
	"context"
	"fmt"
	"log"

	"github.com/penstock-go/penstock/dataset"
)

// digits are four images of four pixels with their labels.
func digits() dataset.Dataset {
	ds, err := dataset.Tensors(
		dataset.Named("image", [][4]uint8{{0, 51, 102, 255}, {1, 1, 1, 1}, {2, 2, 2, 2}, {3, 3, 3, 3}}),
		dataset.Named("label", []int64{2, 0, 1, 0}))
	if err != nil {
		log.Fatal(err)
	}
	return ds
}

func first(ds dataset.Dataset) dataset.Sample {
	s, err := dataset.At(context.Background(), ds, 0)
	if err != nil {
		log.Fatal(err)
	}
	return s
}

// Labels become one-hot vectors. The image is passed on.
func ExampleMap() {
	ds := digits()
	spec := dataset.Spec{ds.Spec()[0], {Name: "target", Dtype: dataset.Float32, Shape: dataset.Shape{3}}}
	oneHot, err := dataset.Map(ds, spec, func(dst, src dataset.Slot) error {
		dataset.Row[float32](dst, 1)[dataset.Row[int64](src, 1)[0]] = 1
		return nil
	})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(oneHot.Spec())
	fmt.Println(first(oneHot)["image"].Data(), first(oneHot)["target"].Data())
	// Output:
	// image uint8 (4), target float32 (3)
	// [0 51 102 255] [0 0 1]
}

// Bytes become floats from 0 to 1.
func ExampleMap_cast() {
	ds := digits()
	spec := dataset.Spec{{Name: "image", Dtype: dataset.Float32, Shape: dataset.Shape{4}}, ds.Spec()[1]}
	floats, err := dataset.Map(ds, spec, func(dst, src dataset.Slot) error {
		for k, v := range dataset.Row[uint8](src, 0) {
			dataset.Row[float32](dst, 0)[k] = float32(v) / 255
		}
		return nil
	})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(first(floats)["image"].Data(), first(floats)["label"].Data())
	// Output: [0 0.2 0.4 1] 2
}

// Select leaves the label out.
func ExampleSelect() {
	images, err := dataset.Select(digits(), "image")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(images.Spec())
	// Output: image uint8 (4)
}

// Rename lets Zip join two datasets with fields of the same name.
func ExampleRename() {
	images, err := dataset.Select(digits(), "image")
	if err != nil {
		log.Fatal(err)
	}
	other, err := dataset.Rename(images, map[string]string{"image": "other"})
	if err != nil {
		log.Fatal(err)
	}
	views, err := dataset.Zip(images, other)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(views.Spec())
	// Output: image uint8 (4), other uint8 (4)
}
