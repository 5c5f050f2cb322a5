package presets

import (
	"fmt"
	"math"

	"github.com/penstock-go/penstock/transform"
)

// This file has what single classes do in their own way: the keys that only they have, and how they resize. Functions
// that resize return nil for forms of size that the class treats as most do, or does not take.

// depthKeys, and those after it, take keys.
func depthKeys(c *processor, o object) {
	c.block, c.keep = max(o.whole("ensure_multiple_of"), 1), o.flag("keep_aspect_ratio", false)
	c.divisor = o.whole("size_divisor")
	o.without("prompt_scale_to_meter")
}

func partKeys(c *processor, o object) { c.part = o.part("crop_pct", c.part) }

func poolFormerKeys(c *processor, o object) {
	partKeys(c, o)
	if !o.flag("do_resize_and_center_crop", true) {
		o.fail("do_resize_and_center_crop", "want true, or do_resize and do_center_crop")
	}
}

func efficientNetKeys(c *processor, o object) {
	c.offset, c.top = o.flag("rescale_offset", false), o.flag("include_top", true)
}

func mobileViTKeys(c *processor, o object) {
	c.reverse = o.flag("do_flip_channel_order", true)
	o.flag("do_normalize", false) // transformers ignores it
	c.normalize = false
}

func padKeys(c *processor, o object) {
	c.pad = o.flag("pad_and_return_pixel_mask", o.flag("do_pad", c.pad))
}

func maskKeys(c *processor, o object) {
	blockKeys(c, o)
	o.without("size_divisibility", "_max_size") // transformers ignores them
	if !o.has("size") {
		c.size.longest = o.wholeOr("max_size", c.size.longest)
	}
}

func oneFormerKeys(_ *processor, o object) {
	o.without("_max_size", "class_info_file", "metadata", "num_text", "repo_path")
	if !o.has("size") || o.left["size"][0] == '{' {
		o.without("max_size") // transformers ignores it
	}
}

func eomtKeys(c *processor, o object) {
	c.tiles, c.canvas = o.flag("do_split_image", false), o.flag("do_pad", false)
}

// llavaKeys takes do_pad, which is about the image before it is resized.
func llavaKeys(c *processor, o object) { c.canvas = o.flag("do_pad", false) }

func fuyuKeys(c *processor, o object) {
	o.area("patch_size", area{})
	c.canvas, c.fill = o.flag("do_pad", true), o.number("padding_value", 1)
	if c.fill != math.Trunc(c.fill) || c.fill < 0 || c.fill > 255 {
		o.fail("padding_value", "want a whole number from 0 to 255, not %v", c.fill)
	}
	if mode := o.word("padding_mode"); mode != "" && mode != "constant" {
		o.fail("padding_mode", "want constant, not %s", mode)
	}
}

func tvpKeys(c *processor, o object) {
	c.reverse, c.late = o.flag("do_flip_channel_order", true), true
	if v := o.number("constant_values", 0); v != 0 {
		o.fail("constant_values", "want 0, not %v", v)
	}
	if mode := o.word("pad_mode"); mode != "" && mode != "constant" {
		o.fail("pad_mode", "want constant, not %s", mode)
	}
}

func emu3Keys(c *processor, o object) {
	o.without("size") // transformers ignores it
	c.block = o.few("spatial_factor", 8)
	c.cut.least, c.cut.most = o.pixels("min_pixels", 512*512), o.pixels("max_pixels", 1024*1024)
	c.cut.check(o)
}

// swin2SRKeys takes pad_size, the old name of size_divisor. There is no resize.
func swin2SRKeys(c *processor, o object) {
	o.without("do_resize", "do_normalize") // transformers ignores them
	c.block = o.few("size_divisor", o.few("pad_size", 8))
	c.canvas = o.flag("do_pad", true)
}

func samKeys(_ *processor, o object) { o.without("mask_size", "mask_pad_size") }

// blockKeys takes the number of which both sides are multiples.
func blockKeys(c *processor, o object) { c.block = o.wholeOr("size_divisor", c.block) }

