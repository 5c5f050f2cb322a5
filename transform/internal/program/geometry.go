package program

import (
	"errors"
	"fmt"
	"image"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/internal/figures"
	"github.com/penstock-go/penstock/internal/resize"
	"github.com/penstock-go/penstock/transform/internal/engine"
	"github.com/penstock-go/penstock/transform/internal/raster"
)

// A moving is the operation of a step that moves and scales pixels. The engine collects it and applies it later.
type moving struct {
	*Call
	sized func(w, h int) (int, int) // the size after it: 0, 0 if that varies; nil if it stays
	move  func(e *engine.Engine, r *rand.Rand) error
}

// Leads says that it needs no pixels.
func (moving) Leads() {}

// Do runs it.
func (m moving) Do(e *engine.Engine, r *rand.Rand) error {
	if m.Own != nil {
		return m.guarded(e, r)
	}
	return m.named(m.move(e, r))
}

// guarded is Do with a function of the user.
func (m moving) guarded(e *engine.Engine, r *rand.Rand) error {
	err := e.Guard(func() error { return m.move(e, r) })
	if _, ok := errors.AsType[*dataset.PanicError](err); ok {
		return fmt.Errorf("transform: %v: %w", m.Call, err)
	}
	return m.named(err)
}

// named is an error that says whose it is.
func (m moving) named(err error) error {
	if size, ok := err.(engine.Impossible); ok {
		return fmt.Errorf("transform: %v: %w", m.Call, size)
	}
	return err
}

func (m moving) after(w, h int) (int, int) {
	if m.sized == nil {
		return w, h
	}
	return m.sized(w, h)
}

// varies is the size after a step if that varies.
func varies(_, _ int) (w, h int) { return 0, 0 }

// geometry adds a step that one resampling can do with those beside it.
func (p *Program) geometry(c *Call, how effect, sized func(w, h int) (int, int), move func(e *engine.Engine, r *rand.Rand) error) error {
	if err := p.beforeTensor(); err != nil {
		return err
	}
	p.join(c.String(), how)
	p.Ops = append(p.Ops, moving{c, sized, move})
	return nil
}

// warp adds a geometry that needs pixels. What moves with the image must follow.
func (p *Program) warp(c *Call, sized func(w, h int) (int, int), move func(e *engine.Engine, r *rand.Rand) error) error {
	if err := p.beforeTensor(); err != nil {
		return err
	}
	p.pause("warp      " + c.String())
	p.Ops = append(p.Ops, moving{c, sized, move})
	return nil
}

// painter is how a warp fills its result.
func (p *Program) painter(c *Call, usual resize.Filter) raster.Painter {
	return raster.Painter{Filter: c.filter(usual), Fill: p.fill(c)}
}

