package presets_test

import (
	"fmt"
	"log"
	"testing/fstest"

	"github.com/penstock-go/penstock/transform"
	"github.com/penstock-go/penstock/transform/presets"
)

// The steps of CLIP, as its preprocessor_config.json says.
func ExampleHuggingFace() {
	config := []byte(`{
		"crop_size": 224, "do_center_crop": true, "do_normalize": true, "do_resize": true,
		"feature_extractor_type": "CLIPFeatureExtractor",
		"image_mean": [0.48145466, 0.4578275, 0.40821073], "image_std": [0.26862954, 0.26130258, 0.27577711],
		"resample": 3, "size": 224
	}`)
	clip, err := presets.HuggingFace(config)
	if err != nil {
		log.Fatal(err)
	}
	p, err := transform.Compile(clip)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(p)

	_, err = presets.HuggingFace([]byte(`{"image_processor_type": "CLIPImageProcessor", "do_sharpen": true}`))
	fmt.Println(err)
	// Output:
	// file or pixels → image float32 (3, 224, 224)
	//   resample  Resize(224, Interpolation(bicubic)), CenterCrop([224 224], Floor())
	//   store     ToTensor(), Normalize([0.48145467 0.4578275 0.40821072], [0.26862955 0.2613026 0.2757771]), float32 CHW
	// presets: HuggingFace(…): key "do_sharpen": not known (its value is true)
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
	for _, options := range [][]presets.Option{nil, {presets.TestSize()}} {
		resnet, err := presets.Timm(config, options...)
		if err != nil {
			log.Fatal(err)
		}
		p, err := transform.Compile(resnet)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(p)
	}
	// Output:
	// file or pixels → image float32 (3, 224, 224)
	//   resample  Resize(235, Interpolation(bicubic)), CenterCrop([224 224])
	//   store     ToTensor(), Normalize([0.485 0.456 0.406], [0.229 0.224 0.225]), float32 CHW
	// file or pixels → image float32 (3, 288, 288)
	//   resample  Resize(288, Interpolation(bicubic)), CenterCrop([288 288])
	//   store     ToTensor(), Normalize([0.485 0.456 0.406], [0.229 0.224 0.225]), float32 CHW
}

// The steps of a model of OpenCLIP, as its open_clip_config.json says.
func ExampleOpenCLIP() {
	step, err := presets.OpenCLIP([]byte(`{
		"model_cfg": {"embed_dim": 768, "vision_cfg": {"image_size": 384}},
		"preprocess_cfg": {"mean": [0.5, 0.5, 0.5], "std": [0.5, 0.5, 0.5], "interpolation": "bicubic", "resize_mode": "squash"}
	}`))
	if err != nil {
		log.Fatal(err)
	}
	p, err := transform.Compile(step)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(p)
	// Output:
	// file or pixels → image float32 (3, 384, 384)
	//   resample  Resize([384 384], Interpolation(bicubic))
	//   store     ToTensor(), Normalize([0.5 0.5 0.5], [0.5 0.5 0.5]), float32 CHW
}

// A folder with the files of a model, such as os.DirFS of a download.
func ExampleOpen() {
	folder := fstest.MapFS{
		"config.json":              {Data: []byte(`{"model_type": "vit"}`)},
		"preprocessor_config.json": {Data: []byte(`{"size": 224, "resample": 2}`)},
	}
	step, file, err := presets.Open(folder)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(file)
	fmt.Println(step)
	// Output:
	// preprocessor_config.json
	// HuggingFace(…, ModelType("vit"))
}

// A detector gets 640×640 pixels, and its boxes are moved back to the image.
func ExampleYOLO() {
	const height, width = 100, 200
	p, err := transform.Compile(presets.YOLO(640))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(p)
	tensor := make([]float32, 3*640*640)
	if err := p.Into(tensor, transform.RGB(make([]byte, 3*width*height), width, height)); err != nil {
		log.Fatal(err)
	}
	boxes := []float32{320, 160, 640, 320} // what the model found: x1, y1, x2, y2
	transform.FromLetterBox(640, height, width, boxes)
	fmt.Println(boxes)
	// Output:
	// file or pixels → image float32 (3, 640, 640)
	//   rotate    ExifTranspose()
	//   resample  LetterBox(640)
	//   store     ToTensor(), float32 CHW
	// [100 0 200 50]
}

// DeepSeek-OCR 2 takes a large image as a picture of the whole, and as tiles of another size.
func ExamplePixels() {
	config := []byte(`{"image_processor_type": "DeepseekOcr2ImageProcessor"}`)
	for _, tensor := range []string{"pixel_values", "pixel_values_local"} {
		step, err := presets.HuggingFace(config, presets.Pixels(tensor))
		if err != nil {
			log.Fatal(err)
		}
		p, err := transform.Compile(step, transform.Ragged())
		if err != nil {
			log.Fatal(err)
		}
		values, numbers, err := p.AppendAll(nil, nil, transform.RGB(make([]uint8, 3*1600*900), 1600, 900))
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(p.Spec(), len(values), numbers)
	}
	// Output:
	// image float32 (n), num_local_patches int64 () 3145728 [2]
	// image float32 (n, 3, 768, 768), num_local_patches int64 () 3538944 [2]
}

// Qwen2-VL takes rows of patches, and how many there are down and across. A prompt has a token for every four of them.
func ExampleImageTokens() {
	config := []byte(`{"image_processor_type": "Qwen2VLImageProcessor", "min_pixels": 3136, "max_pixels": 12845056}`)
	qwen, err := presets.HuggingFace(config)
	if err != nil {
		log.Fatal(err)
	}
	p, err := transform.Compile(qwen, transform.Ragged())
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(p.Spec())
	values, grid, err := p.AppendAll(nil, nil, transform.RGB(make([]uint8, 3*100*200), 200, 100))
	if err != nil {
		log.Fatal(err)
	}
	tokens, err := presets.ImageTokens(config, 100, 200)
	fmt.Println(len(values)/1176, grid, tokens, err)
	// Output:
	// image float32 (n, 1176), image_grid_thw int64 (3)
	// 112 [1 8 14] 28 <nil>
}