func viltKeys(c *processor, o object) {
	c.block = 32
	blockKeys(c, o)
}

func bridgeTowerKeys(c *processor, o object) {
	viltKeys(c, o)
	if size, ok := o.object("crop_size"); ok {
		n := size.whole("shortest_edge")
		if size.end(); n == 0 {
			o.fail("crop_size", "want shortest_edge")
		}
		c.crop = area{n, n}
	}
}

func pixtralKeys(c *processor, o object) { c.patch = o.area("patch_size", area{16, 16}) }

func splitKeys(_ *processor, o object) { o.mustNot("do_image_splitting") }

func donutKeys(c *processor, o object) {
	if text := o.left["size"]; len(text) > 0 && text[0] == '[' { // a list has the width first
		w, h := o.sides("size")
		c.size = sides{height: h, width: w}
	}
	o.mustNot("do_align_long_axis")
	if !o.flag("do_thumbnail", true) {
		o.fail("do_thumbnail", "want true")
	}
	c.canvas = o.flag("do_pad", true)
}

func janusKeys(c *processor, o object) {
	c.least = o.wholeOr("min_size", 14)
	c.canvas = o.flag("do_pad", true)
}

func flavaKeys(_ *processor, o object) {
	o.mustNot("return_codebook_pixels")
	o.mustNot("return_image_mask")
	o.without("codebook_do_center_crop", "codebook_do_map_pixels", "codebook_do_normalize", "codebook_do_rescale", "codebook_do_resize",
		"codebook_crop_size", "codebook_image_mean", "codebook_image_std", "codebook_resample", "codebook_rescale_factor", "codebook_size",
		"input_size_patches", "mask_group_max_aspect_ratio", "mask_group_max_patches", "mask_group_min_aspect_ratio",
		"mask_group_min_patches", "total_mask_patches")
}

func layoutLMv2Keys(c *processor, o object) {
	layoutLMv3Keys(c, o)
	o.mustNot("do_normalize")
	o.without("do_rescale", "image_mean", "image_std", "rescale_factor") // transformers ignores them
	c.normalize, c.rescale, c.reverse = false, false, true
}

// layoutLMv3Keys takes how words are read, which the steps do not do.
func layoutLMv3Keys(_ *processor, o object) {
	o.without("apply_ocr", "ocr_lang", "tesseract_config")
	o.mustNot("do_center_crop")
}

func ideficsKeys(c *processor, o object) {
	o.without("image_num_channels")
	if n := o.whole("image_size"); n > 0 {
		o.without("size")
		c.size = both(n)
	}
}

func superPointKeys(c *processor, o object) {
	o.mustNot("do_grayscale")
	o.without("do_normalize", "image_mean", "image_std") // transformers ignores them
	c.normalize = false
}

// convNextSizes, and those after it, resize.
func convNextSizes(c *processor, _ object) []transform.Step {
	switch s, f := c.size, filtered(c.filter); {
	case s.shortest >= 384:
		return []transform.Step{transform.Resize([2]int{s.shortest, s.shortest}, f...)}
	case s.shortest > 0:
		return []transform.Step{transform.Resize(c.whole(s.shortest), f...), transform.CenterCrop(s.shortest, transform.Floor())}
	}
	return nil
}

// poolFormerSizes resizes to what is more than the size by the part that is cropped.
func poolFormerSizes(c *processor, _ object) []transform.Step {
	switch s, f := c.size, filtered(c.filter); {
	case s.shortest > 0:
		return []transform.Step{transform.Resize(c.whole(s.shortest), f...)}
	case s.fixed() && s.height == s.width:
		return []transform.Step{transform.Resize(c.whole(s.height), f...)}
	case s.fixed():
		return []transform.Step{transform.Resize([2]int{c.whole(s.height), c.whole(s.width)}, f...)}
	}
	return nil
}

// whole is the size of which crop_pct leaves n.
func (c *processor) whole(n int) int { return int(float64(n) / c.part) }