// Resize, and steps that draw a size.
var (
	Resize = &Kind{name: "Resize", sized: true, takes: []*Kind{Interpolation, MaxSize}, add: func(p *Program, c *Call) error {
		size, limit := c.extent(), optionOf(c, MaxSize, 0)
		switch {
		case limit != 0 && !size.one:
			return errors.New("want a MaxSize only with the shorter side")
		case limit != 0 && limit <= size.h:
			return errors.New("want a MaxSize above the shorter side")
		}
		return p.resize(c, func(w, h int) (int, int) {
			if !size.one {
				return size.w, size.h
			}
			return shortened(w, h, size.h, limit)
		})
	}}
	// ResizeFunc has the rule in words, and the function.
	ResizeFunc = &Kind{name: "Resize", takes: []*Kind{Interpolation}, add: func(p *Program, c *Call) error {
		of := c.Own.(func(h, w int) (int, int))
		return p.resize(c, func(w, h int) (int, int) {
			if w == 0 || h == 0 {
				return 0, 0
			}
			h, w = of(h, w)
			return w, h
		})
	}}
	ScaleJitter = &Kind{name: "ScaleJitter", sized: true, takes: []*Kind{Scale, Interpolation}, add: func(p *Program, c *Call) error {
		target, scale := c.extent(), c.span(Scale, 0.1, 2)
		if err := want(scale.Greatest <= MaxSide, "a Scale up to %d", MaxSide); err != nil {
			return err
		}
		return p.resizeRandomly(c, func(w, h int, r *rand.Rand) (int, int) {
			fits := min(float64(target.w)/float64(h), float64(target.h)/float64(w))
			factor := float32(fits) * drawn(scale, r)
			return int(float32(w) * factor), int(float32(h) * factor)
		})
	}}
	RandomShortestSize = &Kind{name: "RandomShortestSize", takes: []*Kind{MaxSize, Interpolation}, add: func(p *Program, c *Call) error {
		sizes, limit := c.Args[0].([]int), optionOf(c, MaxSize, 0)
		if len(sizes) == 0 || slices.ContainsFunc(sizes, func(n int) bool { return n < 1 || n > MaxSide }) {
			return errors.New("want positive sizes")
		}
		return p.resizeRandomly(c, func(w, h int, r *rand.Rand) (int, int) {
			factor := float64(sizes[r.IntN(len(sizes))]) / float64(min(w, h))
			if limit != 0 {
				factor = min(factor, float64(limit)/float64(max(w, h)))
			}
			return int(float64(w) * factor), int(float64(h) * factor)
		})
	}}
	RandomResize = &Kind{name: "RandomResize", takes: []*Kind{Interpolation}, add: func(p *Program, c *Call) error {
		least, below := c.Args.int(0), c.Args.int(1)
		if least < 1 || below <= least || below > MaxSide {
			return errors.New("want a positive size, and a greater one")
		}
		return p.resizeRandomly(c, func(w, h int, r *rand.Rand) (int, int) {
			return shortened(w, h, least+r.IntN(below-least), 0)
		})
	}}
)

// LetterBox makes the image as large as fits into a size, and fills what is left around it.
var LetterBox = &Kind{name: "LetterBox", sized: true, takes: []*Kind{Interpolation, Fill}, add: func(p *Program, c *Call) error {
	size, filter, colour := c.extent(), c.filter(resize.OpenCVLinear), p.fill(c)
	switch {
	case p.Deep != nil && !(c.has(Interpolation) && c.has(Fill)):
		return errors.New("with Depth16, want an Interpolation and a Fill: the usual ones are for colours of 8 bits")
	case !c.has(Fill):
		colour.Colour = [3]uint8{114, 114, 114}
	}
	return p.geometry(c, resizes, size.after, func(e *engine.Engine, _ *rand.Rand) error {
		w, h := e.Size()
		r := Letter(w, h, size.w, size.h)
		if err := e.Resample(r.Dx(), r.Dy(), filter); err != nil {
			return err
		}
		return e.Crop(image.Rect(0, 0, size.w, size.h).Sub(r.Min), colour)
	})
}}

// Letter is where LetterBox puts an image of w×h pixels within toW×toH. If the pixels around it are odd in number, there is
// one more at the right or at the bottom.
func Letter(w, h, toW, toH int) image.Rectangle {
	scale := min(float64(toH)/float64(h), float64(toW)/float64(w))
	iw, ih := engine.Round(float64(w)*scale), engine.Round(float64(h)*scale)
	left, top := (toW-iw)/2, (toH-ih)/2
	return image.Rectangle{Min: image.Pt(left, top), Max: image.Pt(left+iw, top+ih)}
}

// resize adds a step that resizes to what sized says.
func (p *Program) resize(c *Call, sized func(w, h int) (int, int)) error {
	filter := c.filter(resize.Bilinear)
	return p.geometry(c, resizes, sized, func(e *engine.Engine, _ *rand.Rand) error {
		w, h := sized(e.Size())
		return e.Resample(w, h, filter)
	})
}

// resizeRandomly is resize to a size that draw draws.
func (p *Program) resizeRandomly(c *Call, draw func(w, h int, r *rand.Rand) (int, int)) error {
	filter := c.filter(resize.Bilinear)
	return p.geometry(c, resizes, varies, func(e *engine.Engine, r *rand.Rand) error {
		w, h := e.Size()
		w, h = draw(w, h, r)
		return e.Resample(w, h, filter)
	})
}

