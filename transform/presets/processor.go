package presets

import (
	"encoding/json"

	"github.com/penstock-go/penstock/transform"
)

// A processor is what the configuration of an image processor says, or what its class takes where a key is missing.
type processor struct {
	traits
	other  bool // its second tensor is wanted
	canvas bool // own does more than to resize

	resize, center, pad bool

	size   sides
	square bool // size as one number is for both sides
	crop   area
	padded area // pad_size
	filter transform.Filter

	rare
	cut cutting
	tiling
	colouring
}

// traits are what no configuration changes.
type traits struct {
	keys     func(c *processor, o object)                  // takes the keys that other classes do not have, before all others
	own      func(c *processor, o object) []transform.Step // how the class resizes; nil, or the result nil: as most do
	strict   bool                                          // it takes no other form of size than own does
	detects  bool                                          // nor one edge alone
	limit    int                                           // of the longest edge, if max_size is missing
	cropless bool                                          // transformers ignores do_center_crop
	padless  bool                                          // and do_pad
	second   string                                        // the name of a second tensor of pixels
}

// rare are keys that few classes have.
type rare struct {
	part       float64    // crop_pct
	keep       bool       // keep_aspect_ratio
	block      int        // ensure_multiple_of, size_divisor, and other names of what sides are multiples of
	divisor    int        // size_divisor, of what is in the middle of zeros
	least      int        // min_size, and other names of the least or only side of what is made
	patch      area       // patch_size, of a class that does not cut
	fill       float64    // padding_value
	background [3]float64 // background_color
	highRes    finer
}

// sides is the key size. What is not 0 counts.
type sides struct{ height, width, shortest, longest, maxHeight, maxWidth int }

// area is a height and a width, or nothing.
type area struct{ h, w int }

// read takes all keys.
func (c *processor) read(o object) {
	if c.keys != nil {
		c.keys(c, o)
	}
	c.resize = o.flag("do_resize", c.resize)
	c.center = o.flag("do_center_crop", c.center)
	c.rescale = o.flag("do_rescale", c.rescale)
	c.normalize = o.flag("do_normalize", c.normalize)
	c.pad = o.flag("do_pad", c.pad)
	c.square = o.flag("default_to_square", c.square)
	c.readSize(o)
	c.crop = o.area("crop_size", c.crop)
	c.padded = o.area("pad_size", c.padded)
	c.filter = o.filter("resample", c.filter)
	c.factor = o.number("rescale_factor", c.factor)
	c.mean = o.colours("image_mean", c.mean)
	c.std = o.colours("image_std", c.std)
	c.center, c.pad = c.center && !c.cropless, c.pad && !c.padless
	if c.other && c.highRes.size != (area{}) {
		c.mean, c.std = c.highRes.mean, c.highRes.std
	}
	if c.center && c.crop == (area{}) {
		o.fail("crop_size", "missing")
	}
	if c.rescale && float32(c.factor) == 0 {
		o.fail("rescale_factor", "want another number than %v", c.factor)
	}
}

// readSize takes size: an object, a number, or height and width. In old
// configurations of DETR, max_size is the longest edge.
func (c *processor) readSize(o object) {
	limit := c.limit
	if c.detects {
		if n := o.whole("max_size"); n > 0 {
			limit = n
		}
	}
	var n int
	switch text := o.left["size"]; {
	case !o.has("size"):
		o.without("size")
	case text[0] == '{':
		s, _ := o.object("size")
		c.size = sides{
			height: s.whole("height"), width: s.whole("width"),
			shortest: s.whole("shortest_edge"), longest: s.whole("longest_edge"),
			maxHeight: s.whole("max_height"), maxWidth: s.whole("max_width"),
		}
		s.end()
	case !c.square && json.Unmarshal(text, &n) == nil:
		c.size = sides{shortest: o.whole("size"), longest: limit}
	default:
		h, w := o.sides("size")
		c.size = sides{height: h, width: w}
	}
}

// area takes an object with height and width, a list of them, or one number for both.
func (o object) area(key string, other area) (a area) {
	switch text := o.left[key]; {
	case !o.has(key):
		o.without(key)
		return other
	case text[0] == '{':
		s, _ := o.object(key)
		a = area{s.whole("height"), s.whole("width")}
		s.end()
		if a.h == 0 || a.w == 0 {
			o.fail(key, "want height and width")
		}
	default:
		a.h, a.w = o.sides(key)
	}
	return a
}

// filter takes Pillow's number of a filter.
func (o object) filter(key string, other transform.Filter) transform.Filter {
	numbers := [...]transform.Filter{transform.Nearest, transform.Lanczos, transform.Bilinear, transform.Bicubic, transform.Box, transform.Hamming}
	text, ok := o.take(key)
	if !ok {
		return other
	}
	var n int
	if json.Unmarshal(text, &n) != nil || n < 0 || n >= len(numbers) {
		o.fail(key, "want 0 (nearest), 1 (lanczos), 2 (bilinear), 3 (bicubic), 4 (box) or 5 (hamming), not %s", brief(text))
		return other
	}
	return numbers[n]
}
