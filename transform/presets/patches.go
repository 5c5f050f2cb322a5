package presets

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/transform"
)

// This file has the classes that cut images into patches.

// A cutting is how a class cuts images into patches.
type cutting struct {
	side, merge, frames int  // patch_size, merge_size and temporal_patch_size; side 0: it does not cut
	rows                int  // of every image, the last of which are 0; 0 if their number varies
	plain               bool // patches follow the rows of the image, although merge is more than 1
	last                bool // the channels come last

	least, most int                               // pixels
	enlarge     func(h, w, n int) (int, int)      // what comes before the resize of small images, or nil
	size        func(h, w int) (int, int)         // of the resized image
	fields      func(c *cutting) []transform.Step // all but the pixels
	prompt      bool                              // a prompt has a token per merge×merge patches
}

// patches are the steps after all others.
func (c *cutting) patches() []transform.Step {
	if c.side == 0 && c.fields != nil {
		return c.fields(c)
	}
	if c.side == 0 {
		return nil
	}
	var options []transform.Option
	if c.merge > 1 && !c.plain {
		options = append(options, transform.Merge(c.merge))
	}
	if c.frames > 1 {
		options = append(options, transform.Frames(c.frames))
	}
	if c.rows > 0 {
		options = append(options, transform.MaxPatches(c.rows))
	}
	if c.last {
		options = append(options, transform.Layout(transform.HWC))
	}
	return append([]transform.Step{transform.Patches(c.side, options...)}, c.fields(c)...)
}

// smart is Qwen2-VL's processor, with the sizes of a patch and numbers of pixels.
func (c *processor) smart(side, merge, frames, least, most int) {
	c.keys, c.own, c.strict = smartKeys, smartSizes, true
	c.cut = cutting{side: side, merge: merge, frames: frames, least: least, most: most, fields: gridTHW, prompt: true}
	c.square, c.cropless, c.padless = false, true, true
	c.clip()
}

// glm is GLM-4V's, which counts the pixels of all frames.
func (c *processor) glm(side, merge, frames, least, most int) {
	c.smart(side, merge, frames, least, most)
	c.keys, c.own, c.cut.enlarge = glmKeys, glmSizes, toOnePatch
}

func smartKeys(c *processor, o object) {
	c.cut.read(o)
	c.cut.least, c.cut.most = o.pixels("min_pixels", c.cut.least), o.pixels("max_pixels", c.cut.most)
	c.cut.check(o)
}

func glmKeys(c *processor, o object) {
	c.cut.read(o)
	c.cut.check(o)
	o.without("patch_expand_factor")
}

func hunYuanKeys(c *processor, o object) {
	smartKeys(c, o)
	o.without("spatial_patch_size")
}

// read takes the sides of patches, and size with the numbers of pixels.
func (c *cutting) read(o object) {
	c.side, c.merge, c.frames = o.few("patch_size", c.side), o.few("merge_size", c.merge), o.few("temporal_patch_size", c.frames)
	if size, ok := o.object("size"); ok {
		c.least, c.most = size.pixels("shortest_edge", 0), size.pixels("longest_edge", 0)
		size.without("max_pixels", "min_pixels") // transformers ignores them here
		size.end()
	}
}

func (c *cutting) check(o object) {
	switch {
	case c.least == 0 || c.most == 0:
		o.fail("size", "want shortest_edge and longest_edge, the least and the greatest number of pixels")
	case c.least > c.most:
		o.fail("size", "at least %d pixels (shortest_edge or min_pixels) are more than at most %d (longest_edge or max_pixels)", c.least, c.most)
	}
}

// resizeTo is the step with a rule.
func (c *processor) resizeTo(text string, size func(h, w int) (int, int)) []transform.Step {
	c.cut.size = size
	return []transform.Step{rule{text, size}.step(c.filter)}
}

func smartSizes(c *processor, _ object) []transform.Step {
	return c.resizeTo(c.cut.text(), c.cut.smart(1))
}

func glmSizes(c *processor, _ object) []transform.Step {
	return c.resizeTo(c.cut.text(), c.cut.smart(c.cut.frames))
}

// hunYuanSizes ignores resample.
func hunYuanSizes(c *processor, o object) []transform.Step {
	c.filter = transform.Bicubic
	return smartSizes(c, o)
}

func (c *cutting) text() string {
	return fmt.Sprintf("%d to %d pixels, multiples of %d, sides up to 1:%d", c.least, c.most, c.side*c.merge, longest)
}