// shortened is the size of an image of w×h after its shorter side has become short, unless the longer
// one would be above limit. A limit of 0 is none.
func shortened(w, h, short, limit int) (int, int) {
	if w == 0 || h == 0 {
		return 0, 0
	}
	most := int64(short) * int64(max(w, h)) / int64(min(w, h))
	long := int(min(most, math.MaxInt))
	if limit != 0 && most > int64(limit) {
		short, long = int(int64(limit)*int64(short)/most), limit
	}
	if w <= h {
		return short, long
	}
	return long, short
}

// drawn is torch.rand(1) scaled to a span: float32, like all numbers of 24 random bits.
func drawn(s engine.Span, r *rand.Rand) float32 {
	return float32(s.Least) + float32(r.Float32()*float32(s.Greatest-s.Least))
}

// Steps that crop, pad and mirror.
var (
	CenterCrop = &Kind{name: "CenterCrop", sized: true, takes: []*Kind{Fill, Floor}, add: func(p *Program, c *Call) error {
		size := c.extent()
		floor, colour := c.has(Floor), p.fill(c)
		return p.geometry(c, crops, size.after, func(e *engine.Engine, _ *rand.Rand) error {
			w, h := e.Size()
			left, top := centred(w, size.w), centred(h, size.h)
			if floor {
				left, top = (w-size.w)>>1, (h-size.h)>>1
			}
			return e.Crop(image.Rect(left, top, left+size.w, top+size.h), colour)
		})
	}}
	Crop = &Kind{name: "Crop", add: func(p *Program, c *Call) error {
		top, left, size := c.Args.int(0), c.Args.int(1), extent{c.Args.int(2), c.Args.int(3), false}
		if err := size.check(); err != nil {
			return err
		}
		return p.geometry(c, crops, size.after, func(e *engine.Engine, _ *rand.Rand) error {
			return e.Crop(image.Rect(left, top, left+size.w, top+size.h), raster.Fill{})
		})
	}}
	RandomCrop = &Kind{name: "RandomCrop", sized: true, takes: []*Kind{Padding, PadIfNeeded, Fill, PaddingMode}, add: addRandomCrop}
	Pad        = &Kind{name: "Pad", takes: []*Kind{Fill, PaddingMode}, add: func(p *Program, c *Call) error {
		widths := widthsOf(c.Args[0])
		pad := p.padding(c)
		if err := errors.Join(checkWidths(widths), pad.check(p)); err != nil {
			return err
		}
		return p.geometry(c, pads, func(w, h int) (int, int) {
			if w == 0 || h == 0 {
				return 0, 0
			}
			size := frameOf(widths, w, h).Size()
			return size.X, size.Y
		}, func(e *engine.Engine, _ *rand.Rand) error {
			w, h := e.Size()
			return pad.around(e, frameOf(widths, w, h))
		})
	}}
	RandomZoomOut = &Kind{name: "RandomZoomOut", chance: true, takes: []*Kind{SideRange, Fill}, add: func(p *Program, c *Call) error {
		prob, side, colour := c.prob(), c.span(SideRange, 1, 4), p.fill(c)
		return p.geometry(c, pads, varies, func(e *engine.Engine, r *rand.Rand) error {
			if r.Float64() >= prob {
				return nil
			}
			w, h := e.Size()
			side := drawn(side, r)
			toW, toH := int(float32(w)*side), int(float32(h)*side)
			dx, dy := r.Float32(), r.Float32()
			left, top := int(float32(toW-w)*dx), int(float32(toH-h)*dy)
			return e.Crop(image.Rect(-left, -top, toW-left, toH-top), colour)
		})
	}}
	FixedSizeCrop = &Kind{name: "FixedSizeCrop", sized: true, takes: []*Kind{Fill}, add: func(p *Program, c *Call) error {
		size := c.extent()
		colour := p.fill(c)
		return p.geometry(c, pads, size.after, func(e *engine.Engine, r *rand.Rand) error {
			w, h := e.Size()
			cw, ch := min(w, size.w), min(h, size.h)
			part := r.Float32() // one number for both sides, as there
			left, top := int(float32(w-cw)*part), int(float32(h-ch)*part)
			if cw != w || ch != h {
				if err := e.Crop(image.Rect(left, top, left+cw, top+ch), colour); err != nil {
					return err
				}
				e.Annotations.RemoveEmpty()
			}
			if cw != size.w || ch != size.h {
				return e.Crop(image.Rect(0, 0, size.w, size.h), colour)
			}
			return nil
		})
	}}
	RandomResizedCrop = &Kind{name: "RandomResizedCrop", sized: true, takes: []*Kind{Scale, Ratio, Interpolation}, add: func(p *Program, c *Call) error {
		size := c.extent()
		filter := c.filter(resize.Bilinear)
		return p.geometry(c, resizes, size.after, func(e *engine.Engine, r *rand.Rand) error {
			w, h := e.Size()
			if err := e.Crop(c.DrawPart(w, h, r), raster.Fill{}); err != nil {
				return err
			}
			return e.Resample(size.w, size.h, filter)
		})
	}}
	RandomHorizontalFlip = flip("RandomHorizontalFlip", false)
	RandomVerticalFlip   = flip("RandomVerticalFlip", true)

	PadTo = &Kind{name: "PadTo", sized: true, add: func(p *Program, c *Call) error {
		size := c.extent()
		return p.blank(c, size.after, func(_, _ int) engine.Tile { return engine.Tile{Size: [2]int{size.h, size.w}} })
	}}
	FiveCrop = &Kind{name: "FiveCrop", sized: true, add: func(p *Program, c *Call) error { return p.severalCrops(c, 5) }}
	TenCrop  = &Kind{name: "TenCrop", sized: true, takes: []*Kind{VerticalFlip}, add: func(p *Program, c *Call) error { return p.severalCrops(c, 10) }}
	// TileFunc has the rule in words, and the function.
	TileFunc = &Kind{name: "TileFunc", takes: []*Kind{Interpolation, Fill, PaddingMode}, add: func(p *Program, c *Call) error {
		of, filter, pad := c.Own.(func(h, w int) engine.Tile), c.filter(resize.Bilinear), p.padding(c)
		if err := pad.check(p); err != nil {
			return err
		}
		sized := func(w, h int) (int, int) {
			if w == 0 || h == 0 {
				return 0, 0
			}
			size := of(h, w).Bounds(w, h).Size()
			return size.X, size.Y
		}
		switch {
		case p.Output.Tensor && len(c.options) > 0:
			return errors.New("want no options after ToTensor and PILToTensor")
		case p.Output.Tensor:
			return p.blank(c, sized, of)
		}
		return p.geometry(c, resizes, sized, func(e *engine.Engine, _ *rand.Rand) error {
			w, h := e.Size()
			at, err := of(h, w).Cut(e, c.String(), filter, image.Point{})
			if err != nil {
				return err
			}
			return pad.around(e, at)
		})
	}}
	// Tiles has the size, the rule in words, and the function.
	Tiles = &Kind{name: "Tiles", sized: true, takes: []*Kind{Interpolation}, add: func(p *Program, c *Call) error {
		size := c.extent()
		switch err := errors.Join(p.notNested(), p.beforeTensor()); {
		case err != nil:
			return err
		case p.inView:
			return errors.New("not in Views")
		case p.any():
			return errors.New("not with Boxes, Mask, Masks or KeyPoints")
		}
		p.endRun()
		p.Lines = append(p.Lines, fmt.Sprintf("tiles     %v", c))
		p.Tiles = &engine.Tiles{Text: c.String(), Size: image.Pt(size.w, size.h), Filter: c.filter(resize.Bilinear), Of: c.Own.(func(h, w int) []engine.Tile)}
		return nil
	}}
	ExifTranspose = &Kind{name: "ExifTranspose", add: func(p *Program, c *Call) error {
		if err := p.notNested(); err != nil {
			return err
		}
		if len(p.Ops) > 0 || p.Upright {
			return errors.New("must come once, before all steps that change the image")
		}
		if p.inView {
			return errors.New("must be next to Views, not among its steps")
		}
		if err := p.beforeTensor(); err != nil {
			return err
		}
		p.Upright = true
		p.Lines = append(p.Lines, "rotate    "+c.String())
		return nil
	}}
)

