package presets

import (
	"fmt"
	"math"
	"slices"

	"github.com/penstock-go/penstock/transform"
)

// steps are all steps, which the keys must have allowed.
func (c *processor) steps(o object) []transform.Step {
	var all []transform.Step
	switch {
	case c.resize:
		all = c.resizing(o)
	case c.canvas || c.tiles:
		o.fail("do_resize", "want true with do_pad and with tiles")
	}
	if c.center {
		all = append(all, transform.CenterCrop([2]int{c.crop.h, c.crop.w}, transform.Floor()))
	}
	all = append(all, c.colours()...)
	switch n := c.divisor; {
	case c.pad && n > 0:
		all = append(all, transform.TileFunc(fmt.Sprintf("in the middle of multiples of %d", n), func(h, w int) transform.Tile {
			th, tw := upTo(h, n), upTo(w, n)
			return transform.Tile{Top: -((th - h) / 2), Left: -((tw - w) / 2), Size: [2]int{th, tw}}
		}))
	case c.pad && c.padded != (area{}):
		all = append(all, transform.PadTo([2]int{c.padded.h, c.padded.w}))
	}
	return append(all, c.cut.patches()...)
}

// resizing is the resize, with the crop that belongs to it. The cases are in the
// order in which transformers looks at size.
func (c *processor) resizing(o object) []transform.Step {
	if c.own != nil {
		if all := c.own(c, o); all != nil {
			return all
		}
	}
	return c.usual(o)
}

// usual is how most classes resize.
func (c *processor) usual(o object) []transform.Step {
	s, f := c.size, filtered(c.filter)
	switch {
	case c.strict:
	case s.shortest > 0 && s.longest > 0:
		return []transform.Step{withinEdges(s.shortest, s.longest).step(c.filter)}
	case s.shortest > 0 && !c.detects:
		return []transform.Step{transform.Resize(s.shortest, f...)}
	case s.maxHeight > 0 && s.maxWidth > 0:
		return []transform.Step{withinSides(s.maxHeight, s.maxWidth).step(c.filter)}
	case s.fixed():
		return []transform.Step{transform.Resize([2]int{s.height, s.width}, f...)}
	}
	o.fail("size", "not of a form that this image processor takes")
	return nil
}

// fixed reports whether both sides are given.
func (s sides) fixed() bool { return s.height > 0 && s.width > 0 }

// A colouring is how pixels become values.
type colouring struct {
	rescale, normalize bool

	factor    float64
	mean, std [3]float64
	offset    bool // rescale_offset
	top       bool // include_top
	reverse   bool // do_flip_channel_order
	late      bool // after mean and standard deviation
}

// colours are the steps by which pixels become values.
func (c *processor) colours() []transform.Step {
	var all []transform.Step
	switch {
	case c.rescale && c.factor == 1.0/255:
		all = []transform.Step{transform.ToTensor()} // the same values
	case c.rescale:
		all = []transform.Step{transform.Rescale(c.factor)}
	case c.normalize || c.top || c.cut.side > 0:
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
		mean, std := narrow(c.mean), narrow(c.std)
		if c.reverse && c.late {
			slices.Reverse(mean)
			slices.Reverse(std)
		}
		all = append(all, transform.Normalize(mean, std))
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