// longest is how many times as long as the other a side may be.
const longest = 200

// smart is smart_resize of transformers, which counts the pixels of this number of frames: both sides become multiples of a
// number, and the pixels as many as there may be. Images that are too long have no size.
func (c *cutting) smart(frames int) func(h, w int) (int, int) {
	n, t, least, most := c.side*c.merge, float64(frames), float64(c.least), float64(c.most)
	return func(h, w int) (int, int) {
		if c.enlarge != nil {
			h, w = c.enlarge(h, w, n)
		}
		if min(h, w) < 1 || max(h, w) > maxResampled || float64(max(h, w))/float64(min(h, w)) > longest {
			return -1, -1
		}
		y, x := float64(h), float64(w)
		area := t * y * x
		th, tw := round(y/float64(n))*n, round(x/float64(n))*n
		switch pixels := t * float64(th) * float64(tw); {
		case pixels > most:
			less := math.Sqrt(area / most)
			th, tw = max(n, int(y/less/float64(n))*n), max(n, int(x/less/float64(n))*n)
		case pixels < least:
			more := math.Sqrt(least / area)
			th, tw = int(math.Ceil(y*more/float64(n)))*n, int(math.Ceil(x*more/float64(n)))*n
		}
		return th, tw
	}
}

// toOnePatch makes both sides n or more, as GLM-4V does.
func toOnePatch(h, w, n int) (int, int) {
	if h >= n && w >= n {
		return h, w
	}
	scale := max(float64(n)/float64(h), float64(n)/float64(w))
	return int(float64(h) * scale), int(float64(w) * scale)
}

// sideBySide makes one side after the other n or more, as PaddleOCR-VL does.
func sideBySide(h, w, n int) (int, int) {
	if h < n {
		h, w = n, round(float64(w)*float64(n)/float64(h))
	}
	if 0 < w && w < n {
		h, w = round(float64(h)*float64(n)/float64(w)), n
	}
	return h, w
}

// glmImageSizes is smart_resize of GLM-Image.
func glmImageSizes(c *processor, _ object) []transform.Step {
	cut := &c.cut
	n := cut.side * cut.merge
	least, most := math.RoundToEven(math.Sqrt(float64(cut.least))), math.RoundToEven(math.Sqrt(float64(cut.most)))
	text := fmt.Sprintf("half of edges from %.0f to %.0f, multiples of %d, sides up to 1:4", least, most, n)
	return c.resizeTo(text, func(h, w int) (int, int) {
		short, long := float64(min(h, w)), float64(max(h, w))
		if min(h, w) < n || long/short > 4 {
			return -1, -1
		}
		scale := 1.0
		if short < least {
			scale = least / short
		}
		if long*scale > most {
			scale = most / long
		}
		side := func(v int) int { return max(n, round(float64(v/2)*scale/float64(n))*n) }
		h, w = side(h), side(w)
		if long := float64(max(h, w)); long > most {
			less := long / most
			side := func(v int) int { return max(n, int(float64(v)/less/float64(n))*n) }
			h, w = side(h), side(w)
		}
		return h, w
	})
}

// glm5 is GLM 5's processor, whose sizes are numbers of tokens.
func (c *processor) glm5() {
	c.smart(14, 2, 2, 16, 8000)
	c.keys, c.own = glm5Keys, glm5Sizes
}

func glm5Keys(c *processor, o object) {
	o.without("size", "patch_expand_factor") // transformers ignores them
	c.cut.read(o)
	c.cut.least, c.cut.most = o.pixels("min_image_tokens", c.cut.least), o.pixels("max_image_tokens", c.cut.most)
	if c.cut.least > c.cut.most {
		o.fail("min_image_tokens", "%d is more than max_image_tokens, %d", c.cut.least, c.cut.most)
	}
}

