package presets_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/internal/cpu/cputest"
	"github.com/penstock-go/penstock/internal/dense"
	"github.com/penstock-go/penstock/internal/hostile"
	"github.com/penstock-go/penstock/transform"
	"github.com/penstock-go/penstock/transform/presets"
)

// A made is what a configuration makes.
type made struct {
	step transform.Step
	err  error
}

func hf(text string, options ...presets.Option) made {
	step, err := presets.HuggingFace([]byte(text), options...)
	return made{step, err}
}

func timm(text string, options ...presets.Option) made {
	step, err := presets.Timm([]byte(text), options...)
	return made{step, err}
}

func openclip(text string, options ...presets.Option) made {
	step, err := presets.OpenCLIP([]byte(text), options...)
	return made{step, err}
}

// compile compiles the step, if there is one.
func (m made) compile(options ...transform.Item) (*transform.Compiled, error) {
	if m.err != nil {
		return nil, m.err
	}
	return transform.Compile(append(options, m.step)...)
}

// TestConfigurationErrorsNameTheKey has configurations that are refused.
func TestConfigurationErrorsNameTheKey(t *testing.T) {
	for _, c := range []struct {
		step made
		want string
	}{
		{hf(``), "want a JSON object"},
		{hf(`{`), "want a JSON object: unexpected end of JSON input"},
		{timm(`{`), "want a JSON object: unexpected end of JSON input"},
		{hf(`null`), "want a JSON object, not null"},
		{hf(`[1]`), "want a JSON object"},
		{hf(`{"size": 224}`), `key "image_processor_type": missing`},
		{hf(`{"size": 224, "pretrained_cfg": null}`), `key "image_processor_type": missing`},
		{hf(`{"architecture": "vit", "pretrained_cfg": {}}`), `this is a configuration of timm: use Timm`},
		{hf(`{"image_processor_type": "TimmWrapperImageProcessor"}`), `key "image_processor_type": use Timm with the model's config.json`},
		{hf(`{"size": 224}`, presets.ModelType("bert")), `ModelType "bert" is not known`},
		{hf(`{"image_processor_type": "NougatImageProcessor"}`), `key "image_processor_type": NougatImageProcessor is not supported`},
		{hf(`{"feature_extractor_type": "WhisperFeatureExtractor"}`), `key "feature_extractor_type": WhisperImageProcessor is not supported`},
		{hf(`{"image_processor_type": "ViTImageProcessor", "do_sharpen": true}`), `key "do_sharpen": not known (its value is true)`},
		{hf(`{"image_processor_type": "ViTImageProcessor", "crop_pct": 0.9}`), `key "crop_pct": not known`},
		{hf(`{"image_processor_type": "ViTImageProcessor", "do_resize": 1}`), `key "do_resize": want true or false, not 1`},
		{hf(`{"image_processor_type": "ViTImageProcessor", "Do_resize": false}`), `key "Do_resize": not known`},
		{hf(`{"image_processor_type": "ViTImageProcessor", "size": {"height": 224, "depth": 3}}`), `key "size.depth": not known`},
		{hf(`{"image_processor_type": "ViTImageProcessor", "size": {"height": 224}}`), `key "size": not of a form that this image processor takes`},
		{hf(`{"image_processor_type": "ViTImageProcessor", "size": {"longest_edge": 224}}`), `key "size": not of a form`},
		{hf(`{"image_processor_type": "DetrImageProcessor", "size": {"shortest_edge": 224}}`), `key "size": not of a form`},
		{hf(`{"image_processor_type": "SamImageProcessor", "size": {"height": 9, "width": 9}}`), `key "size": not of a form`},
		{hf(`{"image_processor_type": "DPTImageProcessor", "size": {"shortest_edge": 224}}`), `key "size": not of a form`},
		{hf(`{"image_processor_type": "DPTImageProcessor", "size": 21, "ensure_multiple_of": 14}`), `key "ensure_multiple_of": 21 is halfway between two multiples of 14`},
		{hf(`{"image_processor_type": "ViTImageProcessor", "size": -1}`), `key "size": want height and width from 1`},
		{hf(`{"image_processor_type": "ViTImageProcessor", "size": {"height": 1e3, "width": 9}}`), `key "size.height": want a whole number`},
		{hf(`{"image_processor_type": "ViTImageProcessor", "size": [1, 2, 3]}`), `key "size": want height and width`},
		{hf(`{"image_processor_type": "CLIPImageProcessor", "size": 2147483647}`), `key "size": want a whole number`},
		{hf(`{"image_processor_type": "ViTImageProcessor", "do_center_crop": true}`), `key "crop_size": missing`},
		{hf(`{"image_processor_type": "ViTImageProcessor", "resample": 6}`), `key "resample": want 0 (nearest), 1 (lanczos), 2 (bilinear), 3 (bicubic), 4 (box) or 5 (hamming), not 6`},
		{hf(`{"image_processor_type": "ViTImageProcessor", "image_mean": [0.5, 0.5]}`), `key "image_mean": want three numbers or one`},
		{hf(`{"image_processor_type": "ViTImageProcessor", "image_std": [0, 1, 1]}`), "want finite standard deviations other than 0"},
		{hf(`{"image_processor_type": "ViTImageProcessor", "rescale_factor": 0}`), `key "rescale_factor": want another number than 0`},
		{hf(`{"image_processor_type": "ConvNextImageProcessor", "size": {"height": 2, "width": 2}}`), `key "size": not of a form`},
		{hf(`{"image_processor_type": "ConvNextImageProcessor", "crop_pct": -1}`), `key "crop_pct": want a part`},
		{hf(`{"image_processor_type": "DPTImageProcessor", "size_divisor": "14"}`), `key "size_divisor": want a whole number`},
		{hf(`{"image_processor": {"image_processor_type": "ViTImageProcessor", "do_sharpen": 1}}`), `key "image_processor.do_sharpen": not known`},
		{hf(`{"image_processor_type": "Gemma3ImageProcessor", "do_pan_and_scan": true}`), `key "do_pan_and_scan": want pan_and_scan_min_crop_size`},
		{hf(`{"image_processor_type": "GotOcr2ImageProcessor", "min_patches": 13}`), `key "min_patches": 13 is more than max_patches, 12`},
		{hf(`{"image_processor_type": "GotOcr2ImageProcessor", "max_patches": 1000000000}`), `key "max_patches": want a whole number from 1 to`},
		{hf(`{"image_processor_type": "LlavaNextImageProcessor"}`), `key "image_grid_pinpoints": want multiples of the size, 224`},
		{hf(`{"image_processor_type": "LlavaNextImageProcessor", "image_grid_pinpoints": [["8", 9]]}`), `key "image_grid_pinpoints": want a list`},
		{hf(`{"image_processor_type": "LlavaNextImageProcessor", "size": 336}`), `key "crop_size": want that of size, 336×336`},
		{hf(`{"image_processor_type": "Idefics3ImageProcessor", "max_image_size": {}}`), `key "max_image_size": want longest_edge`},
		{hf(`{"image_processor_type": "JanusImageProcessor", "image_mean": 2}`), `key "image_mean": want numbers from 0 to 1`},
		{hf(`{"image_processor_type": "JanusImageProcessor", "size": {"height": 9, "width": 8}}`), `key "size": not of a form`},
		{hf(`{"image_processor_type": "VideoLlavaImageProcessor", "size": {"max_height": 9, "max_width": 9}}`), `key "size": not of a form`},
		{hf(`{"image_processor_type": "JanusImageProcessor", "do_resize": false}`), `key "do_resize": want true with do_pad`},
		{hf(`{"image_processor_type": "EomtImageProcessor", "do_pad": true, "size": {"height": 9, "width": 9}}`), `key "size": want shortest_edge with do_pad`},
		{hf(`{"image_processor_type": "EomtImageProcessor", "do_split_image": true}`), `key "size": want shortest_edge alone with do_split_image`},
		{hf(`{"image_processor_type": "EomtImageProcessor", "do_split_image": true, "do_resize": false}`), `key "do_resize": want true with do_pad and with tiles`},
		{hf(`{"image_processor_type": "GotOcr2ImageProcessor", "crop_to_patches": true, "do_resize": false}`), `key "do_resize": want true with do_pad and with tiles`},
		{hf(`{"image_processor_type": "LlavaImageProcessor", "do_pad": true, "image_mean": -1}`), `key "image_mean": want numbers from 0 to 1`},
		{hf(`{"image_processor_type": "LlavaImageProcessor", "do_pad": true, "do_resize": false}`), `key "do_resize": want true with do_pad`},
		{hf(`{"image_processor_type": "MllamaImageProcessor", "do_pad": false}`), `key "do_pad": want true`},
		{hf(`{"image_processor_type": "MllamaImageProcessor", "size": {"height": 9, "width": 8}}`), `key "size": not of a form`},
		{hf(`{"image_processor_type": "Ovis2ImageProcessor", "crop_to_patches": true, "do_center_crop": true, "crop_size": 9}`), `key "do_center_crop": want false with crop_to_patches`},
		{hf(`{"image_processor_type": "GraniteDoclingImageProcessor", "min_patches": 33}`), `key "min_patches": 33 is more than max_patches, 32`},
		{hf(`{"image_processor_type": "GraniteDoclingImageProcessor", "dense_max_patches": 1000000}`), `key "dense_max_patches": want 0, or min_patches to 1024, not 1000000`},
		{hf(`{"image_processor_type": "AriaImageProcessor", "max_image_size": 500}`), `key "max_image_size": want 490 or 980, not 500`},
		{hf(`{"image_processor_type": "AriaImageProcessor", "split_image": true}`), `key "split_resolutions": want multiples of the size, 980`},
		{hf(`{"image_processor_type": "MiniCPMV4_6ImageProcessor", "max_slice_nums": 65}`), `key "max_slice_nums": want 1 to 64, not 65`},
		{hf(`{"image_processor_type": "MiniCPMV4_6ImageProcessor", "downsample_mode": "8x"}`), `key "downsample_mode": want 16x or 4x, not 8x`},
		{hf(`{"image_processor_type": "Glm5NextImageProcessor", "max_image_tokens": 9}`), `key "min_image_tokens": 16 is more than max_image_tokens, 9`},
		{hf(`{"image_processor_type": "DeepseekOcr2ImageProcessor", "background_color": 9}`), `key "background_color": want a list of three numbers, not 9`},
		{hf(`{"image_processor_type": "DeepseekOcr2ImageProcessor", "background_color": [9, 0.5, 9]}`), `key "background_color": want whole numbers from 0 to 255, not 0.5`},
		{hf(`{"image_processor_type": "DeepseekVLHybridImageProcessor", "high_res_size": [8, 9]}`), `key "high_res_size": want the same height and width`},
		{hf(`{"image_processor_type": "DeepseekVLHybridImageProcessor", "high_res_resample": 9}`), `key "high_res_resample": want 0 (nearest)`},
		{
			hf(`{"image_processor_type": "DeepseekVLHybridImageProcessor"}`, presets.Pixels("other")),
			`presets: HuggingFace(…, Pixels("other")): this image processor makes pixel_values and high_res_pixel_values`,
		},
		{hf(`{"image_processor_type": "ViTImageProcessor"}`, presets.Pixels("other")), `HuggingFace(…, Pixels("other")): this image processor makes pixel_values`},
		{timm(`{}`, presets.Pixels("pixel_values")), `has no option Pixels("pixel_values")`},
		{hf(`{"image_processor_type": "PerceiverImageProcessor", "size": 9, "do_resize": false}`), `key "do_resize": want true`},
		{hf(`{"image_processor_type": "FuyuImageProcessor", "padding_value": 0.5}`), `key "padding_value": want a whole number from 0 to 255, not 0.5`},
		{hf(`{"image_processor_type": "FuyuImageProcessor", "padding_mode": "edge"}`), `key "padding_mode": want constant, not edge`},
		{hf(`{"image_processor_type": "TvpImageProcessor", "constant_values": 1}`), `key "constant_values": want 0, not 1`},
		{hf(`{"image_processor_type": "TvpImageProcessor", "pad_mode": "reflect"}`), `key "pad_mode": want constant, not reflect`},
		{hf(`{"image_processor_type": "Emu3ImageProcessor", "min_pixels": 2000000}`), `key "size": at least 2000000 pixels`},
		{hf(`{"image_processor_type": "Swin2SRImageProcessor", "pad_size": "8"}`), `key "pad_size": want a whole number`},
		{hf(`{"image_processor_type": "BridgeTowerImageProcessor", "crop_size": 224}`), `key "crop_size": want an object`},
		{hf(`{"image_processor_type": "BridgeTowerImageProcessor", "crop_size": {}}`), `key "crop_size": want shortest_edge`},
		{hf(`{"image_processor_type": "DonutImageProcessor", "size": [9, "8"]}`), `key "size": want height and width from 1 to`},
		{hf(`{"image_processor_type": "DonutImageProcessor", "do_thumbnail": false}`), `key "do_thumbnail": want true`},
		{hf(`{"image_processor_type": "MaskFormerImageProcessor", "size": 800}`), `key "size": not of a form`},
		{hf(`{"image_processor_type": "PixtralImageProcessor", "patch_size": 1000000000}`), `key "patch_size": want height and width from 1 to`},
		{hf(`{"image_processor_type": "GLPNImageProcessor", "size_divisor": "32"}`), `key "size_divisor": want a whole number`},
		{hf(`{"image_processor_type": "Qwen2VLImageProcessor", "max_pixels": 1000000000}`), `key "max_pixels": want 1 to 268435456 pixels, not 1000000000`},
		{hf(`{"image_processor_type": "Qwen2VLImageProcessor", "min_pixels": "3136"}`), `key "min_pixels": want a whole number, not "3136"`},
		{hf(`{"image_processor_type": "Qwen2VLImageProcessor", "max_pixels": 9}`), `key "size": at least 3136 pixels`},
		{hf(`{"image_processor_type": "Qwen2VLImageProcessor", "size": {"longest_edge": 9}}`), `key "size": want shortest_edge and longest_edge`},
		{hf(`{"image_processor_type": "Qwen2VLImageProcessor", "size": 224}`), `key "size": want an object, not 224`},
		{hf(`{"image_processor_type": "Glm4vImageProcessor", "max_pixels": 9}`), `key "max_pixels": not known`},
		{hf(`{"image_processor_type": "Siglip2ImageProcessor", "patch_size": 1025}`), `key "patch_size": want a whole number from 1 to 1024`},
		{hf(`{"image_processor_type": "Gemma4ImageProcessor", "max_soft_tokens": 100}`), `key "max_soft_tokens": want 70, 140, 280, 560 or 1120`},
		{timm(`{"pretrained_cfg": 1}`), `key "pretrained_cfg": want an object, not 1`},
		{timm(`{"pretrained_cfg": {"colour_space": "lab"}}`), `key "pretrained_cfg.colour_space": not known (its value is "lab")`},
		{timm(`{"input_size": [1, 28, 28]}`), `key "input_size": want [3, height, width], not [1, 28, 28]`},
		{timm(`{"interpolation": "random"}`), `key "interpolation": want bilinear, nearest, box, bicubic, lanczos or hamming, not "random"`},
		{timm(`{"crop_mode": "stretch"}`), `key "crop_mode": want center, squash or border, not "stretch"`},
		{timm(`{"crop_pct": 1e-9}`), `key "crop_pct": want a part`},
		{timm(`{"model_args": {"in_chans": 4}}`), `key "model_args.in_chans": want 3, not 4`},
		{openclip(`[]`), "want a JSON object"},
		{openclip(`{"size": 224, "crop_pct": 1}`), `presets: OpenCLIP(…): key "crop_pct": not known (its value is 1)`},
		{openclip(`{"preprocess_cfg": {}, "crop_pct": 1}`), `key "crop_pct": not known`},
		{openclip(`{"preprocess_cfg": 3}`), `key "preprocess_cfg": want an object, not 3`},
		{openclip(`{"model_cfg": {}, "preprocess_cfg": {"sise": 3}}`), `key "preprocess_cfg.sise": not known`},
		{openclip(`{"model_cfg": {"vision_cfg": {"image_size": "224"}}}`), `key "model_cfg.vision_cfg.image_size": want height and width`},
		{openclip(`{"size": [100000000, 10]}`), `key "size": want height and width from 1`},
		{openclip(`{"mode": "L"}`), `key "mode": want RGB, not "L"`},
		{openclip(`{"interpolation": "lanczos"}`), `key "interpolation": want bicubic, bilinear or random, not "lanczos"`},
		{openclip(`{"resize_mode": "crop"}`), `key "resize_mode": want shortest, longest or squash, not "crop"`},
		{openclip(`{"fill_color": "114"}`), `key "fill_color": want one whole number from 0 to 255, or three, not "114"`},
		{openclip(`{"fill_color": [1, 2]}`), `key "fill_color": want one whole number`},
		{openclip(`{"fill_color": 256}`), `key "fill_color": want one whole number`},
		{openclip(`{"std": [1, 0, 1]}`), "want finite standard deviations other than 0"},
		{openclip(`{}`, presets.TestSize()), "presets: OpenCLIP(…, TestSize()): has no option TestSize()"},
	} {
		_, err := c.step.compile()
		if joined := fmt.Sprint(err); strings.Contains(joined, "JSON object") && strings.Contains(joined, "\n") {
			t.Errorf("error %v, want no other one after it", err)
		}
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("error %v, want %s", err, c.want)
		}
	}
}

