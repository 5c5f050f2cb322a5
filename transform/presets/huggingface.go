// Package presets makes the steps of package transform that a model's own configuration asks for:
// that of an image processor of Hugging Face's transformers, that of a model of timm, and that of a
// model of OpenCLIP. [Open] finds it in a folder. What they read follows the releases of these libraries.
package presets

import (
	"errors"
	"fmt"
	"strings"

	"github.com/penstock-go/penstock/transform"
)

// An Option changes what [HuggingFace] and [Timm] make, and [Open] with them. The zero Option changes nothing.
type Option struct {
	of   string // the function that has the option
	set  func(*settings)
	text string
}

// settings are what options set.
type settings struct {
	model  string
	pixels string
	larger bool
}

// settle makes the settings of a function, and the text that its step prints.
func settle(name string, options []Option) (s settings, text string, err error) {
	text = name + "(…"
	for _, o := range options {
		if o.set == nil {
			continue
		}
		if o.of != name {
			err = errors.Join(err, fmt.Errorf("has no option %s", o.text))
		}
		o.set(&s)
		text += ", " + o.text
	}
	return s, text + ")", err
}

// ModelType says which model a configuration of [HuggingFace] belongs to, for those that do not
// name their image processor: name is the model_type of the model's config.json,
// such as "vit". A configuration that names its processor ignores it.
func ModelType(name string) Option {
	return Option{"HuggingFace", func(s *settings) { s.model = name }, fmt.Sprintf("ModelType(%q)", name)}
}

// Pixels says which tensor of pixels [HuggingFace] makes, for the two image processors that make two of an image: DeepSeek-OCR 2 has
// "pixel_values_local" beside "pixel_values", and DeepSeek-VL's hybrid one "high_res_pixel_values". The default is "pixel_values".
func Pixels(name string) Option {
	return Option{"HuggingFace", func(s *settings) { s.pixels = name }, fmt.Sprintf("Pixels(%q)", name)}
}

// HuggingFace makes the steps of an image processor of Hugging Face's transformers. The argument is the content of
// preprocessor_config.json, or of a processor_config.json with an object image_processor. The result is that of the
// processors that work on PIL images (backend="pil"), bit for bit; docs/processors.md says how far the others are from it.
//
// Keys that are missing have the defaults of the class that the configuration names, or of [ModelType]. A key that is not
// known, and a value that cannot be met, are errors that name the key. Another [transform.Normalize] after it is an error.
func HuggingFace(config []byte, options ...Option) (transform.Step, error) {
	return preset("HuggingFace", config, options, func(s settings, o object) []transform.Step {
		_, all := s.read(o)
		return all
	})
}

// preset makes the step of a configuration, which read takes. Where something is wrong with its keys, the steps mean nothing.
func preset(name string, config []byte, options []Option, read func(s settings, o object) []transform.Step) (transform.Step, error) {
	s, text, err := settle(name, options)
	errs := []error{err}
	var all []transform.Step
	if o := parseObject(config, &errs); errors.Join(errs...) == nil {
		all = read(s, o)
	}
	for k, err := range errs {
		if err != nil {
			errs[k] = fmt.Errorf("presets: %s: %w", text, err)
		}
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	return transform.Preset(text, all...), nil
}

// read takes all keys.
func (s settings) read(o object) (*processor, []transform.Step) {
	if inner, ok := o.object("image_processor"); ok {
		o.without("processor_class", "feature_extractor", "video_processor", "tokenizer", "chat_template", "auto_map")
		o.end()
		o = inner
	}
	c, ok := s.processor(o)
	if !ok {
		return nil, nil
	}
	switch s.pixels {
	case "", "pixel_values":
	case c.second:
		c.other = true
	default:
		*o.errs = append(*o.errs, fmt.Errorf("this image processor makes %s", strings.TrimSuffix("pixel_values and "+c.second, " and ")))
	}
	c.read(o)
	all := c.steps(o)
	o.without(withoutPixels...)
	o.end()
	return c, all
}

// withoutPixels are keys that do not change pixels: names, what is done with
// annotations and masks, on which device, and how results are returned.
var withoutPixels = []string{
	"_processor_class", "_valid_processor_keys", "auto_map", "data_format", "device", "disable_grouping", "do_convert_annotations",
	"do_convert_rgb", "do_reduce_labels", "format", "image_seq_length", "input_data_format", "masks_path", "model_input_names",
	"num_labels", "ignore_index", "processor_class", "reduce_labels", "return_segmentation_masks", "return_tensors", "transformers_version",
}

// processor is the family that the configuration is of, with its defaults.
func (s settings) processor(o object) (*processor, bool) {
	key := "image_processor_type"
	name := o.word(key)
	if old := o.word("feature_extractor_type"); name == "" {
		key, name = "feature_extractor_type", old
	}
	switch {
	case name != "":
		name = strings.TrimSuffix(strings.TrimSuffix(name, "Fast"), "Pil")
		name = strings.TrimSuffix(strings.TrimSuffix(name, "FeatureExtractor"), "ImageProcessor")
	case s.model != "":
		if name = processorOf(s.model); name == "" {
			o.fail(key, "missing, and ModelType %q is not known", s.model)
			return nil, false
		}
	case o.has("pretrained_cfg"):
		o.fail("pretrained_cfg", "this is a configuration of timm: use Timm")
		return nil, false
	default:
		o.fail("image_processor_type", "missing; ModelType can say whose configuration it is")
		return nil, false
	}
	c, ok := family(name)
	switch {
	case name == "TimmWrapper":
		o.fail(key, "use Timm with the model's config.json")
	case !ok:
		o.fail(key, "%sImageProcessor is not supported", name)
	}
	return &c, ok
}
