package engine

import (
	"fmt"

	"github.com/penstock-go/penstock/dataset"
	"github.com/penstock-go/penstock/internal/dense"
	"github.com/penstock-go/penstock/internal/figures"
	"github.com/penstock-go/penstock/transform/internal/raster"
	"github.com/penstock-go/penstock/transform/internal/source"
)

// Patches is how a result is cut into square patches, of which each is stored as a row.
type Patches struct {
	Side   int  // of a patch; 0 without patches
	Merge  int  // patches follow each other in squares of Merge×Merge, which follow each other row by row
	Frames int  // how often a patch is there, as if the image were so many frames of a video
	Last   bool // the channels come last in a patch: (y, x, channel, frame), not (channel, frame, y, x)
	Most   int  // the number of rows if it is fixed, of which the last are 0; else 0
}

// Row is the number of values of a patch.
func (p *Patches) Row(channels int) int { return channels * p.Frames * p.Side * p.Side }

// Count is the number of patches of an image.
func (p *Patches) Count(w, h int) int { return (w / p.Side) * (h / p.Side) }

// Check is the error of an image that cannot be cut, or has more than limit pixels in all frames.
func (p *Patches) Check(w, h, limit int) error {
	if n := p.Side * p.Merge; w%n != 0 || h%n != 0 {
		return fmt.Errorf("Patches: the image has %s: want multiples of %d", figures.Pixels(w, h), n)
	}
	if n := p.Count(w, h); p.Most > 0 && n > p.Most {
		return fmt.Errorf("Patches: the image has %d patches, more than %d", n, p.Most)
	}
	if w > limit/p.Frames/h {
		return fmt.Errorf("Patches: %d frames of %s are more than the limit of %d (see MaxPixels)", p.Frames, figures.Pixels(w, h), limit)
	}
	return nil
}

// values is how many values the result has of an image of w×h pixels.
func (o *Output) values(w, h int, ragged bool) int {
	p := &o.Patches
	switch {
	case p.Side == 0:
		return o.Channels * w * h
	case p.Most > 0 && !ragged:
		return p.Most * p.Row(o.Channels)
	}
	return p.Count(w, h) * p.Row(o.Channels)
}

// storePatches is Store for patches.
func (t *target[T]) storePatches(l *lane, f *ByteFrame, out []T, planes []T) {
	o, v := &l.output, &l.Engine.View
	w := o.W
	red, green, blue := planes[o.from[0]*w:][:w], planes[w:][:w], planes[o.from[2]*w:][:w]
	for y := range o.H {
		f.rowOf(v, f.row, y)
		t.norm.Store(red, green, blue, f.row[:4*w])
		scatter(o, out, planes, y)
	}
	clear(out[o.Patches.Count(w, o.H)*o.Patches.Row(o.Channels):])
}

// scatter writes row y of an image, whose channels lie one after the other, to the patches.
func scatter[T any](o *Output, out, planes []T, y int) {
	p, channels, w := &o.Patches, o.Channels, o.W
	m, columns, row := p.Merge, w/p.Side, p.Row(channels)
	gy, py := y/p.Side, y%p.Side
	for gx := range columns {
		patch := out[((gy/m*(columns/m)+gx/m)*m*m+gy%m*m+gx%m)*row:][:row]
		if p.Last {
			patch = patch[py*p.Side*channels*p.Frames:]
		}
		for c := range channels {
			from := planes[c*w+gx*p.Side:][:p.Side]
			for t := range p.Frames {
				if !p.Last {
					copy(patch[((c*p.Frames+t)*p.Side+py)*p.Side:], from)
					continue
				}
				for x, value := range from {
					patch[(x*channels+c)*p.Frames+t] = value
				}
			}
		}
	}
}

// storePatches stores floats of 32 or 16 bits.
func (f *ByteFrame) storePatches(l *lane, out []byte) {
	o := &l.output
	f.planes = raster.GrowFloats(f.planes, o.Channels*o.W)
	if o.full != nil {
		o.full.storePatches(l, f, dense.Values[float32](out), f.planes)
		return
	}
	o.halves.storePatches(l, f, dense.Values[uint16](out), dense.Values[uint16](dense.Bytes(f.planes)))
}

// A Derived is a field of numbers that are a function of sizes: heights and widths of the image and of its result.
type Derived struct {
	Text  string
	Field dataset.Field
	Of    func(image, result [2]int, out []int64)
}

// Sizes are those of an image and of its result, before PadTo and with it: heights and widths.
type Sizes struct{ Image, Result, Stored [2]int }

func (l *lane) sizes() Sizes {
	h, w := l.shown()
	from := l.Engine.from
	return Sizes{Image: [2]int{from.Y, from.X}, Result: [2]int{h, w}, Stored: [2]int{l.output.H, l.output.W}}
}

// Derive writes the numbers.
func (d *Derived) Derive(field string, s Sizes, out []int64) error {
	clear(out)
	err := source.Guard(field, func() error {
		d.Of(s.Image, s.Result, out)
		return nil
	})
	if err != nil {
		return fmt.Errorf("transform: %s: %w", d.Text, err)
	}
	return nil
}

// derive stores the fields of a plan, which are the last of a sample.
func (r *Reader) derive(dst dataset.Slot) error {
	first := len(r.Out) - len(r.Derived)
	for k := range r.Derived {
		if err := r.Derived[k].Derive(r.Plan.Field, r.Lane.sizes(), dataset.Row[int64](dst, first+k)); err != nil {
			return err
		}
	}
	return nil
}