func levitSizes(c *processor, _ object) []transform.Step {
	if c.size.shortest == 0 {
		return nil
	}
	return []transform.Step{transform.Resize(int(256.0/224*float64(c.size.shortest)), filtered(c.filter)...)}
}

func depthSizes(c *processor, o object) []transform.Step {
	switch s := c.size; {
	case s.fixed() && c.keep:
		return []transform.Step{inMultiples(s.height, s.width, c.block).step(c.filter)}
	case s.fixed():
		return []transform.Step{transform.Resize([2]int{c.nearest(o, s.height), c.nearest(o, s.width)}, filtered(c.filter)...)}
	}
	return nil
}

// nearest is n rounded to a multiple of ensure_multiple_of. Where two are as near,
// transformers' choice depends on the image.
func (c *processor) nearest(o object, n int) int {
	if n%c.block*2 == c.block {
		o.fail("ensure_multiple_of", "%d is halfway between two multiples of %d", n, c.block)
	}
	return (n + c.block/2) / c.block * c.block
}

// inMultiples scales both sides as either the height or the width needs, whichever
// scales less, and rounds them to multiples of n, as DPT does.
func inMultiples(height, width, n int) rule {
	return rule{fmt.Sprintf("to height or width of %d×%d, multiples of %d", height, width, n), func(h, w int) (int, int) {
		scale := float64(height) / float64(h)
		if x := float64(width) / float64(w); math.Abs(1-x) < math.Abs(1-scale) {
			scale = x
		}
		side := func(v float64) int { return round(min(v, maxResampled)/float64(n)) * n }
		return side(scale * float64(h)), side(scale * float64(w))
	}}
}

func yolosSizes(c *processor, _ object) []transform.Step {
	if s := c.size; s.shortest > 0 && s.longest > 0 {
		return []transform.Step{withinEdges(s.shortest, s.longest).down(16).step(c.filter)}
	}
	return nil
}

func maskSizes(c *processor, _ object) []transform.Step {
	switch s, n := c.size, c.block; {
	case s.shortest > 0 && s.longest > 0:
		return []transform.Step{withinEdges(s.shortest, s.longest).up(n).step(c.filter)}
	case s.maxHeight > 0 && s.maxWidth > 0:
		return []transform.Step{withinSides(s.maxHeight, s.maxWidth).up(n).step(c.filter)}
	case s.fixed():
		return []transform.Step{transform.Resize([2]int{upTo(s.height, n), upTo(s.width, n)}, filtered(c.filter)...)}
	}
	return nil
}

func eomtSizes(c *processor, o object) []transform.Step {
	s := c.size
	switch {
	case c.tiles && (s.shortest == 0 || s.longest > 0):
		o.fail("size", "want shortest_edge alone with do_split_image")
		return []transform.Step{}
	case c.tiles:
		return eomtTiles(s.shortest, c.filter)
	case !c.canvas:
		return nil
	case s.shortest > 0 && s.shortest == s.longest:
		return []transform.Step{withinEdges(s.shortest, s.longest).step(c.filter), transform.Crop(0, 0, s.longest, s.longest)}
	case s.shortest == 0:
		o.fail("size", "want shortest_edge with do_pad")
		return []transform.Step{}
	}
	height, width := s.shortest, s.longest
	if width == 0 {
		width = height
	}
	text := fmt.Sprintf("no lower than %d, no narrower than %d", height, width)
	return append(c.usual(o), transform.TileFunc(text, func(h, w int) transform.Tile {
		return transform.Tile{Size: [2]int{max(h, height), max(w, width)}}
	}))
}

// llavaSizes puts the image in the middle of a square of the mean colour before all else.
func llavaSizes(c *processor, o object) []transform.Step {
	if !c.canvas {
		return nil
	}
	around := transform.TileFunc("a square around it", func(h, w int) transform.Tile {
		n := max(h, w)
		return transform.Tile{Top: -((n - h) / 2), Left: -((n - w) / 2), Size: [2]int{n, n}}
	}, transform.Fill(background(o, "image_mean", c.mean)...))
	return append([]transform.Step{around}, c.usual(o)...)
}

