package transform_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"image"
	"image/jpeg"
	"io"
	"log"
	"math/rand/v2"
	"slices"
	"testing/fstest"

	"gorgonia.org/tensor"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/dataset/half"
	"github.com/penstock-go/penstock/transform"
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
		dataset.Named("image", tensor.New(tensor.WithShape(1, 6, 8, 3), tensor.WithBacking(pix))),
		dataset.Named("label", []int64{3}))
	if err != nil {
		log.Fatal(err)
	}
	return ds
}

func first(steps ...transform.Step) dataset.Sample {
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

// One large photo at a time, on a machine whose other processors are idle.
func ExampleParallel() {
	prepare, err := transform.Compile(transform.Eval(224), transform.Parallel(2))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(prepare)
	// Output:
	// file or pixels → image float32 (3, 224, 224)
	//   decode    large JPEG images on up to 2 goroutines
	//   resample  Resize(256), CenterCrop(224)
	//   store     ToTensor(), Normalize([0.485 0.456 0.406], [0.229 0.224 0.225]), float32 CHW
}

// Tensors of half precision take half the memory and half the bandwidth to a GPU.
func ExampleToDtype() {
	image := first(transform.CenterCrop(1), transform.ToTensor(), transform.ToDtype(half.Float16Dtype))["image"]
	fmt.Println(image.Dtype(), image.Data())
	// Output: Float16 [0.47070312 0.3137207 0]
}

// The steps of CLIP, as its preprocessor_config.json says.
func ExampleHuggingFace() {
	config := []byte(`{
		"crop_size": 224, "do_center_crop": true, "do_normalize": true, "do_resize": true,
		"feature_extractor_type": "CLIPFeatureExtractor",
		"image_mean": [0.48145466, 0.4578275, 0.40821073], "image_std": [0.26862954, 0.26130258, 0.27577711],
		"resample": 3, "size": 224
	}`)
	p, err := transform.Compile(transform.HuggingFace(config))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(p)

	_, err = transform.Compile(transform.HuggingFace([]byte(`{"image_processor_type": "CLIPImageProcessor", "do_sharpen": true}`)))
	fmt.Println(err)
	// Output:
	// file or pixels → image float32 (3, 224, 224)
	//   resample  Resize(224).Filter(bicubic), CenterCrop(224, 224).Floor()
	//   store     ToTensor(), Normalize([0.48145467 0.4578275 0.40821072], [0.26862955 0.2613026 0.2757771]), float32 CHW
	// transform: HuggingFace(…): key "do_sharpen": not known (its value is true)
}

// The steps of a ResNet, as timm's config.json says, for its size in training
// and for its size in tests.
func ExampleTimm() {
	config := []byte(`{
		"architecture": "resnet50", "num_classes": 1000,
		"pretrained_cfg": {
			"input_size": [3, 224, 224], "test_input_size": [3, 288, 288], "interpolation": "bicubic",
			"crop_pct": 0.95, "test_crop_pct": 1.0, "mean": [0.485, 0.456, 0.406], "std": [0.229, 0.224, 0.225]
		}
	}`)
	for _, preset := range []transform.Step{transform.Timm(config), transform.Timm(config).TestSize()} {
		p, err := transform.Compile(preset)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(p)
	}
	// Output:
	// file or pixels → image float32 (3, 224, 224)
	//   resample  Resize(235).Filter(bicubic), CenterCrop(224, 224)
	//   store     ToTensor(), Normalize([0.485 0.456 0.406], [0.229 0.224 0.225]), float32 CHW
	// file or pixels → image float32 (3, 288, 288)
	//   resample  Resize(288).Filter(bicubic), CenterCrop(288, 288)
	//   store     ToTensor(), Normalize([0.485 0.456 0.406], [0.229 0.224 0.225]), float32 CHW
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

// A grey image of one row and two columns becomes 2×3. The zeros are added after
// Normalize.
func ExamplePadTo() {
	sample := first(transform.Crop(0, 6, 1, 2), transform.Grayscale(1),
		transform.ToTensor(), transform.Normalize([]float32{1}, []float32{1}), transform.PadTo(2, 3))
	fmt.Println(sample["image"].Shape(), sample["image"].Data())
	// Output: (1, 2, 3) [-0.7882353 -0.7529412 0 0 0 0]
}

// Images of a detector keep their aspect ratio. Here the batch is one sample.
func ExampleRagged() {
	sample := first(transform.Crop(1, 2, 3, 2), transform.ToTensor(), transform.Ragged(), transform.Sizes("size"))
	fmt.Println(len(sample["image"].Data().([]float32)), sample["size"].Data())
	// Output: 18 [3 2]
}

func ExampleCompiled_Append() {
	detector := []byte(`{
		"image_processor_type": "DetrImageProcessor", "size": {"shortest_edge": 80, "longest_edge": 133},
		"do_pad": true, "pad_size": null
	}`)
	p, err := transform.Compile(transform.HuggingFace(detector), transform.Ragged())
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
	scan := tensor.New(tensor.WithShape(1, 2, 2), tensor.WithBacking([]uint8{1, 2, 3, 4}))
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

func ExampleMaxPixels() {
	prepare, err := transform.Compile(transform.MaxPixels(1000), transform.Eval(8))
	if err != nil {
		log.Fatal(err)
	}
	input := make([]float32, prepare.Spec()[0].Elements())
	fmt.Println(prepare.Into(input, transform.File(photo())))
	// Output: transform: decode: JPEG: 64×64 pixels (height×width), more than the limit of 1000 (see MaxPixels)
}

// A photo whose left half is black and whose right half is white. Its Exif data say that it
// was taken with the camera turned: the left side of the file is the top.
func ExampleExifTranspose() {
	m := image.NewGray(image.Rect(0, 0, 16, 8))
	for i := range m.Pix {
		if i%16 >= 8 {
			m.Pix[i] = 255
		}
	}
	var file bytes.Buffer
	if err := jpeg.Encode(&file, m, nil); err != nil {
		log.Fatal(err)
	}
	const orientation6 = "\xff\xe1\x00\x22Exif\x00\x00MM\x00*\x00\x00\x00\x08\x00\x01\x01\x12\x00\x03\x00\x00\x00\x01\x00\x06\x00\x00\x00\x00\x00\x00"
	photo := slices.Insert(file.Bytes(), 2, []byte(orientation6)...) // after the JPEG file's first marker

	small := transform.Compose(transform.Resize(2, 2).Filter(transform.Box), transform.Grayscale(1), transform.PILToTensor())
	for _, list := range [][]transform.Step{{small}, {transform.ExifTranspose(), small}} {
		prepare, err := transform.Compile(list...)
		if err != nil {
			log.Fatal(err)
		}
		rows := make([]uint8, 4)
		if err := prepare.IntoBytes(rows, transform.File(photo)); err != nil {
			log.Fatal(err)
		}
		fmt.Println(rows[:2], rows[2:])
	}
	// Output:
	// [0 255] [0 255]
	// [0 0] [255 255]
}

func ExampleAllowTruncated() {
	file := photo()
	place := func(steps ...transform.Step) error {
		files, err := dataset.ImageFolder(fstest.MapFS{"cat/1.jpg": {Data: file[:len(file)/2]}})
		if err != nil {
			return err
		}
		ds, err := transform.Images(files, append(steps, transform.Eval(8))...)
		if err != nil {
			return err
		}
		_, err = dataset.At(context.Background(), ds, 0)
		return err
	}
	fmt.Println(errors.Is(place(), io.ErrUnexpectedEOF))
	fmt.Println(place(transform.AllowTruncated()))
	// Output:
	// true
	// <nil>
}

// photo is a JPEG file of 64×64 grey pixels with much detail.
func photo() []byte {
	m := image.NewGray(image.Rect(0, 0, 64, 64))
	for i := range m.Pix {
		m.Pix[i] = uint8(i * i >> 3)
	}
	var file bytes.Buffer
	if err := jpeg.Encode(&file, m, nil); err != nil {
		log.Fatal(err)
	}
	return file.Bytes()
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

func ExampleResize() {
	filters := []transform.Filter{transform.Bilinear, transform.Nearest, transform.Box,
		transform.Bicubic, transform.Lanczos, transform.Hamming}
	for _, f := range filters {
		sample := first(transform.Resize(5).MaxSize(7).Filter(f), transform.CenterCrop(1))
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
	step := transform.RandomResizedCrop(4, 3).Scale(0.5, 1).Ratio(1, 2).Filter(transform.Bicubic)
	fmt.Println(step)
	fmt.Println(first(step)["image"].Shape())
	// Output:
	// RandomResizedCrop(4, 3).Scale(0.5, 1).Ratio(1, 2).Filter(bicubic)
	// (4, 3, 3)
}

func ExampleRandomCrop() {
	step := transform.RandomCrop(9).Padding(1).PadIfNeeded().Fill(1, 2, 3).Mode(transform.Edge)
	fmt.Println(step)
	fmt.Println(first(step)["image"].Shape())
	// Output:
	// RandomCrop(9).Padding(1).PadIfNeeded().Fill(1, 2, 3).Mode(edge)
	// (9, 9, 3)
}

func ExamplePad() {
	modes := []transform.PadMode{transform.Constant, transform.Edge, transform.Reflect, transform.Symmetric}
	for _, m := range modes {
		sample := first(transform.CenterCrop(1, 4), transform.Pad(2, 0).Fill(255, 0, 0).Mode(m), transform.PILToTensor())
		fmt.Println(m, sample["image"].Data().([]uint8)[:8])
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
	step := transform.RandomErasing(1).Scale(0.1, 0.2).Ratio(0.5, 2).Value(9)
	fmt.Println(step)
	sample := first(transform.ToTensor(), step)
	erased := 0
	for _, v := range sample["image"].Data().([]float32) {
		if v == 9 {
			erased++
		}
	}
	fmt.Println(erased > 0, transform.RandomErasing(0.5).Noise())
	// Output:
	// RandomErasing(1).Scale(0.1, 0.2).Ratio(0.5, 2).Value([9])
	// true RandomErasing(0.5).Noise()
}

func ExampleCrop() {
	// The top left pixel of the crop is the gradient's at row 2, column 1.
	fmt.Println(first(transform.Crop(2, 1, 1, 2))["image"].Data())
	// Output: [30 80 0 60 80 0]
}
