package presets

import (
	"fmt"
	"math"

	"github.com/penstock-go/penstock/transform"
)

// steps are all steps, which the keys must have allowed.
func (c *processor) steps(o object) []transform.Step {
	var all []transform.Step
	if c.resize {
		all = c.resizing(o)
	}
	if c.center {
		all = append(all, transform.CenterCrop([2]int{c.crop.h, c.crop.w}, transform.Floor()))
	}
	all = append(all, c.colours()...)
	if c.pad && c.padded != (area{}) {
		all = append(all, transform.PadTo([2]int{c.padded.h, c.padded.w}))
	}
	return all
}

// resizing is the resize, with the crop that belongs to it. The cases are in the
// order in which transformers looks at size.
func (c *processor) resizing(o object) []transform.Step {
	s, f := c.size, filtered(c.filter)
	if own := c.ownResizing(o); own != nil {
		return own
	}
	detects := c.kind == detr || c.kind == yolos
	switch {
	case c.kind == convNext, c.kind == dpt, c.kind == sam: // take no other form
	case s.shortest > 0 && s.longest > 0:
		return []transform.Step{withinEdges(s.shortest, s.longest).step(c.filter)}
	case s.shortest > 0 && !detects:
		return []transform.Step{transform.Resize(s.shortest, f...)}
	case s.maxHeight > 0 && s.maxWidth > 0:
		return []transform.Step{withinSides(s.maxHeight, s.maxWidth).step(c.filter)}
	case s.fixed():
		return []transform.Step{transform.Resize([2]int{s.height, s.width}, f...)}
	}
	o.fail("size", "not of a form that this image processor takes")
	return nil
}

// ownResizing is what only this kind of processor does with size. It is nil if the kind does with it
// what most do, or nothing.
func (c *processor) ownResizing(o object) []transform.Step {
	s, f := c.size, filtered(c.filter)
	part := func(n int) int { return int(float64(n) / c.part) }
	switch {
	case c.kind == convNext && s.shortest >= 384:
		return []transform.Step{transform.Resize([2]int{s.shortest, s.shortest}, f...)}
	case c.kind == convNext && s.shortest > 0:
		return []transform.Step{transform.Resize(part(s.shortest), f...), transform.CenterCrop(s.shortest, transform.Floor())}
	case c.kind == poolFormer:
		return poolFormerResizing(s, f, part)
	case c.kind == leViT && s.shortest > 0:
		return []transform.Step{transform.Resize(int(256.0/224*float64(s.shortest)), f...)}
	case c.kind == dpt && s.fixed() && c.keep:
		return []transform.Step{inMultiples(s.height, s.width, c.block).step(c.filter)}
	case c.kind == dpt && s.fixed():
		return []transform.Step{transform.Resize([2]int{c.nearest(o, s.height), c.nearest(o, s.width)}, f...)}
	case c.kind == yolos && s.shortest > 0 && s.longest > 0:
		return []transform.Step{wholeBlocks(withinEdges(s.shortest, s.longest)).step(c.filter)}
	case c.kind == sam && s.longest > 0:
		return []transform.Step{longestEdge(s.longest).step(c.filter)}
	}
	return nil
}

// poolFormerResizing resizes to what is more than the size by the part that is cropped.
func poolFormerResizing(s sides, f []transform.Option, part func(n int) int) []transform.Step {
	switch {
	case s.shortest > 0:
		return []transform.Step{transform.Resize(part(s.shortest), f...)}
	case s.fixed() && s.height == s.width:
		return []transform.Step{transform.Resize(part(s.height), f...)}
	case s.fixed():
		return []transform.Step{transform.Resize([2]int{part(s.height), part(s.width)}, f...)}
	}
	return nil
}

// fixed reports whether both sides are given.
func (s sides) fixed() bool { return s.height > 0 && s.width > 0 }

// nearest is n rounded to a multiple of ensure_multiple_of. Where two are as near,
// transformers' choice depends on the image.
func (c *processor) nearest(o object, n int) int {
	if n%c.block*2 == c.block {
		o.fail("ensure_multiple_of", "%d is halfway between two multiples of %d", n, c.block)
	}
	return (n + c.block/2) / c.block * c.block
}