// blank adds a step after ToTensor that makes the result larger by zeros: a tile around the image.
func (p *Program) blank(c *Call, sized func(w, h int) (int, int), of func(h, w int) engine.Tile) error {
	if err := errors.Join(p.notNested(), p.beforeCrops()); err != nil {
		return err
	}
	o := &p.Output
	switch {
	case !o.Tensor:
		return errors.New("must come after ToTensor or PILToTensor")
	case o.Blanks:
		return errors.New("must come only once")
	case o.Patches.Side > 0:
		return errors.New("not with Patches")
	}
	o.Blanks = true
	o.Calls = append(o.Calls, c.String())
	p.Ops = append(p.Ops, moving{c, sized, func(e *engine.Engine, _ *rand.Rand) error {
		w, h := e.Size()
		tile, whole := of(h, w), image.Rect(0, 0, w, h)
		r := tile.Bounds(w, h)
		switch {
		case tile.Crop != [4]int{}, tile.Resize != [2]int{}:
			return fmt.Errorf("transform: %v: after ToTensor it cannot crop and resize", c)
		case !whole.In(r):
			return fmt.Errorf("transform: %v: the image has %s", c, figures.Pixels(w, h))
		}
		e.Shown = whole.Sub(r.Min)
		return e.Crop(r, raster.Fill{})
	}})
	return nil
}

