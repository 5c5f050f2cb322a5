package presets

import (
	"slices"
	"strings"

	"github.com/penstock-go/penstock/transform"
)

// A class is an image processor of transformers, with its defaults: those of version 5.23.
type class struct {
	name   string             // without ImageProcessor
	models string             // values of model_type in the config.json of its models
	usual  func(c *processor) // what it has instead of the defaults of most
}

// family is the processor with the defaults of the class that has this name.
func family(name string) (processor, bool) {
	k := slices.IndexFunc(classes, func(c class) bool { return c.name == name })
	if k < 0 {
		return processor{}, false
	}
	c := processor{
		resize: true, square: true, filter: transform.Bicubic,
		colouring: colouring{rescale: true, normalize: true, factor: 1.0 / 255, mean: halves, std: halves},
	}
	classes[k].usual(&c)
	return c, true
}

// processorOf is the class for a model_type, without ImageProcessor, or "".
func processorOf(model string) string {
	for _, c := range classes {
		if slices.Contains(strings.Fields(c.models), model) {
			return c.name
		}
	}
	return ""
}

// both is a size that is the same for height and width.
func both(n int) sides { return sides{height: n, width: n} }

// cropped resizes the shortest edge, and crops the centre.
func (c *processor) cropped(shortest, side int) {
	c.size, c.square = sides{shortest: shortest}, false
	c.center, c.crop = true, area{side, side}
}

// imageNet and clip are means and standard deviations.
func (c *processor) imageNet() { c.mean, c.std = imageNetMean, imageNetStd }
func (c *processor) clip()     { c.mean, c.std = clipMean, clipStd }

// detector is DETR's processor, and those after it.
func (c *processor) detector() {
	c.keys, c.detects, c.limit = padKeys, true, 1333
	c.cropless, c.pad = true, true
	c.size, c.square, c.filter = sides{shortest: 800, longest: 1333}, false, transform.Bilinear
	c.imageNet()
}

// masks is MaskFormer's processor: a detector whose sides are multiples of a number.
func (c *processor) masks() {
	c.detector()
	c.keys, c.own, c.limit, c.block = maskKeys, maskSizes, 0, 32
}

// janus is Janus' processor, which puts the image on a square.
func (c *processor) janus() {
	c.keys, c.own, c.strict = janusKeys, ontoSquare, true
	c.size, c.cropless, c.padless = both(384), true, true
	c.clip()
}

// ernie is ERNIE 4.5 VL's processor.
func (c *processor) ernie() {
	c.smart(14, 2, 1, 56*56, 28*28*6177)
	c.keys = glmKeys
}

// idefics3 is Idefics 3's processor.
func (c *processor) idefics3() {
	c.keys, c.own, c.strict = idefics3Keys, idefics3Sizes, true
	c.size, c.least, c.filter = sides{longest: 4 * 364}, 364, transform.Lanczos
	c.cropless, c.padless = true, true
}

// viLT is ViLT's processor.
func (c *processor) viLT() {
	c.keys, c.own, c.strict = viltKeys, viltSizes, true
	c.size, c.square = sides{shortest: 384}, false
	c.cropless, c.padless = true, true
}

// likeCLIP is CLIP's processor.
func (c *processor) likeCLIP() {
	c.cropped(224, 224)
	c.clip()
}

// depth is DPT's processor.
func (c *processor) depth() {
	c.keys, c.own, c.strict = depthKeys, depthSizes, true
	c.size = both(384)
	c.cropless = true
}

// mobile is MobileNet's processor.
func (c *processor) mobile() {
	c.cropped(256, 224)
	c.filter = transform.Bilinear
}

