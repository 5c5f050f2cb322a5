package transform_test

import (
	"context"
	"fmt"
	"log"
	"math/rand/v2"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/transform"
)

// anonymous paints the boxes of a sample black, such as those of faces.
type anonymous struct{}

func (anonymous) ApplySample(s *transform.Sample, _ *rand.Rand) error {
	img := s.Image
	for b := dataset.Row[float32](s.Fields, 0); len(b) >= 4; b = b[4:] {
		for y := int(b[1]); y < min(int(b[3]), img.Height); y++ {
			for x := int(b[0]); x < min(int(b[2]), img.Width); x++ {
				clear(img.Pix[4*(y*img.Width+x):][:3])
			}
		}
	}
	return nil
}

// A step of your own sees the boxes where the crop before it has moved them.
func ExampleApply_sample() {
	spec := dataset.Spec{
		{Name: "image", Dtype: dataset.Uint8, Shape: dataset.Shape{4, 6}},
		{Name: "faces", Dtype: dataset.Float32, Shape: dataset.Shape{4}, Ragged: true},
	}
	ds := dataset.Func(1, spec, func(_ context.Context, _ int, dst dataset.Slot) error {
		for k := range dataset.Row[uint8](dst, 0) {
			dataset.Row[uint8](dst, 0)[k] = 9
		}
		copy(dataset.Grow[float32](dst, 1, 1), []float32{2, 1, 4, 3})
		return nil
	})
	images, err := transform.Images(ds,
		transform.Boxes("faces", dataset.BoxesXYXY), transform.Crop(1, 1, 3, 5),
		transform.Apply(anonymous{}, "faces"), transform.Grayscale(1), transform.PILToTensor())
	if err != nil {
		log.Fatal(err)
	}
	sample, err := dataset.At(context.Background(), images, 0)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(sample["image"].Shape(), sample["image"].Data())
	// Output: (1, 3, 5) [9 0 0 9 9 9 0 0 9 9 9 9 9 9 9]
}

// fade darkens the background: all pixels whose class number is 0.
type fade struct{}

func (fade) ApplySample(s *transform.Sample, _ *rand.Rand) error {
	mask := dataset.Row[int64](s.Fields, 0) // for the pixels of s.Image
	for k, class := range mask {
		if class == 0 {
			clear(s.Image.Pix[4*k:][:3])
		}
	}
	return nil
}

// A step of your own sees the mask where the flip before it has moved it.
func ExampleApply_mask() {
	spec := dataset.Spec{
		{Name: "image", Dtype: dataset.Uint8, Shape: dataset.Shape{2, 4}},
		{Name: "mask", Dtype: dataset.Uint8, Shape: dataset.Shape{2, 4}},
	}
	ds := dataset.Func(1, spec, func(_ context.Context, _ int, dst dataset.Slot) error {
		copy(dataset.Row[uint8](dst, 0), []uint8{10, 20, 30, 40, 50, 60, 70, 80})
		copy(dataset.Row[uint8](dst, 1), []uint8{0, 0, 0, 3, 0, 0, 3, 3})
		return nil
	})
	images, err := transform.Images(ds,
		transform.Mask("mask", transform.Dtype(dataset.Int64)), transform.RandomHorizontalFlip(1),
		transform.Apply(fade{}, "mask"), transform.Grayscale(1), transform.PILToTensor())
	if err != nil {
		log.Fatal(err)
	}
	sample, err := dataset.At(context.Background(), images, 0)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(sample["image"].Data(), sample["mask"].Data())
	// Output: [40 0 0 0 80 70 0 0] [3 0 0 0 3 3 0 0]
}