func flip(name string, vertical bool) *Kind {
	return &Kind{name: name, chance: true, add: func(p *Program, c *Call) error {
		prob := c.prob()
		return p.geometry(c, moves, nil, func(e *engine.Engine, r *rand.Rand) error {
			if r.Float64() < prob {
				e.Flip(vertical)
			}
			return nil
		})
	}}
}

// centred is where a crop begins in n pixels. If pixels are left over, it is half of their number, rounded to even.
// If pixels are missing, it is minus half of their number, rounded towards zero.
func centred(n, crop int) int {
	if crop > n {
		return -((crop - n) / 2)
	}
	begin := (n - crop) / 2
	if (n-crop)%2 == 1 {
		begin += begin % 2
	}
	return begin
}

// A padding is how Pad and RandomCrop fill what they add.
type padding struct {
	mode   raster.PadMode
	colour raster.Fill
}

func (p *Program) padding(c *Call) padding {
	return padding{optionOf(c, PaddingMode, raster.Constant), p.fill(c)}
}

// check is the error of a mode that cannot say where boxes and keypoints go.
func (s padding) check(p *Program) error {
	if s.mode != raster.Constant && (p.has(Boxes) || p.has(KeyPoints)) {
		return errors.New("not with Boxes or KeyPoints: only the mode constant")
	}
	return nil
}

// around pads the image to frame.
func (s padding) around(e *engine.Engine, frame image.Rectangle) error {
	if s.mode == raster.Constant || frame.Size() == e.View.Canvas {
		return e.Crop(frame, s.colour)
	}
	if err := e.Make(frame.Dx(), frame.Dy()); err != nil {
		return err
	}
	if err := e.Render(); err != nil {
		return err
	}
	e.Frame.Pad(frame, s.mode)
	e.Moved()
	e.Annotations.Pad(frame, s.mode)
	return nil
}

// widthsOf are the widths of Pad.
func widthsOf(arg any) []int {
	switch v := arg.(type) {
	case [2]int:
		return v[:]
	case [4]int:
		return v[:]
	}
	return []int{arg.(int)}
}

// frameOf is the rectangle of the image of w×h padded by one width, by widths for x and y, or by four, in the coordinates
// of the image before it.
func frameOf(d []int, w, h int) image.Rectangle {
	n := len(d)
	return image.Rect(-d[0], -d[1%n], w+d[2%n], h+d[3%n])
}