// background is a mean, the value of key, as a colour.
func background(o object, key string, mean [3]float64) []float64 {
	colour := make([]float64, 3)
	for k, v := range mean {
		if colour[k] = math.Trunc(v * 255); !(colour[k] >= 0 && colour[k] <= 255) {
			o.fail(key, "want numbers from 0 to 1, which are the colour of the padding, not %v", v)
		}
	}
	return colour
}

// perceiverSizes crops a part of the shorter side before it resizes.
func perceiverSizes(c *processor, _ object) []transform.Step {
	s, crop := c.size, c.crop
	if !s.fixed() {
		return nil
	}
	resize := transform.Resize([2]int{s.height, s.width}, filtered(c.filter)...)
	if !c.center {
		return []transform.Step{resize}
	}
	c.center = false
	text := fmt.Sprintf("%d/%d×%d/%d of the shorter side in the middle", s.height, crop.h, s.width, crop.w)
	return []transform.Step{transform.TileFunc(text, func(h, w int) transform.Tile {
		short := float64(min(h, w))
		ch, cw := int(float64(s.height)/float64(crop.h)*short), int(float64(s.width)/float64(crop.w)*short)
		if min(ch, cw) < 1 {
			ch, cw = -1, -1
		}
		return transform.Tile{Top: (h - ch) >> 1, Left: (w - cw) >> 1, Size: [2]int{ch, cw}}
	}), resize}
}

// fuyuSizes makes images that are too large fit, and puts them into the upper left corner.
func fuyuSizes(c *processor, _ object) []transform.Step {
	s := c.size
	if !s.fixed() {
		return nil
	}
	size := func(h, w int) (int, int) {
		if w <= s.width && h <= s.height {
			return h, w
		}
		scale := min(float64(s.height)/float64(h), float64(s.width)/float64(w))
		return int(float64(h) * scale), int(float64(w) * scale)
	}
	text := fmt.Sprintf("to fit into %d×%d, never larger", s.height, s.width)
	c.cut.fields = func(*cutting) []transform.Step {
		return []transform.Step{
			number("image_unpadded_heights", func(h, w int) int { h, _ = size(h, w); return h }),
			number("image_unpadded_widths", func(h, w int) int { _, w = size(h, w); return w }),
			pair("image_sizes", func(h, w int) (int, int) { return h, w }),
		}
	}
	all := []transform.Step{rule{text, size}.step(c.filter)}
	if c.canvas {
		all = append(all, transform.FixedSizeCrop([2]int{s.height, s.width}, transform.Fill(c.fill)))
	}
	return all
}

func tvpSizes(c *processor, _ object) []transform.Step {
	n := c.size.longest
	if n == 0 {
		return nil
	}
	return []transform.Step{rule{fmt.Sprintf("longest edge %d", n), func(h, w int) (int, int) {
		if h >= w {
			return n, int(float64(n) * (float64(w) / float64(h)))
		}
		return int(float64(n) * (float64(h) / float64(w))), n
	}}.step(c.filter)}
}

func emu3Sizes(c *processor, _ object) []transform.Step {
	cut := cutting{side: c.block, merge: 1, least: c.cut.least, most: c.cut.most}
	return []transform.Step{rule{cut.text(), cut.smart(1)}.step(c.filter)}
}

// swin2SRSizes pads both sides to the next multiple, also if they are one, with what is mirrored.
func swin2SRSizes(c *processor, _ object) []transform.Step {
	if !c.canvas {
		return []transform.Step{}
	}
	n := c.block
	return []transform.Step{transform.TileFunc(fmt.Sprintf("padded to the next multiple of %d", n), func(h, w int) transform.Tile {
		return transform.Tile{Size: [2]int{(h/n + 1) * n, (w/n + 1) * n}}
	}, transform.PaddingMode(transform.Symmetric))}
}

