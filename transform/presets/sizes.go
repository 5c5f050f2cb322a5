package presets

import (
	"fmt"
	"math"

	"github.com/penstock-go/penstock/transform"
)

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
