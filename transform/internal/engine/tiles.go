package engine

import (
	"fmt"
	"image"

	"github.com/penstock-go/penstock/internal/figures"
	"github.com/penstock-go/penstock/internal/resize"
	"github.com/penstock-go/penstock/transform/internal/raster"
	"github.com/penstock-go/penstock/transform/internal/source"
)

// Tiles are parts of an image that all have one size, and whose number depends on the size of the image. They are made when
// the result is stored.
type Tiles struct {
	Text   string
	Size   image.Point
	Filter resize.Filter
	Of     func(h, w int) []Tile
}

// A Tile is what is left of the image after a crop, a resize and a crop to the size of the tiles.
type Tile struct {
	Crop      [4]int // top, left, height and width, within the image; zeros: none
	Resize    [2]int // height and width; zeros: none
	Top, Left int    // of the tile in the resized image, beyond which it is black
}

// beginTiles asks for the tiles, and makes the image of which they are parts.
func (l *lane) beginTiles() error {
	t, o := l.Plan.Tiles, &l.output
	w, h := l.Engine.Size()
	err := source.Guard(l.Field, func() error {
		l.tiles = t.Of(h, w)
		return nil
	})
	switch n := len(l.tiles); {
	case err != nil:
		return fmt.Errorf("transform: %s: %w", t.Text, err)
	case n == 0:
		return fmt.Errorf("transform: %s: an image of %s has no tiles", t.Text, figures.Pixels(w, h))
	case t.Size.X > l.Limit/t.Size.Y/n:
		return fmt.Errorf("transform: %s: %d tiles are more pixels than the limit of %d (see MaxPixels)", t.Text, n, l.Limit)
	}
	o.W, o.H, o.tiles = t.Size.X, t.Size.Y, len(l.tiles)
	return l.Engine.Render()
}

// show makes a tile the view of the engine.
func (t *Tiles) show(e *Engine, tile Tile) error {
	e.Moved()
	if c := tile.Crop; c != [4]int{} {
		w, h := e.Size()
		r := image.Rect(c[1], c[0], c[1]+c[3], c[0]+c[2])
		if c[2] < 1 || c[3] < 1 || !r.In(image.Rect(0, 0, w, h)) {
			return fmt.Errorf("transform: %s: a crop to %v is not within %s", t.Text, r, figures.Pixels(w, h))
		}
		if err := e.Crop(r, raster.Fill{}); err != nil {
			return err
		}
	}
	if s := tile.Resize; s != [2]int{} {
		if err := e.Resample(s[1], s[0], t.Filter); err != nil {
			return fmt.Errorf("transform: %s: %w", t.Text, err)
		}
	}
	at := image.Pt(tile.Left, tile.Top)
	if err := e.Crop(image.Rectangle{Min: at, Max: at.Add(t.Size)}, raster.Fill{}); err != nil {
		return err
	}
	return e.Frame.prepare(e)
}
