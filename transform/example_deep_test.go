package transform_test

import (
	"context"
	"fmt"
	"log"
	"math/rand/v2"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/transform"
)

// Images of a satellite with 12 bands. Package dataset/npy reads such arrays from files, and
// TIFF files need only the name of their field.
func ExampleDepth16() {
	bands, err := dataset.Tensors(dataset.Named("image", dataset.TensorOf(make([]uint16, 10*12*264*264), 10, 12, 264, 264)))
	if err != nil {
		log.Fatal(err)
	}
	ds, err := transform.Images(bands, transform.Depth16(12),
		transform.RandomResizedCrop(224), transform.RandomHorizontalFlip(0.5),
		transform.ToTensor(), transform.Normalize([]float32{0.13}, []float32{0.09}))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(ds)
	// Output:
	// image uint16 (12, 264, 264) → image float32 (12, 224, 224)
	//   decode    Depth16(12), only the window that the steps need
	//   resample  RandomResizedCrop(224), RandomHorizontalFlip(0.5)
	//   store     ToTensor(), Normalize([0.13], [0.09]), float32 CHW
}

// A near keeps distances up to ten metres, in millimetres.
type near struct{}

func (near) ApplySample(s *transform.Sample, _ *rand.Rand) error {
	for i, v := range s.Planes.Pix {
		if v > 10000 {
			s.Planes.Pix[i] = 0
		}
	}
	return nil
}

// A depth map in millimetres keeps all its bits, and a step of one's own sees its values.
func ExampleApply_planes() {
	maps, err := dataset.Tensors(dataset.Named("image", dataset.TensorOf([]uint16{1000, 60000}, 1, 1, 2)))
	if err != nil {
		log.Fatal(err)
	}
	ds, err := transform.Images(maps, transform.Depth16(1), transform.RandomHorizontalFlip(1),
		transform.Apply(near{}), transform.Rescale(0.001))
	if err != nil {
		log.Fatal(err)
	}
	sample, err := dataset.At(context.Background(), ds, 0)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(sample["image"].Data())
	// Output: [0 1]
}
