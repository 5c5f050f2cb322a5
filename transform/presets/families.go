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
		resize: true, rescale: true, normalize: true, square: true,
		filter: transform.Bicubic, factor: 1.0 / 255, mean: halves, std: halves,
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
	c.kind, c.cropless, c.pad = detr, true, true
	c.size, c.square, c.filter = sides{shortest: 800, longest: 1333}, false, transform.Bilinear
	c.imageNet()
}

// likeCLIP is CLIP's processor.
func (c *processor) likeCLIP() {
	c.cropped(224, 224)
	c.clip()
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
		c.kind, c.part = convNext, 0.875
		c.size, c.square = sides{shortest: 384}, false
		c.padless = true
	}},
	{"PoolFormer", "poolformer", func(c *processor) {
		c.kind, c.part = poolFormer, 0.9
		c.cropped(224, 224)
		c.imageNet()
	}},
	{"Levit", "levit", func(c *processor) {
		c.kind = leViT
		c.cropped(224, 224)
		c.imageNet()
	}},
	{"EfficientNet", "efficientnet align", func(c *processor) {
		c.kind = efficientNet
		c.size, c.crop = both(346), area{289, 289}
		c.padless = true
	}},
	{"MobileNetV1", "mobilenet_v1", (*processor).mobile},
	{"MobileNetV2", "mobilenet_v2", func(c *processor) {
		c.mobile()
		c.padless = true
	}},
	{"MobileViT", "mobilevit mobilevitv2", func(c *processor) {
		c.kind = mobileViT
		c.cropped(224, 256)
		c.padless = true
	}},
	{"Segformer", "segformer upernet", func(c *processor) {
		c.size, c.filter = both(512), transform.Bilinear
		c.imageNet()
		c.cropless, c.padless = true, true
	}},
	{"DPT", "dpt depth_anything", func(c *processor) {
		c.kind = dpt
		c.size = both(384)
		c.cropless = true
	}},
	{"Detr", "detr table-transformer omdet-turbo", (*processor).detector},
	{"ConditionalDetr", "conditional_detr", (*processor).detector},
	{"DeformableDetr", "deformable_detr lw_detr", (*processor).detector},
	{"GroundingDino", "grounding-dino mm-grounding-dino", (*processor).detector},
	{"Yolos", "yolos", func(c *processor) {
		c.detector()
		c.kind = yolos
	}},
	{"RTDetr", "rt_detr deimv2", func(c *processor) {
		c.detector()
		c.size, c.normalize, c.pad = both(640), false, false
	}},
	{"Sam", "sam sam_hq", func(c *processor) {
		c.kind = sam
		c.size, c.filter = sides{longest: 1024}, transform.Bilinear
		c.imageNet()
		c.pad, c.padded = true, area{1024, 1024}
	}},
}