func addRandomCrop(p *Program, c *Call) error {
	size, pad := c.extent(), p.padding(c)
	if err := pad.check(p); err != nil {
		return err
	}
	widths, needed, how := of[int](c.option(Padding)), c.has(PadIfNeeded), crops
	if len(widths) > 0 || needed {
		how = pads
	}
	return p.geometry(c, how, size.after, func(e *engine.Engine, r *rand.Rand) error {
		w, h := e.Size()
		if len(widths) > 0 {
			if err := pad.around(e, frameOf(widths, w, h)); err != nil {
				return err
			}
			w, h = e.Size()
		}
		if needed {
			dx, dy := max(size.w-w, 0), max(size.h-h, 0)
			if err := pad.around(e, image.Rect(-dx, -dy, w+dx, h+dy)); err != nil {
				return err
			}
			w, h = e.Size()
		}
		if size.w > w || size.h > h {
			return fmt.Errorf("transform: %v: the image has only %s", c, figures.Pixels(w, h))
		}
		top := r.IntN(h - size.h + 1)
		left := r.IntN(w - size.w + 1)
		return e.Crop(image.Rect(left, top, left+size.w, top+size.h), raster.Fill{})
	})
}

// DrawPart draws what a RandomResizedCrop cuts out of an image of w×h.
func (c *Call) DrawPart(w, h int, r *rand.Rand) image.Rectangle {
	scale, ratio := c.span(Scale, 0.08, 1), c.span(Ratio, 3.0/4, 4.0/3)
	for range 10 {
		pw, ph := engine.DrawPart(w, h, scale, ratio, r)
		if 0 < pw && pw <= w && 0 < ph && ph <= h {
			top := r.IntN(h - ph + 1)
			left := r.IntN(w - pw + 1)
			return image.Rect(left, top, left+pw, top+ph)
		}
	}
	pw, ph := w, h
	switch now := float64(w) / float64(h); {
	case now < ratio.Least:
		ph = min(engine.Round(float64(w)/ratio.Least), h)
	case now > ratio.Greatest:
		pw = min(engine.Round(float64(h)*ratio.Greatest), w)
	}
	left, top := (w-pw)/2, (h-ph)/2
	return image.Rect(left, top, left+pw, top+ph)
}

// severalCrops adds FiveCrop or TenCrop.
func (p *Program) severalCrops(c *Call, n int) error {
	size := c.extent()
	if err := errors.Join(p.notNested(), p.beforeTensor()); err != nil {
		return err
	}
	if p.any() {
		return errors.New("not with Boxes, Mask, Masks or KeyPoints, which torchvision's does not crop either")
	}
	p.endRun()
	p.Lines = append(p.Lines, fmt.Sprintf("crops     %v", c))
	p.Crops = engine.Crops{Text: c.String(), N: n, Size: image.Pt(size.w, size.h), Vertical: c.has(VerticalFlip), At: cornerOf}
	return nil
}

// cornerOf is where a crop of FiveCrop begins: at the corners, from left to right and from top to bottom, and at the centre.
func cornerOf(k int, size, crop image.Point) image.Point {
	rest := size.Sub(crop)
	return [5]image.Point{{}, {X: rest.X}, {Y: rest.Y}, rest, {centred(size.X, crop.X), centred(size.Y, crop.Y)}}[k]
}

