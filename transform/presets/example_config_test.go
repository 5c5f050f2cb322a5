package presets_test

import (
	"fmt"
	"log"

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
