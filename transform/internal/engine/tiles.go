package engine

import (
	"fmt"
	"image"
	"math/rand/v2"

	"github.com/penstock-go/penstock/internal/figures"
	"github.com/penstock-go/penstock/internal/resize"
	"github.com/penstock-go/penstock/transform/internal/raster"
)

// Tiles are parts of an image that all have one size, unless they are cut into patches, and whose number depends on the size of
// the image. They are made when the result is stored.
type Tiles struct {
	Text   string
	Size   image.Point
	Filter resize.Filter
	Of     func(h, w int) []Tile
}

// A Tile is what is left of the image after a crop, a resize and a crop to the size of the tile.
type Tile struct {
	Crop      [4]int // top, left, height and width, within the image; zeros: none
	Resize    [2]int // height and width; zeros: none
	Top, Left int    // of the tile in the resized image, beyond which it is filled
	Size      [2]int // height and width; zeros: those of all tiles, or without Tiles the whole resized image
}

// within is where the tile is in the resized image. A tile without Size has the usual one.
func (t Tile) within(usual image.Point) image.Rectangle {
	if t.Size != [2]int{} {
		usual = image.Pt(t.Size[1], t.Size[0])
	}
	at := image.Pt(t.Left, t.Top)
	return image.Rectangle{Min: at, Max: at.Add(usual)}
}

// Bounds is where the tile is in the resized image, for an image of w×h pixels.
func (t Tile) Bounds(w, h int) image.Rectangle {
	switch {
	case t.Resize != [2]int{}:
		h, w = t.Resize[0], t.Resize[1]
	case t.Crop != [4]int{}:
		h, w = t.Crop[2], t.Crop[3]
	}
	return t.within(image.Pt(w, h))
}

// Cut makes the crop and the resize for the step with this text, and returns where the tile is in the result.
func (t Tile) Cut(e *Engine, text string, f resize.Filter, usual image.Point) (at image.Rectangle, err error) {
	if c := t.Crop; c != [4]int{} {
		w, h := e.Size()
		r := image.Rect(c[1], c[0], c[1]+c[3], c[0]+c[2])
		if c[2] < 1 || c[3] < 1 || !r.In(image.Rect(0, 0, w, h)) {
			return at, fmt.Errorf("transform: %s: a crop to %v is not within %s", text, r, figures.Pixels(w, h))
		}
		if err := e.Crop(r, raster.Fill{}); err != nil {
			return at, err
		}
	}
	if s := t.Resize; s != [2]int{} {
		if err := e.Resample(s[1], s[0], f); err != nil {
			return at, fmt.Errorf("transform: %s: %w", text, err)
		}
	}
	if usual == (image.Point{}) {
		usual = e.View.Canvas
	}
	at = t.within(usual)
	if at.Dx() < 1 || at.Dy() < 1 || max(at.Dx(), at.Dy()) > maxResampled {
		return at, fmt.Errorf("transform: %s: a tile of %d×%d pixels, want 1 to %d", text, t.Size[0], t.Size[1], maxResampled)
	}
	return at, nil
}

// beginTiles asks for the tiles, and makes the image of which they are parts.
func (l *lane) beginTiles() error {
	t, o := l.Plan.Tiles, &l.output
	w, h := l.Engine.Size()
	l.Engine.from = image.Pt(w, h)
	err := l.Engine.Guard(func() error {
		l.tiles = t.Of(h, w)
		return nil
	})
	switch {
	case err != nil:
		return fmt.Errorf("transform: %s: %w", t.Text, err)
	case l.tiles == nil:
		return fmt.Errorf("transform: %s: an image of %s has no tiles", t.Text, figures.Pixels(w, h))
	}
	left := l.Limit / l.Engine.Frame.cost() / max(o.Patches.Frames, 1)
	for _, tile := range l.tiles {
		s := tile.within(t.Size).Size()
		switch {
		case s.X < 1 || s.Y < 1 || s != t.Size && o.Patches.Side == 0:
			return fmt.Errorf("transform: %s: a tile of %d×%d pixels, want the size of all unless Patches follows", t.Text, s.Y, s.X)
		case s.X > left/s.Y:
			return fmt.Errorf("transform: %s: %d tiles are more pixels than the limit of %d (see MaxPixels)", t.Text, len(l.tiles), l.Limit)
		}
		left -= s.X * s.Y
		if p := &o.Patches; p.Side > 0 {
			if err := p.Check(s.X, s.Y, l.Limit); err != nil {
				return fmt.Errorf("transform: %w", err)
			}
		}
	}
	o.W, o.H = t.Size.X, t.Size.Y
	return l.Engine.Render()
}

// values is how many values the result has.
func (l *lane) values() int {
	o := &l.output
	if l.Plan.Tiles == nil {
		return o.values(o.W, o.H, l.Ragged)
	}
	n := 0
	for _, tile := range l.tiles {
		s := tile.within(l.Plan.Tiles.Size).Size()
		n += o.values(s.X, s.Y, true)
	}
	return n
}

// storeTiles is Store for tiles.
func (l *lane) storeTiles(out []byte, r *rand.Rand) error {
	t, o, e := l.Plan.Tiles, &l.output, &l.Engine
	for _, tile := range l.tiles {
		e.Moved()
		at, err := tile.Cut(e, t.Text, t.Filter, t.Size)
		if err != nil {
			return err
		}
		if err := e.Crop(at, raster.Fill{}); err != nil {
			return err
		}
		if err := e.Frame.prepare(e); err != nil {
			return err
		}
		o.W, o.H = at.Dx(), at.Dy()
		n := o.values(o.W, o.H, true) * o.Dtype.Size()
		if err := e.Frame.Store(l, out[:n:n], r); err != nil {
			return err
		}
		out = out[n:]
	}
	o.W, o.H = t.Size.X, t.Size.Y
	return nil
}
