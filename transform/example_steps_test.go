package transform_test

import (
	"fmt"
	"log"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/transform"
)

func ExampleResize() {
	filters := []transform.Filter{transform.Bilinear, transform.Nearest, transform.Box,
		transform.Bicubic, transform.Lanczos, transform.Hamming}
	for _, f := range filters {
		sample := first(transform.Resize(5, transform.MaxSize(7), transform.Interpolation(f)), transform.CenterCrop(1))
		fmt.Println(f, sample["image"].Data())
	}
	// Output:
	// bilinear [85 100 0]
	// nearest [90 120 0]
	// box [90 100 0]
	// bicubic [85 100 0]
	// lanczos [85 100 0]
	// hamming [86 100 0]
}

func ExampleRandomResizedCrop() {
	step := transform.RandomResizedCrop([2]int{4, 3}, transform.Scale(0.5, 1), transform.Ratio(1, 2), transform.Interpolation(transform.Bicubic))
	fmt.Println(step)
	fmt.Println(first(step)["image"].Shape())
	// Output:
	// RandomResizedCrop([4 3], Scale(0.5, 1), Ratio(1, 2), Interpolation(bicubic))
	// (4, 3, 3)
}

func ExampleRandomCrop() {
	step := transform.RandomCrop(9, transform.Padding(1), transform.PadIfNeeded(), transform.Fill(1, 2, 3), transform.PaddingMode(transform.Edge))
	fmt.Println(step)
	fmt.Println(first(step)["image"].Shape())
	// Output:
	// RandomCrop(9, Padding(1), PadIfNeeded(), Fill(1, 2, 3), PaddingMode(edge))
	// (9, 9, 3)
}

func ExamplePad() {
	modes := []transform.PadMode{transform.Constant, transform.Edge, transform.Reflect, transform.Symmetric}
	for _, m := range modes {
		sample := first(transform.CenterCrop([2]int{1, 4}), transform.Pad([2]int{2, 0}, transform.Fill(255, 0, 0), transform.PaddingMode(m)), transform.PILToTensor())
		fmt.Println(m, dataset.ValuesOf[uint8](sample["image"])[:8])
	}
	// Output:
	// constant [255 255 60 90 120 150 255 255]
	// edge [60 60 60 90 120 150 150 150]
	// reflect [120 90 60 90 120 150 120 90]
	// symmetric [90 60 60 90 120 150 150 120]
}

// One orange pixel with four seeds. In a loader every sample has random numbers of its own.
func ExampleColorJitter() {
	jitter, err := transform.Compile(transform.CenterCrop(1), transform.ColorJitter(0.4, 0.4, 0.4, 0.1))
	if err != nil {
		log.Fatal(err)
	}
	orange := transform.RGB([]uint8{200, 120, 40}, 1, 1)
	pixel := make([]uint8, 3)
	for seed := range uint64(4) {
		if err := jitter.IntoBytes(pixel, orange.Seed(seed)); err != nil {
			log.Fatal(err)
		}
		fmt.Println(pixel)
	}
	// Output:
	// [194 149 41]
	// [215 13 27]
	// [131 101 57]
	// [196 5 14]
}

// Two pixels, and both made grey: with one channel, and with three as RandomGrayscale does.
func ExampleGrayscale() {
	fmt.Println(first(transform.Crop(2, 1, 1, 2))["image"].Data())
	fmt.Println(first(transform.Crop(2, 1, 1, 2), transform.Grayscale(1))["image"].Data())
	fmt.Println(first(transform.Crop(2, 1, 1, 2), transform.RandomGrayscale(1))["image"].Data())
	// Output:
	// [30 80 0 60 80 0]
	// [56 65]
	// [56 56 56 65 65 65]
}

func ExampleRandomHorizontalFlip() {
	fmt.Println(first(transform.Crop(2, 1, 1, 2))["image"].Data())
	fmt.Println(first(transform.Crop(2, 1, 1, 2), transform.RandomHorizontalFlip(1))["image"].Data())
	// Output:
	// [30 80 0 60 80 0]
	// [60 80 0 30 80 0]
}

func ExampleRandomVerticalFlip() {
	fmt.Println(first(transform.Crop(2, 1, 2, 1))["image"].Data())
	fmt.Println(first(transform.Crop(2, 1, 2, 1), transform.RandomVerticalFlip(1))["image"].Data())
	// Output:
	// [30 80 0 30 120 0]
	// [30 120 0 30 80 0]
}

func ExampleRandomErasing() {
	step := transform.RandomErasing(1, transform.Scale(0.1, 0.2), transform.Ratio(0.5, 2), transform.Value(9))
	fmt.Println(step)
	sample := first(transform.ToTensor(), step)
	erased := 0
	for _, v := range dataset.ValuesOf[float32](sample["image"]) {
		if v == 9 {
			erased++
		}
	}
	fmt.Println(erased > 0, transform.RandomErasing(0.5, transform.RandomValue()))
	// Output:
	// RandomErasing(1, Scale(0.1, 0.2), Ratio(0.5, 2), Value(9))
	// true RandomErasing(0.5, RandomValue())
}

func ExampleCrop() {
	// The top left pixel of the crop is the gradient's at row 2, column 1.
	fmt.Println(first(transform.Crop(2, 1, 1, 2))["image"].Data())
	// Output: [30 80 0 60 80 0]
}

func ExampleLetterBox() {
	step := transform.LetterBox([2]int{10, 6}, transform.Fill(0), transform.Interpolation(transform.OpenCVArea))
	fmt.Println(step)
	fmt.Println(first(step)["image"].Shape())
	fmt.Println(transform.LetterBox(640), "has", transform.OpenCVLinear)
	// Output:
	// LetterBox([10 6], Fill(0), Interpolation(opencvarea))
	// (10, 6, 3)
	// LetterBox(640) has opencvlinear
}

func ExampleFilter() {
	step := transform.Resize([2]int{6, 16}, transform.Interpolation(transform.TensorFlowBilinear))
	fmt.Println(step)
	fmt.Println(first(step, transform.Crop(0, 1, 1, 2), transform.Rescale(1), transform.Layout(transform.HWC))["image"].Data())
	// Output:
	// Resize([6 16], Interpolation(tensorflowbilinear))
	// [7.5 0 0 22.5 0 0]
}

func ExampleFromLetterBox() {
	// An image of 100×200 has become 320×640, with 160 rows above it.
	boxes := []float32{320, 160, 640, 320}
	transform.FromLetterBox(640, 100, 200, boxes)
	fmt.Println(boxes)
	// Output:
	// [100 0 200 50]
}
