package transform_test

import (
	"fmt"
	"log"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/transform"
)

// Tensors of half precision take half the memory and half the bandwidth to a GPU.
func ExampleToDtype() {
	image := first(transform.CenterCrop(1), transform.ToTensor(), transform.ToDtype(dataset.Float16))["image"]
	fmt.Println(image.Dtype(), image.Data())
	// Output: float16 [0.47070312 0.3137207 0]
}

// A grey image of one row and two columns becomes 2×3. The zeros are added after
// Normalize.
func ExamplePadTo() {
	sample := first(transform.Crop(0, 6, 1, 2), transform.Grayscale(1),
		transform.ToTensor(), transform.Normalize([]float32{1}, []float32{1}), transform.PadTo([2]int{2, 3}))
	fmt.Println(sample["image"].Shape(), sample["image"].Data())
	// Output: (1, 2, 3) [-0.7882353 -0.7529412 0 0 0 0]
}

// Images of a detector keep their aspect ratio. Here the batch is one sample.
func ExampleRagged() {
	sample := first(transform.Crop(1, 2, 3, 2), transform.ToTensor(), transform.Ragged(), transform.Sizes("size"))
	fmt.Println(len(dataset.ValuesOf[float32](sample["image"])), sample["size"].Data())
	// Output: 18 [3 2]
}

// A vision-language model takes rows of patches, with every pixel twice, and the number of patches down and across. The
// last row is there because MaxPatches wants three.
func ExamplePatches() {
	grid := transform.SizesFunc("grid", dataset.Shape{2}, func(_, result [2]int, out []int64) {
		out[0], out[1] = int64(result[0]/2), int64(result[1]/2)
	})
	sample := first(transform.Crop(0, 0, 2, 4), transform.ToTensor(),
		transform.Patches(2, transform.Merge(1), transform.Frames(2), transform.MaxPatches(3)), grid)
	fmt.Println(sample["image"].Shape(), sample["grid"].Data())
	// Output: (3, 24) [1 2]
}

// A server gets the values and the other fields of one image.
func ExampleCompiled_AppendAll() {
	sizes := transform.SizesFunc("sizes", dataset.Shape{2, 2}, func(image, result [2]int, out []int64) {
		out[0], out[1], out[2], out[3] = int64(image[0]), int64(image[1]), int64(result[0]), int64(result[1])
	})
	p, err := transform.Compile(transform.Resize(2), transform.ToTensor(), sizes, transform.Ragged())
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(p.Spec())
	values, numbers, err := p.AppendAll(nil, nil, transform.RGB(make([]uint8, 3*4*8), 8, 4))
	fmt.Println(len(values), numbers, err)
	// Output:
	// image float32 (n), sizes int64 (2, 2)
	// 24 [4 8 2 4] <nil>
}

func ExampleCompose() {
	mine := transform.Compose(transform.CenterCrop(2), transform.ToTensor())
	fmt.Println(mine)
	fmt.Println(first(mine)["image"].Shape())
	// Output:
	// Compose(CenterCrop(2), ToTensor())
	// (3, 2, 2)
}

func ExampleLayout() {
	fmt.Println(first(transform.ToTensor(), transform.Layout(transform.HWC))["image"].Shape())
	fmt.Println(first(transform.Layout(transform.CHW))["image"].Shape())
	// Output:
	// (6, 8, 3)
	// (3, 6, 8)
}

func ExampleField() {
	scan := dataset.TensorOf([]uint8{1, 2, 3, 4}, 1, 2, 2)
	scans, err := dataset.Tensors(dataset.Named("scan", scan))
	if err != nil {
		log.Fatal(err)
	}
	ds, err := transform.Images(scans, transform.Field("scan"), transform.PILToTensor())
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(ds.Spec())
	// Output: scan uint8 (3, 2, 2)
}

func ExampleRescale() {
	fmt.Println(first(transform.CenterCrop(1), transform.Rescale(1))["image"].Data())
	fmt.Println(first(transform.CenterCrop(1), transform.Rescale(1/127.5), transform.Normalize([]float32{1}, []float32{1}))["image"].Data())
	// Output:
	// [120 80 0]
	// [-0.058823526 -0.372549 -1]
}

func ExampleBGR() {
	fmt.Println(first(transform.CenterCrop(1), transform.PILToTensor())["image"].Data())
	fmt.Println(first(transform.CenterCrop(1), transform.PILToTensor(), transform.BGR())["image"].Data())
	// Output:
	// [120 80 0]
	// [0 80 120]
}
