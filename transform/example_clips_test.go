package transform_test

import (
	"fmt"
	"log"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/transform"
)

// A dataset of clips of 30 frames, of which a model takes 8. All frames of a clip have the same crop and the same flip.
func ExampleUniformTemporalSubsample() {
	clips, err := dataset.Tensors(dataset.Named("image", dataset.TensorOf(make([]uint8, 2*30*48*64*3), 2, 30, 48, 64, 3)))
	if err != nil {
		log.Fatal(err)
	}
	ds, err := transform.Images(clips, transform.UniformTemporalSubsample(8), transform.Train(32))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(ds)
	// Output:
	// image uint8 (30, 48, 64, 3) → image float32 (8, 3, 32, 32)
	//   decode    pixels to RGB, only the window that the steps need
	//   frames    8, all with the same draws
	//   resample  RandomResizedCrop(32), RandomHorizontalFlip(0.5)
	//   store     UniformTemporalSubsample(8), ToTensor(), Normalize([0.485 0.456 0.406], [0.229 0.224 0.225]), float32 CHW
}

// A server gets a clip as single frames.
func ExampleClip() {
	model, err := transform.Compile(transform.UniformTemporalSubsample(2), transform.Resize(4), transform.CenterCrop(4), transform.ToTensor())
	if err != nil {
		log.Fatal(err)
	}
	black, white := make([]uint8, 3*6*5), make([]uint8, 3*6*5)
	for i := range white {
		white[i] = 255
	}
	frames := []transform.Source{transform.RGB(black, 6, 5), transform.RGB(black, 6, 5), transform.RGB(white, 6, 5)}
	values := make([]float32, model.Spec()[0].Elements())
	if err := model.Into(values, transform.Clip(frames...)); err != nil {
		log.Fatal(err)
	}
	fmt.Println(model.Spec(), values[0], values[len(values)-1])
	// Output: image float32 (2, 3, 4, 4) 0 1
}