// Warps.
var (
	RandomRotation = &Kind{name: "RandomRotation", warps: true, takes: []*Kind{Interpolation, Expand, Center, Fill}, add: func(p *Program, c *Call) error {
		paint, degrees, sized := p.painter(c, resize.Nearest), c.Args.span(), func(w, h int) (int, int) { return w, h }
		if err := degrees.CheckAngles("degrees"); err != nil {
			return err
		}
		if c.has(Expand) {
			sized = varies
		}
		turn := raster.Turn{Expand: c.has(Expand), Centred: !c.has(Center)}
		if v := c.option(Center); v != nil {
			turn.CX, turn.CY = v.float(0), v.float(1)
		}
		return p.warp(c, sized, func(e *engine.Engine, r *rand.Rand) error {
			t := turn
			t.Angle = degrees.Draw(r)
			m, _, _ := t.Inverse(e.Size())
			w, h := t.Size(e.Size())
			if err := e.Make(w, h); err != nil {
				return err
			}
			if err := e.Render(); err != nil {
				return err
			}
			e.Frame.Rotate(t, paint)
			e.Moved()
			return e.Annotations.Follow(&m, w, h)
		})
	}}
	RandomAffine = &Kind{name: "RandomAffine", warps: true, takes: []*Kind{Translate, Scale, Shear, Interpolation, Fill, Center}, add: func(p *Program, c *Call) error {
		paint := p.painter(c, resize.Nearest)
		if err := c.Args.span().CheckAngles("degrees"); err != nil {
			return err
		}
		center := c.option(Center)
		return p.warp(c, nil, func(e *engine.Engine, r *rand.Rand) error {
			w, h := e.Size()
			cx, cy := float64(w)/2, float64(h)/2
			if center != nil {
				cx, cy = center.float(0), center.float(1)
			}
			m := c.DrawAffinity(w, h, r).Inverse(cx, cy)
			if err := e.Render(); err != nil {
				return err
			}
			return e.Warp(m, w, h, paint)
		})
	}}
	RandomPerspective = &Kind{name: "RandomPerspective", chance: true, warps: true, takes: []*Kind{Interpolation, Fill}, add: func(p *Program, c *Call) error {
		distortion, prob, paint := c.Args.float(0), c.prob(), p.painter(c, resize.Bilinear)
		if err := want(distortion >= 0 && distortion <= 1, "a distortion from 0 to 1"); err != nil {
			return err
		}
		return p.warp(c, nil, func(e *engine.Engine, r *rand.Rand) error {
			if r.Float64() >= prob {
				return nil
			}
			w, h := e.Size()
			corners := c.DrawCorners(w, h, r)
			if w < 2 || h < 2 {
				return nil
			}
			if err := e.Render(); err != nil {
				return err
			}
			return e.Warp(raster.ToCorners(w, h, corners), w, h, paint)
		})
	}}
	ElasticTransform = &Kind{name: "ElasticTransform", warps: true, takes: []*Kind{Interpolation, Fill}, add: func(p *Program, c *Call) error {
		const most = 100 // which bounds the work per pixel
		alpha, sigma, paint := c.Args.float(0), c.Args.float(1), p.painter(c, resize.Bilinear)
		switch {
		case !(math.Abs(alpha) <= MaxSide):
			return errors.New("want a finite alpha, up to 2^20")
		case !(sigma >= 0 && sigma <= most):
			return errors.New("want a sigma from 0 to 100")
		}
		if err := p.beforeTensor(); err != nil {
			return err
		}
		p.pause("warp      " + c.String())
		p.Ops = append(p.Ops, editing(func(e *engine.Engine, r *rand.Rand) error {
			w, h := e.Size()
			e.Field.Draw(w, h, alpha, sigma, r)
			e.Frame.Displace(&e.Field, paint)
			return e.Annotations.Displace(&e.Field)
		}))
		return nil
	}}
)

// DrawAffinity draws what a RandomAffine does to an image of w×h.
func (c *Call) DrawAffinity(w, h int, r *rand.Rand) raster.Affinity {
	a := raster.Affinity{Angle: c.Args.span().Draw(r)}
	if v := c.option(Translate); v != nil {
		if x, y := v.float(0)*float64(w), v.float(1)*float64(h); x > 0 || y > 0 {
			a.MoveX = math.RoundToEven(engine.Span{Least: -x, Greatest: x}.Draw(r))
			a.MoveY = math.RoundToEven(engine.Span{Least: -y, Greatest: y}.Draw(r))
		}
	}
	shearX, shearY := c.option(Shear).shears()
	a.Scale = c.span(Scale, 1, 1).Draw(r)
	a.ShearX = shearX.Draw(r)
	a.ShearY = shearY.Draw(r)
	return a
}

// DrawCorners draws where a RandomPerspective moves the corners of an image of w×h: from the upper left one on, clockwise.
func (c *Call) DrawCorners(w, h int, r *rand.Rand) [4]image.Point {
	dx := func() int { return r.IntN(int(c.Args.float(0)*float64(w/2)) + 1) }
	dy := func() int { return r.IntN(int(c.Args.float(0)*float64(h/2)) + 1) }
	return [4]image.Point{
		{dx(), dy()},
		{w - 1 - dx(), dy()},
		{w - 1 - dx(), h - 1 - dy()},
		{dx(), h - 1 - dy()},
	}
}
