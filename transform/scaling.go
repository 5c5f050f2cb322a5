package transform

import (
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/penstock-go/penstock/internal/resize"
)

// A scaling is a resize to a size that depends on the image's in a way of its
// own.
type scaling struct {
	*call
	of func(w, h int) (int, int)
}

// scaled makes the step that prints as Resize with the text.
func scaled(text string, f Filter, of func(w, h int) (int, int)) scaling {
	var options []Option
	if f != Bilinear {
		options = []Option{Interpolation(f)}
	}
	return scaling{calling("Resize", keyInterpolation, arguments{}, options, text), of}
}

func (s scaling) add(p *program) error { return p.geometry(s, resizes) }

func (s scaling) after(w, h int) (int, int) {
	if w == 0 || h == 0 {
		return 0, 0
	}
	return s.of(w, h)
}

func (s scaling) move(e *engine, _ *rand.Rand) error {
	w, h := s.of(e.size())
	return e.resample(w, h, resize.Filter(s.interpolation))
}

// withinEdges makes the shorter side shortest pixels long, or less if the longer
// one would be longer than longest. It rounds as transformers does.
func withinEdges(shortest, longest int, f Filter) scaling {
	text := fmt.Sprintf("shortest edge %d, longest edge up to %d", shortest, longest)
	return scaled(text, f, func(w, h int) (int, int) {
		short, long := float64(min(w, h)), float64(max(w, h))
		size, raw := shortest, float64(shortest)
		if long/short*float64(shortest) > float64(longest) {
			raw = float64(longest) * short / long
			size = round(raw)
		}
		switch {
		case h <= w && h == size, w <= h && w == size:
			return w, h
		case w < h:
			return size, int(raw * float64(h) / float64(w))
		}
		return int(raw * float64(w) / float64(h)), size
	})
}

// withinSides makes the image as large as fits into height and width.
func withinSides(height, width int, f Filter) scaling {
	text := fmt.Sprintf("to fit into %d×%d", height, width)
	return scaled(text, f, func(w, h int) (int, int) {
		scale := min(float64(height)/float64(h), float64(width)/float64(w))
		return int(float64(w) * scale), int(float64(h) * scale)
	})
}

// longestEdge makes the longer side n pixels long, and rounds the shorter one as
// SAM does.
func longestEdge(n int, f Filter) scaling {
	return scaled(fmt.Sprintf("longest edge %d", n), f, func(w, h int) (int, int) {
		scale := float64(n) / float64(max(w, h))
		return int(float64(float64(w)*scale) + 0.5), int(float64(float64(h)*scale) + 0.5)
	})
}

// wholeBlocks makes both sides of what s makes multiples of 16, by rounding down.
func wholeBlocks(s scaling) scaling {
	s.args = []any{s.args[0], "multiples of 16"}
	of := s.of
	s.of = func(w, h int) (int, int) {
		w, h = of(w, h)
		return w &^ 15, h &^ 15
	}
	return s
}

// inMultiples scales both sides as either the height or the width needs, whichever
// scales less, and rounds them to multiples of n, as DPT does.
func inMultiples(height, width, n int, f Filter) scaling {
	text := fmt.Sprintf("to height or width of %d×%d, multiples of %d", height, width, n)
	return scaled(text, f, func(w, h int) (int, int) {
		scale := float64(height) / float64(h)
		if x := float64(width) / float64(w); math.Abs(1-x) < math.Abs(1-scale) {
			scale = x
		}
		side := func(v float64) int { return round(min(v, maxResampled)/float64(n)) * n }
		return side(scale * float64(w)), side(scale * float64(h))
	})
}

// keepRatio is timm's ResizeKeepRatio: the image fits into th×tw, or covers it.
func keepRatio(th, tw int, fits bool, f Filter) scaling {
	how := "cover"
	if fits {
		how = "fit into"
	}
	text := fmt.Sprintf("to %s %d×%d", how, th, tw)
	return scaled(text, f, func(w, h int) (int, int) {
		y, x := float64(h)/float64(th), float64(w)/float64(tw)
		ratio := min(x, y)
		if fits {
			ratio = max(x, y)
		}
		return round(float64(w) / ratio), round(float64(h) / ratio)
	})
}