// glm5Sizes pads the image to multiples, and resizes it only if there would be too few tokens or too many.
func glm5Sizes(c *processor, _ object) []transform.Step {
	cut := &c.cut
	n, unit := cut.side*cut.merge, float64(cut.frames)*float64(cut.side*cut.merge)*float64(cut.side*cut.merge)
	least, most := float64(cut.least)*unit, float64(cut.most)*unit
	pixels := func(h, w int) float64 { return float64(cut.frames) * float64(h) * float64(w) }
	c.cut.size = func(h, w int) (int, int) {
		th, tw := upTo(h, n), upTo(w, n)
		if pixels(th, tw) < least {
			scale := math.Sqrt(least / pixels(h, w))
			th, tw = upTo(max(1, int(math.Ceil(float64(h)*scale))), n), upTo(max(1, int(math.Ceil(float64(w)*scale))), n)
		}
		switch {
		case unit > most:
			return -1, -1
		case pixels(th, tw) <= most:
			return th, tw
		}
		th, tw = n, n
		for low, high := 1, h; low <= high; {
			middle := (low + high) / 2
			ch, cw := upTo(middle, n), upTo(max(1, int(math.Floor(float64(w)*float64(middle)/float64(h)))), n)
			if pixels(ch, cw) <= most {
				th, tw, low = ch, cw, middle+1
			} else {
				high = middle - 1
			}
		}
		return th, tw
	}
	text := fmt.Sprintf("%d to %d tokens of %d×%d, padded", cut.least, cut.most, n, n)
	return []transform.Step{transform.TileFunc(text, func(h, w int) transform.Tile {
		th, tw := c.cut.size(h, w)
		scale := min(float64(th)/float64(h), float64(tw)/float64(w))
		if pixels(h, w) >= least {
			scale = min(1, scale)
		}
		return transform.Tile{
			Resize: [2]int{max(1, min(th, int(float64(h)*scale))), max(1, min(tw, int(float64(w)*scale)))},
			Size:   [2]int{th, tw},
		}
	}, filtered(c.filter)...)}
}

// gridTHW says how many patches there are in time and in both directions.
func gridTHW(c *cutting) []transform.Step {
	return []transform.Step{transform.SizesFunc("image_grid_thw", dataset.Shape{3}, func(_, size [2]int, out []int64) {
		out[0], out[1], out[2] = 1, int64(size[0]/c.side), int64(size[1]/c.side)
	})}
}

// gridAndMerge says also how many patches the model merges.
func gridAndMerge(c *cutting) []transform.Step {
	return append(gridTHW(c), transform.SizesFunc("image_merge_sizes", nil, func(_, _ [2]int, out []int64) { out[0] = int64(c.merge) }))
}

// imageSizes says how large the result is, for classes that do not cut.
func imageSizes(*cutting) []transform.Step {
	return []transform.Step{transform.SizesFunc("image_sizes", dataset.Shape{2}, func(_, size [2]int, out []int64) {
		out[0], out[1] = int64(size[0]), int64(size[1])
	})}
}

// naFlex is SigLIP 2's processor for varying sizes.
func (c *processor) naFlex() {
	c.keys, c.own, c.strict = naFlexKeys, naFlexSizes, true
	c.cut = cutting{side: 16, merge: 1, frames: 1, rows: 256, last: true, fields: maskAndShape, prompt: true}
	c.filter, c.cropless, c.padless = transform.Bilinear, true, true
}

func naFlexKeys(c *processor, o object) {
	o.without("size")
	c.cut.side, c.cut.rows = o.few("patch_size", c.cut.side), o.wholeOr("max_num_patches", c.cut.rows)
}

// naFlexSizes looks for the greatest scale with which there are not too many patches.
func naFlexSizes(c *processor, _ object) []transform.Step {
	n, most := c.cut.side, float64(c.cut.rows)
	patches := func(scale float64, side int) int { return max(1, int(math.Ceil(float64(side)*scale/float64(n)))) }
	return c.resizeTo(fmt.Sprintf("up to %d patches of %d×%d", c.cut.rows, n, n), func(h, w int) (int, int) {
		const eps = 1e-5
		low, high := eps/10, 100.0
		for high-low >= eps {
			scale := (low + high) / 2
			if float64(patches(scale, h))*float64(patches(scale, w)) <= most {
				low = scale
			} else {
				high = scale
			}
		}
		return patches(low, h) * n, patches(low, w) * n
	})
}

// maskAndShape says which rows are patches, and how many patches there are in both directions.
func maskAndShape(c *cutting) []transform.Step {
	return []transform.Step{
		transform.SizesFunc("pixel_attention_mask", dataset.Shape{c.rows}, func(_, size [2]int, out []int64) {
			for k := range min(size[0]/c.side*(size[1]/c.side), len(out)) {
				out[k] = 1
			}
		}),
		transform.SizesFunc("spatial_shapes", dataset.Shape{2}, func(_, size [2]int, out []int64) {
			out[0], out[1] = int64(size[0]/c.side), int64(size[1]/c.side)
		}),
	}
}

