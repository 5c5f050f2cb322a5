package transform_test

import (
	"bytes"
	"context"
	"fmt"
	"image"
	"image/jpeg"
	"log"
	"math/rand/v2"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/transform"
	"github.com/penstock-go/penstock/transform/presets"
)

// gradient is one image of 6×8 pixels, red growing to the right and green
// downwards, with its label.
func gradient() dataset.Dataset {
	pix := make([]uint8, 0, 6*8*3)
	for y := range 6 {
		for x := range 8 {
			pix = append(pix, uint8(30*x), uint8(40*y), 0)
		}
	}
	ds, err := dataset.Tensors(
		dataset.Named("image", dataset.TensorOf(pix, 1, 6, 8, 3)),
		dataset.Named("label", []int64{3}))
	if err != nil {
		log.Fatal(err)
	}
	return ds
}

func first(steps ...transform.Item) dataset.Sample {
	ds, err := transform.Images(gradient(), steps...)
	if err != nil {
		log.Fatal(err)
	}
	sample, err := dataset.At(context.Background(), ds, 0)
	if err != nil {
		log.Fatal(err)
	}
	return sample
}

func ExampleImages() {
	ds, err := transform.Images(gradient(),
		transform.Resize(3), transform.CenterCrop(3),
		transform.ToTensor(), transform.Normalize(transform.ImageNetMean, transform.ImageNetStd))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(ds)
	fmt.Println(ds.Len(), ds.Spec())
	// Output:
	// image uint8 (6, 8, 3) → image float32 (3, 3, 3)
	//   decode    pixels to RGB, only the window that the steps need
	//   resample  Resize(3), CenterCrop(3)
	//   store     ToTensor(), Normalize([0.485 0.456 0.406], [0.229 0.224 0.225]), float32 CHW
	//   pass on   label int64 ()
	// 1 image float32 (3, 3, 3), label int64 ()
}

// blue sets a random amount of blue.
type blue struct{ most uint8 }

func (t blue) Apply(img *transform.Image, r *rand.Rand) error {
	amount := uint8(r.IntN(int(t.most) + 1))
	for i := 0; i < len(img.Pix); i += 4 {
		img.Pix[i+2] = amount
	}
	return nil
}

func ExampleApply() {
	sample := first(transform.CenterCrop(2), transform.Apply(blue{200}), transform.PILToTensor())
	fmt.Println(sample["image"].Shape(), sample["image"].Data())
	// Output: (3, 2, 2) [90 120 90 120 80 80 120 120 15 15 15 15]
}

// A server prepares the images that it receives, in a goroutine per request.
func ExampleCompile() {
	prepare, err := transform.Compile(transform.Resize(4), transform.CenterCrop(2), transform.ToTensor())
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(prepare.Spec())

	var upload bytes.Buffer
	if err := jpeg.Encode(&upload, image.NewGray(image.Rect(0, 0, 8, 6)), nil); err != nil {
		log.Fatal(err)
	}
	input := make([]float32, prepare.Spec()[0].Elements())
	if err := prepare.Into(input, transform.File(upload.Bytes())); err != nil {
		log.Fatal(err)
	}
	fmt.Println(input)
	fmt.Println(prepare.Into(input, transform.File([]byte("\x00\x00\x00 ftypavif"))))
	// Output:
	// image float32 (3, 2, 2)
	// [0 0 0 0 0 0 0 0 0 0 0 0]
	// transform: decode: AVIF, which penstock does not read
}

func ExampleCompiled_Append() {
	detector, err := presets.HuggingFace([]byte(`{
		"image_processor_type": "DetrImageProcessor", "size": {"shortest_edge": 80, "longest_edge": 133},
		"do_pad": true, "pad_size": null
	}`))
	if err != nil {
		log.Fatal(err)
	}
	p, err := transform.Compile(detector, transform.Ragged())
	if err != nil {
		log.Fatal(err)
	}
	var values []float32
	for _, width := range []int{120, 600} {
		var h, w int
		values, h, w, err = p.Append(values[:0], transform.RGB(make([]uint8, 3*120*width), width, 120))
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(h, w, len(values))
	}
	// Output:
	// 80 80 19200
	// 27 133 10773
}

func ExampleEval() {
	prepare, err := transform.Compile(transform.Eval(224))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(prepare)
	// Output:
	// file or pixels → image float32 (3, 224, 224)
	//   resample  Resize(256), CenterCrop(224)
	//   store     ToTensor(), Normalize([0.485 0.456 0.406], [0.229 0.224 0.225]), float32 CHW
}

// RandomErasing is not part of Train, but may follow it.
func ExampleTrain() {
	prepare, err := transform.Compile(transform.Train(224), transform.RandomErasing(0.25))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(prepare)
	// Output:
	// file or pixels → image float32 (3, 224, 224)
	//   resample  RandomResizedCrop(224), RandomHorizontalFlip(0.5)
	//   store     ToTensor(), Normalize([0.485 0.456 0.406], [0.229 0.224 0.225]), RandomErasing(0.25), float32 CHW
}
