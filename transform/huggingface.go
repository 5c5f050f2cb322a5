package transform

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/penstock-go/penstock/internal/steps"
)

// HuggingFace makes the steps of an image processor of Hugging Face's
// transformers. The argument is the content of preprocessor_config.json, or of a
// processor_config.json with an object image_processor.
//
// The result is that of the processors that work on PIL images, bit for bit:
// those were called slow, and have backend="pil" since version 5. The fast ones
// resize with torchvision, whose pixels mostly differ by 1 or 2 levels of 255.
// docs/processors.md says by how much, for every family of models.
//
// Keys that are missing have the defaults of the class that image_processor_type
// or feature_extractor_type names. Where both are missing, see
// [HuggingFacePreset.ModelType]. A key that is not known, or a value that cannot
// be met, is an error of [Images] and [Compile] that names the key. Every image
// becomes RGB, also without do_convert_rgb. As with [Eval], another [Normalize]
// after it is an error.
func HuggingFace(config []byte) HuggingFacePreset {
	return HuggingFacePreset{config: slices.Clone(config)}
}

// HuggingFacePreset is the step that [HuggingFace] makes.
type HuggingFacePreset struct {
	config []byte
	model  string
}

// ModelType says which model the configuration belongs to, for those that do not
// name their image processor: name is the model_type of the model's config.json,
// such as "vit". A configuration that names its processor ignores it.
func (s HuggingFacePreset) ModelType(name string) HuggingFacePreset {
	s.model = name
	return s
}

func (s HuggingFacePreset) item() {}

// String prints the call that made the step, without the configuration.
func (s HuggingFacePreset) String() string {
	if s.model != "" {
		return "HuggingFace(…)" + steps.Call(".ModelType", fmt.Sprintf("%q", s.model))
	}
	return "HuggingFace(…)"
}

func (s HuggingFacePreset) add(p *program) error {
	var errs []error
	var all []Step
	if o := parseObject(s.config, &errs); len(errs) == 0 {
		all = s.read(o)
	}
	if len(errs) > 0 {
		return errors.Join(errs...)
	}
	return p.addPreset(s, all)
}

// read takes all keys. Where something is wrong with them, the steps mean nothing.
func (s HuggingFacePreset) read(o object) []Step {
	if inner, ok := o.object("image_processor"); ok {
		o.without("processor_class", "feature_extractor", "video_processor", "tokenizer", "chat_template", "auto_map")
		o.end()
		o = inner
	}
	c, ok := s.processor(o)
	if !ok {
		return nil
	}
	c.read(o)
	all := c.steps(o)
	o.without(withoutPixels...)
	o.end()
	return all
}

// withoutPixels are keys that do not change pixels: names, what is done with
// annotations and masks, on which device, and how results are returned.
var withoutPixels = []string{
	"_processor_class", "_valid_processor_keys", "auto_map", "data_format", "device", "disable_grouping", "do_convert_annotations",
	"do_convert_rgb", "do_reduce_labels", "format", "image_seq_length", "input_data_format", "masks_path", "model_input_names",
	"num_labels", "ignore_index", "processor_class", "reduce_labels", "return_segmentation_masks", "return_tensors", "transformers_version",
}

// processor is the family that the configuration is of, with its defaults.
func (s HuggingFacePreset) processor(o object) (*processor, bool) {
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
	case o.left["pretrained_cfg"] != nil:
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