// gemma4 is Gemma 4's processor.
func (c *processor) gemma4() {
	c.keys, c.own, c.strict = gemma4Keys, gemma4Sizes, true
	c.cut = cutting{side: 16, merge: 3, frames: 1, plain: true, last: true, fields: positions, prompt: true}
	c.normalize, c.cropless, c.padless = false, true, true
	c.mean, c.std = [3]float64{}, [3]float64{1, 1, 1}
}

func gemma4Keys(c *processor, o object) {
	o.without("size")
	tokens := o.wholeOr("max_soft_tokens", 280)
	if !slices.Contains([]int{70, 140, 280, 560, 1120}, tokens) {
		o.fail("max_soft_tokens", "want 70, 140, 280, 560 or 1120, not %d", tokens)
	}
	c.cut.side, c.cut.merge = o.few("patch_size", c.cut.side), o.few("pooling_kernel_size", c.cut.merge)
	if c.cut.rows = tokens * c.cut.merge * c.cut.merge; c.cut.rows > maxSide {
		o.fail("pooling_kernel_size", "%d patches are more than %d", c.cut.rows, maxSide)
	}
}

// gemma4Sizes makes the image as large as the number of patches allows, and both sides multiples, by rounding down.
func gemma4Sizes(c *processor, _ object) []transform.Step {
	n := c.cut.side * c.cut.merge
	most := float64(c.cut.rows) * float64(c.cut.side*c.cut.side)
	longest := c.cut.rows / (c.cut.merge * c.cut.merge) * n
	return c.resizeTo(fmt.Sprintf("up to %.0f pixels, multiples of %d", most, n), func(h, w int) (int, int) {
		scale := math.Sqrt(most / (float64(h) * float64(w)))
		th, tw := int(scale*float64(h)/float64(n))*n, int(scale*float64(w)/float64(n))*n
		switch {
		case th == 0 && tw == 0:
			return -1, -1
		case th == 0:
			th, tw = n, min(w/h*n, longest)
		case tw == 0:
			th, tw = min(h/w*n, longest), n
		}
		if float64(th)*float64(tw) > most {
			return -1, -1
		}
		return th, tw
	})
}

// positions says where in the image each row is, x and y, with -1 for rows that are no patches, and how many tokens it has.
func positions(c *cutting) []transform.Step {
	return []transform.Step{
		transform.SizesFunc("image_position_ids", dataset.Shape{c.rows, 2}, func(_, size [2]int, out []int64) {
			columns := size[1] / c.side
			count := size[0] / c.side * columns
			for k := range len(out) / 2 {
				out[2*k], out[2*k+1] = -1, -1
				if k < count {
					out[2*k], out[2*k+1] = int64(k%columns), int64(k/columns)
				}
			}
		}),
		transform.SizesFunc("num_soft_tokens_per_image", nil, func(_, size [2]int, out []int64) {
			out[0] = int64(size[0] / c.side * (size[1] / c.side) / (c.merge * c.merge))
		}),
	}
}

// ImageTokens is how many tokens of a prompt stand for an image of that size, for the configurations of [HuggingFace] whose
// result is patches: one for every square of patches that the model merges. Tokens around the image do not count.
func ImageTokens(config []byte, height, width int, options ...Option) (int, error) {
	var c *processor
	_, err := preset("HuggingFace", config, options, func(s settings, o object) (all []transform.Step) {
		c, all = s.read(o)
		return all
	})
	switch {
	case err != nil:
		return 0, err
	case !c.cut.prompt:
		return 0, errors.New("presets: ImageTokens: the number of tokens is not known for this image processor")
	case height < 1 || width < 1 || max(height, width) > maxResampled:
		return 0, fmt.Errorf("presets: ImageTokens: no image has %d×%d pixels", height, width)
	}
	if h, w := height, width; c.cut.size != nil {
		if height, width = c.cut.size(h, w); min(height, width) < 1 {
			return 0, fmt.Errorf("presets: ImageTokens: an image of %d×%d pixels cannot be resized: its sides differ too much", h, w)
		}
	}
	n := c.cut.side * c.cut.merge
	if c.cut.size == nil && (height%n != 0 || width%n != 0) {
		return 0, fmt.Errorf("presets: ImageTokens: without do_resize, want multiples of %d, not %d×%d pixels", n, height, width)
	}
	return (height / c.cut.side) * (width / c.cut.side) / (c.cut.merge * c.cut.merge), nil
}