// colours is how pixels become values.
func (c *processor) colours() []transform.Step {
	var all []transform.Step
	switch {
	case c.rescale && c.factor == 1.0/255:
		all = []transform.Step{transform.ToTensor()} // the same values
	case c.rescale:
		all = []transform.Step{transform.Rescale(c.factor)}
	case c.normalize || c.top:
		all = []transform.Step{transform.Rescale(1)}
	default:
		all = []transform.Step{transform.PILToTensor()}
	}
	if c.reverse {
		all = append(all, transform.BGR())
	}
	if c.rescale && c.offset {
		all = append(all, transform.Normalize([]float32{1}, []float32{1}))
	}
	if c.normalize {
		all = append(all, transform.Normalize(narrow(c.mean), narrow(c.std)))
	}
	if c.top {
		all = append(all, transform.Normalize([]float32{0}, narrow(c.std)))
	}
	return all
}

// A rule is a resize to a size that depends on the image's in a way of a model's own.
type rule struct {
	text string
	size func(h, w int) (int, int)
}

// step is the resize with that filter.
func (r rule) step(f transform.Filter) transform.Step {
	return transform.ResizeFunc(r.text, r.size, filtered(f)...)
}

// filtered is the option of a filter. That which steps have by themselves is not repeated in the plan.
func filtered(f transform.Filter) []transform.Option {
	if f == transform.Bilinear {
		return nil
	}
	return []transform.Option{transform.Interpolation(f)}
}

// withinEdges makes the shorter side shortest pixels long, or less if the longer
// one would be longer than longest. It rounds as transformers does.
func withinEdges(shortest, longest int) rule {
	return rule{fmt.Sprintf("shortest edge %d, longest edge up to %d", shortest, longest), func(h, w int) (int, int) {
		short, long := float64(min(w, h)), float64(max(w, h))
		size, raw := shortest, float64(shortest)
		if long/short*float64(shortest) > float64(longest) {
			raw = float64(longest) * short / long
			size = round(raw)
		}
		switch {
		case h <= w && h == size, w <= h && w == size:
			return h, w
		case w < h:
			return int(raw * float64(h) / float64(w)), size
		}
		return size, int(raw * float64(w) / float64(h))
	}}
}

// withinSides makes the image as large as fits into height and width.
func withinSides(height, width int) rule {
	return rule{fmt.Sprintf("to fit into %d×%d", height, width), func(h, w int) (int, int) {
		scale := min(float64(height)/float64(h), float64(width)/float64(w))
		return int(float64(h) * scale), int(float64(w) * scale)
	}}
}

// longestEdge makes the longer side n pixels long, and rounds the shorter one as SAM does.
func longestEdge(n int) rule {
	return rule{fmt.Sprintf("longest edge %d", n), func(h, w int) (int, int) {
		scale := float64(n) / float64(max(w, h))
		return int(float64(float64(h)*scale) + 0.5), int(float64(float64(w)*scale) + 0.5)
	}}
}

// wholeBlocks makes both sides of what r makes multiples of 16, by rounding down.
func wholeBlocks(r rule) rule {
	return rule{r.text + ", multiples of 16", func(h, w int) (int, int) {
		h, w = r.size(h, w)
		return h &^ 15, w &^ 15
	}}
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

// keepRatio is timm's ResizeKeepRatio: the image fits into th×tw, or covers it.
func keepRatio(th, tw int, fits bool) rule {
	how := "cover"
	if fits {
		how = "fit into"
	}
	return rule{fmt.Sprintf("to %s %d×%d", how, th, tw), func(h, w int) (int, int) {
		y, x := float64(h)/float64(th), float64(w)/float64(tw)
		ratio := min(x, y)
		if fits {
			ratio = max(x, y)
		}
		return round(float64(h) / ratio), round(float64(w) / ratio)
	}}
}

// maxResampled is the longest side that a resize makes.
const maxResampled = 1 << 30

// round rounds as Python does: halves go to the even neighbour. Numbers that are too large for a size
// become -1, which no image has.
func round(v float64) int {
	if !(v < math.MaxInt32) {
		return -1
	}
	return int(math.RoundToEven(v))
}
