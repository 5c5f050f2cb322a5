package transform

// family is the processor with the defaults of a class of transformers, whose
// name without ImageProcessor this is. They are those of version 5.23.
func family(name string) (processor, bool) {
	c := processor{
		resize: true, rescale: true, normalize: true, square: true,
		filter: Bicubic, factor: 1.0 / 255, mean: halves, std: halves,
	}
	switch name {
	case "ViT":
		c.size, c.filter = sides{height: 224, width: 224}, Bilinear
	case "DeiT":
		c.size = sides{height: 256, width: 256}
		c.center, c.crop = true, area{224, 224}
	case "CLIP", "ChineseCLIP", "Bit":
		c.size, c.square = sides{shortest: 224}, false
		c.center, c.crop = true, area{224, 224}
		c.mean, c.std = clipMean, clipStd
	case "Siglip":
		c.size, c.square = sides{height: 224, width: 224}, false
	case "Beit":
		c.size, c.crop = sides{height: 224, width: 224}, area{224, 224}
		c.padless = true
	case "Blip":
		c.size = sides{height: 384, width: 384}
		c.mean, c.std = clipMean, clipStd
	case "OwlViT":
		c.size, c.crop = sides{height: 768, width: 768}, area{768, 768}
		c.mean, c.std = clipMean, clipStd
	case "Pvt":
		c.size = sides{height: 224, width: 224}
		c.mean, c.std = imageNetMean, imageNetStd
	case "ConvNext":
		c.kind, c.part = convNext, 0.875
		c.size, c.square = sides{shortest: 384}, false
		c.padless = true
	case "PoolFormer":
		c.kind, c.part = poolFormer, 0.9
		c.size, c.square = sides{shortest: 224}, false
		c.center, c.crop = true, area{224, 224}
		c.mean, c.std = imageNetMean, imageNetStd
	case "Levit":
		c.kind = leViT
		c.size, c.square = sides{shortest: 224}, false
		c.center, c.crop = true, area{224, 224}
		c.mean, c.std = imageNetMean, imageNetStd
	case "EfficientNet":
		c.kind = efficientNet
		c.size, c.crop = sides{height: 346, width: 346}, area{289, 289}
		c.padless = true
	case "MobileNetV1", "MobileNetV2":
		c.size, c.square, c.filter = sides{shortest: 256}, false, Bilinear
		c.center, c.crop = true, area{224, 224}
		c.padless = name == "MobileNetV2"
	case "MobileViT":
		c.kind = mobileViT
		c.size, c.square = sides{shortest: 224}, false
		c.center, c.crop = true, area{256, 256}
		c.padless = true
	case "Segformer":
		c.size, c.filter = sides{height: 512, width: 512}, Bilinear
		c.mean, c.std = imageNetMean, imageNetStd
		c.cropless, c.padless = true, true
	case "DPT":
		c.kind = dpt
		c.size = sides{height: 384, width: 384}
		c.cropless = true
	case "Detr", "ConditionalDetr", "DeformableDetr", "GroundingDino", "Yolos", "RTDetr":
		c.kind, c.cropless, c.pad = detr, true, true
		c.size, c.square, c.filter = sides{shortest: 800, longest: 1333}, false, Bilinear
		c.mean, c.std = imageNetMean, imageNetStd
		switch name {
		case "Yolos":
			c.kind = yolos
		case "RTDetr":
			c.size, c.normalize, c.pad = sides{height: 640, width: 640}, false, false
		}
	case "Sam":
		c.kind = sam
		c.size, c.filter = sides{longest: 1024}, Bilinear
		c.mean, c.std = imageNetMean, imageNetStd
		c.pad, c.padded = true, area{1024, 1024}
	default:
		return processor{}, false
	}
	return c, true
}

// processorOf is the class for a model_type, without ImageProcessor, or "".
func processorOf(model string) string {
	switch model {
	case "vit", "vit_mae", "vit_msn", "swin", "swinv2", "swiftformer", "ijepa", "clipseg", "dinat", "mgp-str", "trocr":
		return "ViT"
	case "deit":
		return "DeiT"
	case "clip", "aimv2", "aimv2_vision_model", "altclip", "florence2", "git", "groupvit", "kosmos-2", "metaclip_2", "mlcd", "vipllava", "xclip":
		return "CLIP"
	case "chinese_clip":
		return "ChineseCLIP"
	case "bit", "dinov2", "focalnet", "hiera", "pixio":
		return "Bit"
	case "siglip", "colpali", "gemma3n", "paligemma":
		return "Siglip"
	case "beit", "data2vec-vision":
		return "Beit"
	case "blip", "blip-2", "instructblip":
		return "Blip"
	case "owlvit":
		return "OwlViT"
	case "pvt", "pvt_v2":
		return "Pvt"
	case "convnext", "convnextv2", "cvt", "regnet", "resnet":
		return "ConvNext"
	case "poolformer":
		return "PoolFormer"
	case "levit":
		return "Levit"
	case "efficientnet", "align":
		return "EfficientNet"
	case "mobilenet_v1":
		return "MobileNetV1"
	case "mobilenet_v2":
		return "MobileNetV2"
	case "mobilevit", "mobilevitv2":
		return "MobileViT"
	case "segformer", "upernet":
		return "Segformer"
	case "dpt", "depth_anything":
		return "DPT"
	case "detr", "table-transformer", "omdet-turbo":
		return "Detr"
	case "conditional_detr":
		return "ConditionalDetr"
	case "deformable_detr", "lw_detr":
		return "DeformableDetr"
	case "grounding-dino", "mm-grounding-dino":
		return "GroundingDino"
	case "rt_detr", "deimv2":
		return "RTDetr"
	case "yolos":
		return "Yolos"
	case "sam", "sam_hq":
		return "Sam"
	}
	return ""
}