func samSizes(c *processor, _ object) []transform.Step {
	n := c.size.longest
	if n == 0 {
		return nil
	}
	return []transform.Step{rule{fmt.Sprintf("longest edge %d", n), func(h, w int) (int, int) {
		scale := float64(n) / float64(max(w, h))
		return int(float64(float64(h)*scale) + 0.5), int(float64(float64(w)*scale) + 0.5)
	}}.step(c.filter)}
}

// viltSizes makes the shorter side as long as size says, unless the longer one would be longer than 1333/800 of that.
func viltSizes(c *processor, _ object) []transform.Step {
	n := c.size.shortest
	if n == 0 {
		return nil
	}
	longest := float64(int(1333.0 / 800 * float64(n)))
	return []transform.Step{rule{fmt.Sprintf("shortest edge %d, longest edge up to %.0f", n, longest), func(h, w int) (int, int) {
		scale := float64(n) / float64(min(h, w))
		y, x := float64(scale*float64(h)), float64(n)
		if h < w {
			y, x = float64(n), float64(scale*float64(w))
		}
		if long := max(y, x); long > longest {
			scale = longest / long
			y, x = float64(scale*y), float64(scale*x)
		}
		return int(y + 0.5), int(x + 0.5)
	}}.down(c.block).step(c.filter)}
}

// videoLlavaSizes does not look at longest_edge beside shortest_edge, and takes neither max_height nor max_width.
func videoLlavaSizes(c *processor, _ object) []transform.Step {
	if c.size.shortest > 0 {
		c.size.longest = 0
	}
	c.strict = c.size.shortest == 0 && !c.size.fixed()
	return nil
}

func textNetSizes(c *processor, _ object) []transform.Step {
	n := c.size.shortest
	if n == 0 {
		return nil
	}
	return []transform.Step{rule{fmt.Sprintf("shortest edge %d", n), func(h, w int) (int, int) {
		long := int(float64(n) * float64(max(h, w)) / float64(min(h, w)))
		if h < w {
			return n, long
		}
		return long, n
	}}.up(c.block).step(c.filter)}
}

func glpnSizes(c *processor, _ object) []transform.Step {
	same := rule{"as it is", func(h, w int) (int, int) { return h, w }}
	return []transform.Step{same.down(c.block).step(c.filter)}
}

// pixtralSizes makes images that are too large fit into a size, and both sides multiples of the patches', by rounding up.
func pixtralSizes(c *processor, _ object) []transform.Step {
	most, p := area{c.size.height, c.size.width}, c.patch
	if n := c.size.longest; n > 0 {
		most = area{n, n}
	}
	if most.h == 0 || most.w == 0 {
		return nil
	}
	text := fmt.Sprintf("at most %d×%d, multiples of %d×%d", most.h, most.w, p.h, p.w)
	return []transform.Step{rule{text, func(h, w int) (int, int) {
		if ratio := max(float64(h)/float64(most.h), float64(w)/float64(most.w)); ratio > 1 {
			h, w = int(float64(h)/ratio), int(float64(w)/ratio)
		}
		return upTo(h, p.h), upTo(w, p.w)
	}}.step(c.filter)}
}

func idefics2Sizes(c *processor, _ object) []transform.Step {
	least, most := c.size.shortest, c.size.longest
	switch {
	case least > 0 && most > 0:
	case c.size.fixed():
		return []transform.Step{transform.Resize([2]int{c.size.height, c.size.width}, filtered(c.filter)...)}
	default:
		return nil
	}
	return []transform.Step{rule{fmt.Sprintf("edges from %d to %d", least, most), func(h, w int) (int, int) {
		ratio := float64(w) / float64(h)
		switch {
		case w >= h && w > most:
			w, h = most, int(float64(most)/ratio)
		case h > w && h > most:
			w, h = int(float64(most)*ratio), most
		}
		return max(h, least), max(w, least)
	}}.step(c.filter)}
}