// TestConfigurationsSayTheSame has pairs of configurations with the same meaning.
func TestConfigurationsSayTheSame(t *testing.T) {
	plan := func(s made) string {
		p, err := s.compile(transform.Ragged())
		if err != nil {
			t.Error(err)
			return ""
		}
		return p.String()
	}
	for _, c := range [][2]made{
		{hf(`{"image_processor_type": "ViTImageProcessor"}`), hf(`{"image_processor_type": "ViTImageProcessorFast"}`)},
		{hf(`{"image_processor_type": "ViTImageProcessor"}`), hf(`{"image_processor_type": "ViTImageProcessorPil"}`)},
		{hf(`{"image_processor_type": "ViTImageProcessor"}`), hf(`{"image_processor_type": "ViTFeatureExtractor"}`)},
		{hf(`{"image_processor_type": "ViTImageProcessor"}`), hf(`{"feature_extractor_type": "ViTFeatureExtractor"}`)},
		{hf(`{"image_processor_type": "ViTImageProcessor"}`), hf(`{"image_processor_type": "ViTImageProcessor", "feature_extractor_type": "CLIPFeatureExtractor"}`)},
		{hf(`{"image_processor_type": "ViTImageProcessor"}`), hf(`{"image_processor_type": "ViTImageProcessor"}`, presets.ModelType("clip"))},
		{hf(`{"image_processor_type": "ViTImageProcessor"}`), hf(`{"image_processor": {"image_processor_type": "ViTImageProcessor"}, "processor_class": "P"}`)},
		{hf(`{"image_processor_type": "ViTImageProcessor"}`), hf(`{"image_processor_type": "ViTImageProcessor", "size": null, "do_sharpen": null, "do_resize": null, "resample": null, "image_mean": null}`)},
		{hf(`{"image_processor_type": "ViTImageProcessor"}`), hf(`{"image_processor_type": "ViTImageProcessor", "do_convert_rgb": true, "data_format": "channels_first", "_valid_processor_keys": ["images"]}`)},
		{hf(`{"image_processor_type": "ViTImageProcessor", "size": 9}`), hf(`{"image_processor_type": "ViTImageProcessor", "size": {"height": 9, "width": 9, "shortest_edge": null}}`)},
		{hf(`{"image_processor_type": "ViTImageProcessor", "size": [8, 9]}`), hf(`{"image_processor_type": "ViTImageProcessor", "size": {"height": 8, "width": 9}}`)},
		{hf(`{"image_processor_type": "ViTImageProcessor", "size": 9, "default_to_square": false}`), hf(`{"image_processor_type": "ViTImageProcessor", "size": {"shortest_edge": 9}}`)},
		{hf(`{"image_processor_type": "CLIPImageProcessor", "size": 9, "crop_size": 8}`), hf(`{"image_processor_type": "CLIPImageProcessor", "size": {"shortest_edge": 9}, "crop_size": {"height": 8, "width": 8}}`)},
		{hf(`{"image_processor_type": "ViTImageProcessor", "image_mean": 0.5}`), hf(`{"image_processor_type": "ViTImageProcessor", "image_mean": [0.5, 0.5, 0.5]}`)},
		{hf(`{"image_processor_type": "DetrImageProcessor", "size": 400, "max_size": 500}`), hf(`{"image_processor_type": "DetrImageProcessor", "size": {"shortest_edge": 400, "longest_edge": 500}}`)},
		{hf(`{"image_processor_type": "DetrImageProcessor", "size": 400}`), hf(`{"image_processor_type": "DetrImageProcessor", "size": {"shortest_edge": 400, "longest_edge": 1333}}`)},
		{hf(`{"image_processor_type": "MaskFormerImageProcessor", "size": null, "max_size": 900}`), hf(`{"image_processor_type": "MaskFormerImageProcessor", "max_size": 900}`)},
		{hf(`{"image_processor_type": "OneFormerImageProcessor", "size": null, "max_size": 900}`), hf(`{"image_processor_type": "OneFormerImageProcessor"}`)},
		{hf(`{"image_processor_type": "DeepseekOcr2ImageProcessor", "background_color": null}`), hf(`{"image_processor_type": "DeepseekOcr2ImageProcessor"}`)},
		{timm(`{"architecture": "vit", "input_size": [3, 9, 9]}`), timm(`{"architecture": "vit", "pretrained_cfg": {"input_size": [3, 9, 9], "license": "mit"}}`)},
		{timm(`{"crop_pct": null, "crop_mode": "center", "interpolation": ""}`), timm(`{}`)},
		{timm(`{"input_size": [3, 9, 9]}`), timm(`{"input_size": [3, 9, 9]}`, presets.TestSize())},
		{timm(`{"test_input_size": [3, 9, 9], "test_crop_pct": 0.5}`, presets.TestSize()), timm(`{"input_size": [3, 9, 9], "crop_pct": 0.5}`)},
		{timm(`{"model_args": {"img_size": 9, "depth": 12}, "pretrained_cfg": {"fixed_input_size": true}}`), timm(`{"input_size": [3, 9, 9]}`)},
		{timm(`{"model_args": {"img_size": [9, 8]}, "pretrained_cfg": {"fixed_input_size": true}}`), timm(`{"input_size": [3, 9, 8]}`)},
		{timm(`{"model_args": {"img_size": 9, "dynamic_img_size": true}, "pretrained_cfg": {"fixed_input_size": true}}`), timm(`{}`)},
		{timm(`{"model_args": {"img_size": 9}, "pretrained_cfg": {}}`), timm(`{}`)},
		{openclip(`{"model_cfg": {"vision_cfg": {"image_size": 9}}, "preprocess_cfg": {"size": 7, "mean": 0.5}}`), openclip(`{"size": [9, 9], "mean": [0.5, 0.5, 0.5]}`)},
		{hf(`{"image_processor_type": "VideoLlavaImageProcessor", "size": {"shortest_edge": 89, "longest_edge": 111}}`), hf(`{"image_processor_type": "VideoLlavaImageProcessor", "size": {"shortest_edge": 89}}`)},
		{openclip(`{"model_cfg": {}, "preprocess_cfg": null}`), openclip(`{"preprocess_cfg": {"size": 224, "interpolation": "random", "fill_color": null}}`)},
	} {
		if got, want := plan(c[1]), plan(c[0]); got != want {
			t.Errorf("%v: %s\nwant %s", c[1].step, got, want)
		}
	}
}