// classes are all that can be read.
var classes = []class{
	{"ViT", "vit vit_mae vit_msn swin swinv2 swiftformer ijepa clipseg dinat mgp-str trocr", func(c *processor) {
		c.size, c.filter = both(224), transform.Bilinear
	}},
	{"DeiT", "deit", func(c *processor) {
		c.size = both(256)
		c.center, c.crop = true, area{224, 224}
	}},
	{"CLIP", "clip aimv2 aimv2_vision_model altclip florence2 git groupvit kosmos-2 metaclip_2 mlcd vipllava xclip", (*processor).likeCLIP},
	{"ChineseCLIP", "chinese_clip", (*processor).likeCLIP},
	{"Bit", "bit dinov2 focalnet hiera pixio", (*processor).likeCLIP},
	{"Siglip", "siglip colpali gemma3n paligemma", func(c *processor) {
		c.size, c.square = both(224), false
	}},
	{"Beit", "beit data2vec-vision", func(c *processor) {
		c.size, c.crop = both(224), area{224, 224}
		c.padless = true
	}},
	{"Blip", "blip blip-2 instructblip", func(c *processor) {
		c.size = both(384)
		c.clip()
	}},
	{"OwlViT", "owlvit", func(c *processor) {
		c.size, c.crop = both(768), area{768, 768}
		c.clip()
	}},
	{"Pvt", "pvt pvt_v2", func(c *processor) {
		c.size = both(224)
		c.imageNet()
	}},
	{"ConvNext", "convnext convnextv2 cvt regnet resnet", func(c *processor) {
		c.keys, c.own, c.strict, c.part = partKeys, convNextSizes, true, 0.875
		c.size, c.square = sides{shortest: 384}, false
		c.padless = true
	}},
	{"PoolFormer", "poolformer", func(c *processor) {
		c.keys, c.own, c.part = poolFormerKeys, poolFormerSizes, 0.9
		c.cropped(224, 224)
		c.imageNet()
	}},
	{"Levit", "levit", func(c *processor) {
		c.own = levitSizes
		c.cropped(224, 224)
		c.imageNet()
	}},
	{"EfficientNet", "efficientnet align", func(c *processor) {
		c.keys = efficientNetKeys
		c.size, c.crop = both(346), area{289, 289}
		c.padless = true
	}},
	{"MobileNetV1", "mobilenet_v1", (*processor).mobile},
	{"MobileNetV2", "mobilenet_v2", func(c *processor) {
		c.mobile()
		c.padless = true
	}},
	{"MobileViT", "mobilevit mobilevitv2", func(c *processor) {
		c.keys = mobileViTKeys
		c.cropped(224, 256)
		c.padless = true
	}},
	{"Segformer", "segformer upernet", func(c *processor) {
		c.size, c.filter = both(512), transform.Bilinear
		c.imageNet()
		c.cropless, c.padless = true, true
	}},
	{"DPT", "dpt depth_anything", (*processor).depth},
	{"PromptDepthAnything", "prompt_depth_anything", (*processor).depth},
	{"Detr", "detr table-transformer omdet-turbo", (*processor).detector},
	{"ConditionalDetr", "conditional_detr", (*processor).detector},
	{"DeformableDetr", "deformable_detr lw_detr", (*processor).detector},
	{"GroundingDino", "grounding-dino mm-grounding-dino", (*processor).detector},
	{"Yolos", "yolos", func(c *processor) {
		c.detector()
		c.own = yolosSizes
	}},
	{"RTDetr", "rt_detr deimv2", func(c *processor) {
		c.detector()
		c.size, c.normalize, c.pad = both(640), false, false
	}},
	{"Sam", "sam sam_hq", func(c *processor) {
		c.keys, c.own, c.strict = samKeys, samSizes, true
		c.size, c.filter = sides{longest: 1024}, transform.Bilinear
		c.imageNet()
		c.pad, c.padded = true, area{1024, 1024}
	}},
	{"MaskFormer", "maskformer", (*processor).masks},
	{"Mask2Former", "mask2former", (*processor).masks},
	{"OneFormer", "oneformer", func(c *processor) {
		c.detector()
		c.keys, c.detects, c.limit, c.padless = oneFormerKeys, false, 0, true
	}},
	{"Eomt", "eomt eomt_dinov3", func(c *processor) {
		c.keys, c.own = eomtKeys, eomtSizes
		c.size, c.square, c.filter = sides{shortest: 640, longest: 640}, false, transform.Bilinear
		c.imageNet()
		c.cropless, c.padless = true, true
	}},
	{"BridgeTower", "bridgetower", func(c *processor) {
		c.viLT()
		c.keys, c.cropless = bridgeTowerKeys, false
		c.size = sides{shortest: 288}
		c.center, c.crop = true, area{288, 288}
		c.clip()
	}},
	{"Vilt", "vilt", (*processor).viLT},
	{"TextNet", "textnet", func(c *processor) {
		c.keys, c.own, c.strict = blockKeys, textNetSizes, true
		c.size, c.square, c.filter, c.block = sides{shortest: 640}, false, transform.Bilinear, 32
		c.crop, c.padless = area{224, 224}, true
		c.imageNet()
	}},
	{"GLPN", "glpn", func(c *processor) {
		c.keys, c.own, c.filter, c.block = blockKeys, glpnSizes, transform.Bilinear, 32
		c.normalize, c.cropless, c.padless = false, true, true
	}},
	{"Pixtral", "pixtral mistral3 lighton_ocr mistral_large4", func(c *processor) {
		c.keys, c.own, c.strict = pixtralKeys, pixtralSizes, true
		c.size, c.padless, c.cut.fields = sides{longest: 1024}, true, imageSizes
		c.clip()
	}},
	{"Idefics2", "idefics2", func(c *processor) {
		c.keys, c.own, c.strict = splitKeys, idefics2Sizes, true
		c.size, c.square, c.filter = sides{shortest: 378, longest: 980}, false, transform.Bilinear
		c.cropless, c.padless = true, true
	}},
	{"Donut", "donut-swin", func(c *processor) {
		c.keys, c.own, c.strict = donutKeys, donutSizes, true
		c.size, c.filter = sides{height: 2560, width: 1920}, transform.Bilinear
		c.padless = true
	}},
	{"Janus", "janus", (*processor).janus},
	{"DeepseekVL", "deepseek_vl", (*processor).janus},
	{"PPChart2Table", "pp_chart2table", func(c *processor) {
		c.size = both(1024)
		c.clip()
	}},
	{"Chameleon", "chameleon", func(c *processor) {
		c.cropped(512, 512)
		c.filter, c.factor = transform.Lanczos, 0.0078
		c.mean, c.std = [3]float64{1, 1, 1}, [3]float64{1, 1, 1}
	}},
	{"Flava", "flava", func(c *processor) {
		c.likeCLIP()
		c.keys, c.padless = flavaKeys, true
		c.size, c.square = both(224), true
	}},
	{"VideoMAE", "videomae timesformer", func(c *processor) {
		c.cropped(224, 224)
		c.filter, c.padless = transform.Bilinear, true
	}},
	{"VideoLlava", "video_llava", func(c *processor) {
		c.likeCLIP()
		c.keys, c.padless = func(_ *processor, o object) { o.without("return_legacy_image_output") }, true
		c.own = videoLlavaSizes
	}},
	{"Llava", "llava", func(c *processor) {
		c.likeCLIP()
		c.keys, c.own, c.padless = llavaKeys, llavaSizes, true
	}},
	{"SegGpt", "seggpt", func(c *processor) {
		c.size = both(448)
		c.imageNet()
		c.cropless, c.padless = true, true
	}},
	{"LayoutLMv2", "layoutlmv2 layoutxlm", func(c *processor) {
		c.keys = layoutLMv2Keys
		c.size, c.filter = both(224), transform.Bilinear
		c.cropless, c.padless = true, true
	}},
	{"LayoutLMv3", "layoutlmv3 udop", func(c *processor) {
		c.keys = layoutLMv3Keys
		c.size, c.filter = both(224), transform.Bilinear
		c.cropless, c.padless = true, true
	}},
	{"Idefics", "idefics", func(c *processor) {
		c.keys = ideficsKeys
		c.size = both(224)
		c.clip()
	}},
	{"Gemma3", "gemma3 shieldgemma2 t5gemma2 t5gemma2_encoder", func(c *processor) {
		c.keys, c.own = gemma3Keys, gemma3Sizes
		c.size, c.filter = both(224), transform.Bilinear
		c.cropless, c.padless = true, true
	}},
	{"GotOcr2", "got_ocr2 internvl aya_vision qianfan_ocr", func(c *processor) {
		c.keys, c.own = gotOCR2Keys, gotOCR2Sizes
		c.size = both(384)
		c.clip()
		c.cropless, c.padless = true, true
	}},
	{"SuperPoint", "superpoint", func(c *processor) {
		c.keys = superPointKeys
		c.size, c.square, c.filter = sides{height: 480, width: 640}, false, transform.Bilinear
		c.cropless, c.padless = true, true
	}},
	{"Qwen2VL", "qwen2_vl colqwen2 cosmos3_omni dots3_note exaone4_5 hyperclovax_vision_v2 lfm3_vl qwen2_5_omni qwen2_5_vl qwen3_5 qwen3_5_moe " +
		"qwen3_omni_moe qwen3_vl qwen4_exp", func(c *processor) { c.smart(14, 2, 2, 56*56, 28*28*1280) }},
	{"CohereCompass", "cohere_compass", func(c *processor) { c.smart(14, 2, 2, 56*56, 28*28*1280) }},
	{"Ernie4_5_VLMoe", "ernie4_5_vl_moe", (*processor).ernie},
	{"Ernie4_5_VL_Moe", "", (*processor).ernie}, // its old name
	{"VideoLlama3", "video_llama_3", func(c *processor) {
		c.smart(14, 1, 1, 56*56, 28*28*1280)
		c.cut.fields, c.mean, c.std = gridAndMerge, halves, halves
	}},
	{"PaddleOCRVL", "paddleocr_vl", func(c *processor) {
		c.smart(14, 2, 1, 384*384, 1536*1536)
		c.cut.plain, c.cut.enlarge = true, sideBySide
	}},
	{"HunYuanVL", "hunyuan_vl", func(c *processor) {
		c.smart(16, 2, 1, 512*512, 2048*2048)
		c.keys, c.own, c.cut.plain, c.cut.prompt = hunYuanKeys, hunYuanSizes, true, false
	}},
	{"GlmImage", "glm_image", func(c *processor) {
		c.smart(14, 2, 2, 56*56, 28*28*1280)
		c.own = glmImageSizes
	}},
	{"Glm4v", "glm4v", func(c *processor) { c.glm(14, 2, 2, 112*112, 28*28*15000) }},
	{"Glm46V", "glm46v", func(c *processor) { c.glm(14, 2, 2, 112*112, 28*28*15000) }},
	{"Glmga", "glmga", func(c *processor) { c.glm(14, 2, 2, 112*112, 28*28*15000) }},
	{"Cosmos3Edge", "cosmos3_edge", func(c *processor) {
		c.glm(16, 2, 1, 256*256, 4096*4096)
		c.cut.last, c.mean, c.std = true, halves, halves
	}},
	{"Siglip2", "siglip2", (*processor).naFlex},
	{"Gemma4", "gemma4 embedding_gemma2", (*processor).gemma4},
	{"LlavaNext", "llava_next granite4_vision llava_next_video", func(c *processor) {
		c.likeCLIP()
		c.keys, c.own, c.strict, c.padless = llavaNextKeys, llavaNextSizes, true, true
		c.pinpoints = [][2]int{{336, 672}, {672, 336}, {672, 672}, {1008, 336}, {336, 1008}}
	}},
	{"LlavaOnevision", "llava_onevision", func(c *processor) {
		c.clip()
		c.keys, c.own, c.strict, c.padless = llavaNextKeys, llavaNextSizes, true, true
		c.size, c.square = both(384), false
		for k := range 36 {
			c.pinpoints = append(c.pinpoints, [2]int{384 * (k/6 + 1), 384 * (k%6 + 1)})
		}
	}},
	{"Idefics3", "idefics3", (*processor).idefics3},
	{"SmolVLM", "smolvlm", (*processor).idefics3},
	{"Mllama", "mllama", func(c *processor) {
		c.keys, c.own, c.strict = mllamaKeys, mllamaSizes, true
		c.size, c.filter = both(224), transform.Bilinear
		c.cropless, c.padless = true, true
	}},
	{"Ovis2", "ovis2", func(c *processor) {
		c.keys, c.own = ovis2Keys, ovis2Sizes
		c.size, c.padless = both(384), true
		c.clip()
	}},
	{"GraniteDocling", "granite_docling", func(c *processor) {
		c.keys, c.own, c.strict = graniteKeys, graniteSizes, true
		c.size, c.cropless, c.padless = both(512), true, true
		c.clip()
	}},
	{"Aria", "aria", func(c *processor) {
		c.keys, c.own, c.strict = ariaKeys, ariaSizes, true
		c.cropless, c.padless = true, true
		for _, p := range [][2]int{
			{1, 2}, {1, 3}, {1, 4}, {1, 5}, {1, 6}, {1, 7}, {1, 8}, {2, 4}, {2, 3}, {2, 2},
			{2, 1}, {3, 1}, {3, 2}, {4, 1}, {4, 2}, {5, 1}, {6, 1}, {7, 1}, {8, 1},
		} {
			c.pinpoints = append(c.pinpoints, [2]int{490 * p[0], 490 * p[1]})
		}
	}},
	{"MiniCPMV4_6", "minicpmv4_6 minicpmv4_7", func(c *processor) {
		c.keys, c.own, c.strict = miniCPMKeys, miniCPMSizes, true
		c.cut = cutting{side: 14, merge: 1, frames: 1}
		c.cropless, c.padless = true, true
	}},
	{"Glm5Next", "glm5_next", (*processor).glm5},
	{"DeepseekVLHybrid", "deepseek_vl_hybrid", func(c *processor) {
		c.janus()
		c.keys, c.own, c.second = hybridKeys, hybridSizes, "high_res_pixel_values"
		c.highRes = finer{area{1024, 1024}, transform.Bicubic, clipMean, clipStd}
	}},
	{"DeepseekOcr2", "deepseek_ocr2", func(c *processor) {
		c.keys, c.own, c.strict, c.second = deepseekOCR2Keys, deepseekOCR2Sizes, true, "pixel_values_local"
		c.size, c.cropless, c.padless = both(1024), true, true
	}},
	{"Perceiver", "perceiver", func(c *processor) {
		c.own, c.strict, c.canvas = perceiverSizes, true, true
		c.size, c.center, c.crop, c.padless = both(224), true, area{256, 256}, true
		c.imageNet()
	}},
	{"Fuyu", "fuyu", func(c *processor) {
		c.keys, c.own, c.strict = fuyuKeys, fuyuSizes, true
		c.size, c.filter = sides{height: 1080, width: 1920}, transform.Bilinear
		c.cropless, c.padless = true, true
	}},
	{"Tvp", "tvp", func(c *processor) {
		c.cropped(0, 448)
		c.keys, c.own, c.pad, c.padded = tvpKeys, tvpSizes, true, area{448, 448}
		c.size, c.filter = sides{longest: 448}, transform.Bilinear
	}},
	{"Emu3", "emu3", func(c *processor) {
		c.keys, c.own, c.strict, c.cut.fields = emu3Keys, emu3Sizes, true, imageSizes
		c.cropless, c.padless = true, true
		c.clip()
	}},
	{"Swin2SR", "swin2sr", func(c *processor) {
		c.keys, c.own, c.strict = swin2SRKeys, swin2SRSizes, true
		c.normalize, c.cropless, c.padless = false, true, true
	}},
}