// donutSizes resizes the shorter side, and then to what fits onto the page.
func donutSizes(c *processor, _ object) []transform.Step {
	s := c.size
	if !s.fixed() {
		return nil
	}
	fits, second := rule{fmt.Sprintf("to fit onto %d×%d", s.height, s.width), func(h, w int) (int, int) {
		height, width := min(h, s.height), min(w, s.width)
		switch {
		case height == h && width == w:
			return h, w
		case h > w:
			width = int(float64(w) * float64(height) / float64(h))
		case w > h:
			height = int(float64(h) * float64(width) / float64(w))
		}
		return height, width
	}}, c.filter
	if second == transform.Nearest { // 0, which Python takes for none
		second = transform.Bicubic
	}
	all := []transform.Step{transform.Resize(min(s.height, s.width), filtered(c.filter)...), fits.step(second)}
	if c.canvas {
		all = append(all, transform.CenterCrop([2]int{s.height, s.width}))
	}
	return all
}

// ontoSquare makes the longer side as long as size says, and puts the image in the middle of a square of the mean colour.
func ontoSquare(c *processor, o object) []transform.Step {
	if !c.size.fixed() || c.size.height != c.size.width {
		return nil
	}
	return c.onto(o, c.size.height, c.filter, "image_mean", c.mean)
}

// onto is square, with the mean that is the value of key.
func (c *processor) onto(o object, n int, filter transform.Filter, key string, mean [3]float64) []transform.Step {
	var colour []float64
	if c.canvas {
		colour = background(o, key, mean)
	}
	return square(n, c.least, filter, colour)
}

// A finer is what DeepSeek-VL's hybrid processor has for its larger tensor.
type finer struct {
	size      area
	filter    transform.Filter
	mean, std [3]float64
}

func hybridKeys(c *processor, o object) {
	janusKeys(c, o)
	f := &c.highRes
	f.size, f.filter = o.area("high_res_size", f.size), o.filter("high_res_resample", f.filter)
	f.mean, f.std = o.colours("high_res_image_mean", f.mean), o.colours("high_res_image_std", f.std)
	if f.size.h != f.size.w {
		o.fail("high_res_size", "want the same height and width")
	}
}

// hybridSizes makes the larger tensor, and the other one of that.
func hybridSizes(c *processor, o object) []transform.Step {
	if !c.size.fixed() || c.size.height != c.size.width {
		return nil
	}
	f := c.highRes
	all := c.onto(o, f.size.h, f.filter, "high_res_image_mean", f.mean)
	if !c.other {
		all = append(all, ontoSquare(c, o)...)
	}
	return all
}

// square makes the longer side n pixels long and no side shorter than least, and puts the image in the middle of a square of
// the colour, if there is one.
func square(n, least int, filter transform.Filter, colour []float64) []transform.Step {
	text := fmt.Sprintf("longest edge %d", n)
	if least > 0 {
		text += fmt.Sprintf(", no edge shorter than %d", least)
	}
	all := []transform.Step{rule{text, func(h, w int) (int, int) {
		scale := float64(n) / float64(max(h, w))
		return max(round(float64(h)*scale), least), max(round(float64(w)*scale), least)
	}}.step(filter)}
	if colour != nil {
		all = append(all, transform.CenterCrop(max(n, least), transform.Fill(colour...)))
	}
	return all
}

// up and down make both sides of what r makes multiples of n.
func (r rule) up(n int) rule {
	return rule{fmt.Sprintf("%s, up to multiples of %d", r.text, n), func(h, w int) (int, int) {
		h, w = r.size(h, w)
		return upTo(h, n), upTo(w, n)
	}}
}

func (r rule) down(n int) rule {
	return rule{fmt.Sprintf("%s, down to multiples of %d", r.text, n), func(h, w int) (int, int) {
		h, w = r.size(h, w)
		return h / n * n, w / n * n
	}}
}

// upTo is the least multiple of n that is side or more.
func upTo(side, n int) int { return (side + n - 1) / n * n }