// TestEveryClassTakesPicturesOfAnySize has pictures of extreme ratios: what a class cannot do with them is an error.
func TestEveryClassTakesPicturesOfAnySize(t *testing.T) {
	g, _ := readPictures(t)
	pix := make([]uint8, 3*2000)
	seen := map[string]int{} // how many pictures are no errors
	for _, c := range g.Configurations {
		if seen[c.Name] > 0 {
			continue
		}
		p, err := hf(string(c.Config)).compile(transform.Ragged(), transform.MaxPixels(1<<20))
		if err != nil {
			t.Errorf("%s: %v", c.Config, err)
			continue
		}
		if p.Spec()[0].Dtype != dataset.Float32 {
			continue
		}
		for _, size := range [][2]int{{1, 1}, {3, 1}, {200, 1}, {1, 201}, {1000, 2}, {1, 2000}, {40, 50}} {
			values, _, err := p.AppendAll(nil, nil, transform.RGB(pix[:3*size[0]*size[1]], size[0], size[1]))
			if err != nil && !strings.HasPrefix(err.Error(), "transform: ") || strings.Contains(fmt.Sprint(err), "panic") {
				t.Errorf("%s: %v: error %v", c.Config, size, err)
			}
			if err == nil && len(values) > 0 {
				seen[c.Name]++
			}
		}
		if seen[c.Name] == 0 {
			t.Errorf("%s: all of them are errors", c.Config)
		}
	}
}

