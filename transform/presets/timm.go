package presets

import (
	"encoding/json"
	"math"

	"github.com/penstock-go/penstock/transform"
)

// Timm makes the steps with which timm's models are evaluated. The argument is the content of a model's config.json, or
// only the object pretrained_cfg in it. The result is that of
//
//	timm.data.create_transform(**timm.data.resolve_model_data_config(model))
//
// with a PIL image in RGB, bit for bit. A key that is not known, and a value that cannot be met, are errors that name the
// key. Another [transform.Normalize] after it is an error.
func Timm(config []byte, options ...Option) (transform.Step, error) {
	return preset("Timm", config, options, func(s settings, o object) []transform.Step {
		c := readTimm(o, s.larger)
		o.end()
		return append(c.geometry(), transform.ToTensor(), transform.Normalize(narrow(c.mean), narrow(c.std)))
	})
}

// TestSize makes [Timm] take test_input_size and test_crop_pct where the configuration has them, as timm does with
// use_test_size=True. Some models are more accurate with images that are larger than those of their training.
func TestSize() Option {
	return Option{"Timm", func(s *settings) { s.larger = true }, "TestSize()"}
}

// A timmConfig is what a pretrained_cfg says about images.
type timmConfig struct {
	h, w      int
	part      float64 // of the resized image that the crop shows, per side
	filter    transform.Filter
	mode      string
	mean, std [3]float64
}

// timmOther are keys that do not change pixels: where weights come from, what the
// classes are, how the model is built.
var timmOther = []string{
	"architecture", "architectures", "classifier", "custom_load", "description", "dtype", "file", "first_conv", "global_pool",
	"hf_hub_filename", "hf_hub_id", "id2label", "initializer_range", "input_norm_layer", "label2id", "label_descriptions", "label_names",
	"label_offset", "labels", "library_name", "license", "min_input_size", "model_type", "notes", "num_classes", "num_features",
	"origin_url", "paper_ids", "paper_name", "pool_size", "problem_type", "source", "state_dict", "tag", "test_pool_size",
	"torch_dtype", "transformers_version", "url",
}

// readTimm reads a config.json, or the pretrained_cfg that is in it.
func readTimm(o object, larger bool) timmConfig {
	args, _ := o.object("model_args")
	o.without(timmOther...)
	if cfg, ok := o.object("pretrained_cfg"); ok {
		cfg.without(timmOther...)
		defer cfg.end()
		o = cfg
	}
	c := timmConfig{part: o.part("crop_pct", 0.875)}
	c.h, c.w = o.chw("input_size", 224, 224)
	if o.flag("fixed_input_size", false) && args.fixed() {
		if h, w := args.sides("img_size"); h > 0 {
			c.h, c.w = h, w
		}
	}
	if n := args.whole("in_chans"); n != 0 && n != 3 {
		args.fail("in_chans", "want 3, not %d", n)
	}
	h, w := o.chw("test_input_size", c.h, c.w)
	part := o.part("test_crop_pct", c.part)
	if larger {
		c.h, c.w, c.part = h, w, part
	}
	c.readRest(o)
	return c
}

func (c *timmConfig) readRest(o object) {
	c.filter = transform.Bicubic
	if name := o.word("interpolation"); name != "" {
		f, ok := filterNamed(name)
		if !ok {
			o.fail("interpolation", "want bilinear, nearest, box, bicubic, lanczos or hamming, not %q", name)
		}
		c.filter = f
	}
	switch c.mode = o.word("crop_mode"); c.mode {
	case "", "center", "squash", "border":
	default:
		o.fail("crop_mode", "want center, squash or border, not %q", c.mode)
	}
	c.mean = o.colours("mean", imageNetMean)
	c.std = o.colours("std", imageNetStd)
}

// chw takes a shape (3, h, w).
func (o object) chw(key string, otherH, otherW int) (h, w int) {
	text, ok := o.take(key)
	if !ok {
		return otherH, otherW
	}
	var s []int
	if json.Unmarshal(text, &s) != nil || len(s) != 3 || s[0] != 3 || min(s[1], s[2]) < 1 || max(s[1], s[2]) > maxSide {
		o.fail(key, "want [3, height, width], not %s", brief(text))
		return otherH, otherW
	}
	return s[1], s[2]
}

// part takes a crop_pct, the part of the resized image that the crop shows.
func (o object) part(key string, other float64) float64 {
	v := o.number(key, other)
	if !(v > 1e-3 && v < 1e3) {
		o.fail(key, "want a part of the side, above 0.001 and below 1000, not %v", v)
		return other
	}
	return v
}

// fixed reports whether the arguments of a model keep it to one size.
func (o object) fixed() bool {
	return !o.flag("dynamic_img_size", false) && o.flag("strict_img_size", true) && !o.flag("use_naflex", false)
}

// geometry is what timm does before ToTensor.
func (c timmConfig) geometry() []transform.Step {
	h, w := int(math.Floor(float64(c.h)/c.part)), int(math.Floor(float64(c.w)/c.part))
	size := [2]int{c.h, c.w}
	crop := transform.CenterCrop(size)
	switch {
	case c.mode == "squash":
		return []transform.Step{transform.Resize([2]int{h, w}, filtered(c.filter)...), crop}
	case c.mode == "border":
		return []transform.Step{keepRatio(h, w, true).step(c.filter), transform.CenterCrop(size, eightBits(c.mean))}
	case h == w:
		return []transform.Step{transform.Resize(h, filtered(c.filter)...), crop}
	}
	return []transform.Step{keepRatio(h, w, false).step(c.filter), crop}
}

// eightBits is the pixel of a mean.
func eightBits(mean [3]float64) transform.Option {
	at := func(v float64) float64 { return float64(min(max(round(255*v), 0), 255)) }
	return transform.Fill(at(mean[0]), at(mean[1]), at(mean[2]))
}
