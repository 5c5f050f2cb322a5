package presets

import (
	"encoding/json"

	"github.com/penstock-go/penstock/transform"
)

// OpenCLIP makes the steps with which models of OpenCLIP are evaluated. The argument is the content of a model's
// open_clip_config.json, or only the object preprocess_cfg in it. The result is that of open_clip's image_transform with
// is_train=False and a PIL image in RGB, bit for bit. The model's image_size counts before the size in preprocess_cfg, as
// there. A key of preprocess_cfg that is not known, and a value that cannot be met, are errors that name the key. Another
// [transform.Normalize] after it is an error.
func OpenCLIP(config []byte, options ...Option) (transform.Step, error) {
	return preset("OpenCLIP", config, options, func(_ settings, o object) []transform.Step {
		c := readOpenCLIP(o)
		return append(c.geometry(), transform.ToTensor(), transform.Normalize(narrow(c.mean), narrow(c.std)))
	})
}

// An openCLIP is what a preprocess_cfg says.
type openCLIP struct {
	h, w      int
	filter    transform.Filter
	mode      string // resize_mode
	fill      []float64
	mean, std [3]float64
}

// readOpenCLIP reads an open_clip_config.json, or the preprocess_cfg that is in it.
func readOpenCLIP(o object) openCLIP {
	model, whole := o.object("model_cfg")
	if inner, ok := o.object("preprocess_cfg"); ok {
		if !whole {
			o.end()
		}
		o = inner
	} else if whole {
		o = object{prefix: "preprocess_cfg.", errs: o.errs}
	}
	c := openCLIP{mean: o.colours("mean", clipMean), std: o.colours("std", clipStd), fill: o.fill("fill_color")}
	if c.h, c.w = o.sides("size"); c.h == 0 {
		c.h, c.w = 224, 224
	}
	if whole {
		c.h, c.w = 224, 224
		if vision, ok := model.object("vision_cfg"); ok {
			if h, w := vision.sides("image_size"); h > 0 {
				c.h, c.w = h, w
			}
		}
	}
	if mode := o.word("mode"); mode != "" && mode != "RGB" {
		o.fail("mode", "want RGB, not %q", mode)
	}
	c.filter = transform.Bicubic
	switch name := o.word("interpolation"); name {
	case "", "bicubic", "random": // random is for training
	case "bilinear":
		c.filter = transform.Bilinear
	default:
		o.fail("interpolation", "want bicubic, bilinear or random, not %q", name)
	}
	switch c.mode = o.word("resize_mode"); c.mode {
	case "", "shortest", "longest", "squash":
	default:
		o.fail("resize_mode", "want shortest, longest or squash, not %q", c.mode)
	}
	o.end()
	return c
}

// fill takes a colour of 8 bits: one number for all colours, or three. Without one it is black.
func (o object) fill(key string) []float64 {
	text, ok := o.take(key)
	if !ok {
		return []float64{0}
	}
	var one float64
	var list []float64
	switch {
	case json.Unmarshal(text, &one) == nil:
		list = []float64{one}
	case json.Unmarshal(text, &list) != nil || len(list) != 3:
		list = []float64{-1}
	}
	for _, v := range list {
		if v != float64(uint8(v)) {
			o.fail(key, "want one whole number from 0 to 255, or three, not %s", brief(text))
			return []float64{0}
		}
	}
	return list
}

// geometry is what open_clip does before ToTensor.
func (c openCLIP) geometry() []transform.Step {
	size := [2]int{c.h, c.w}
	switch {
	case c.mode == "squash":
		return []transform.Step{transform.Resize(size, filtered(c.filter)...)}
	case c.mode == "longest":
		return []transform.Step{keepRatio(c.h, c.w, true).step(c.filter), transform.CenterCrop(size, transform.Fill(c.fill...))}
	case c.h == c.w:
		return []transform.Step{transform.Resize(c.h, filtered(c.filter)...), transform.CenterCrop(size)}
	}
	// Here open_clip does not look at interpolation.
	return []transform.Step{keepRatio(c.h, c.w, false).step(transform.Bicubic), transform.CenterCrop(size)}
}