// configured is the memory of a program, which does not depend on its configuration.
const configured = 1 << 20

// FuzzConfiguration compiles hostile configurations and prepares a small image.
func FuzzConfiguration(f *testing.F) {
	g := readProcessors(f)
	for c := range g.steps() {
		f.Add([]byte(c.Config))
	}
	for _, c := range g.Defaults {
		f.Add([]byte(c.Config))
	}
	for _, c := range readOthers(f).OpenCLIP {
		f.Add([]byte(c.Config))
	}
	pictures, _ := readPictures(f)
	for _, c := range pictures.Configurations {
		f.Add([]byte(c.Config))
	}
	pix := make([]uint8, 3*5*7)
	f.Fuzz(func(t *testing.T, config []byte) {
		text := string(config)
		for _, step := range []made{hf(text), hf(text, presets.ModelType("yolos")), timm(text), timm(text, presets.TestSize()), openclip(text)} {
			const most = 1 << 16
			hostile.Bounded(t, len(config), configured+64*most, func() {
				if p, err := step.compile(transform.Ragged(), transform.MaxPixels(most)); err == nil && p.Spec()[0].Dtype == dataset.Float32 {
					_, _, _, _ = p.Append(nil, transform.RGB(pix, 7, 5))
				}
			})
			_, err := step.compile()
			p, ragged := step.compile(transform.Ragged(), transform.MaxPixels(most))
			if err == nil && ragged != nil {
				t.Errorf("error %v, but none without Ragged", ragged)
			}
			if ragged != nil || p.Spec()[0].Dtype != dataset.Float32 {
				continue
			}
			values, h, w, err := p.Append(nil, transform.RGB(pix, 7, 5))
			cputest.Portable(func() {
				if portable, _, _, _ := p.Append(nil, transform.RGB(pix, 7, 5)); !bytes.Equal(dense.Bytes(portable), dense.Bytes(values)) {
					t.Error("other values without kernels")
				}
			})
			switch {
			case err != nil && !strings.HasPrefix(err.Error(), "transform: "):
				t.Errorf("error %v, want one of this package", err)
			case err == nil && (h*w == 0 || len(values)%(3*h*w) != 0 || len(p.Spec()[0].Shape) == 0 && len(values) != 3*h*w):
				t.Errorf("%d values for %d×%d pixels", len(values), h, w)
			}
		}
	})
}
