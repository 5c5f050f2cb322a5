package engine

import (
	"fmt"
	"image"
	"math/rand/v2"

	"github.com/penstock-go/penstock/internal/codec/tiff"
	"github.com/penstock-go/penstock/internal/figures"
	"github.com/penstock-go/penstock/transform/internal/raster"
)

// A Plan is what becomes of an image: operations in order, and how the last image is stored.
type Plan struct {
	Field   string       // of the images
	Limit   int          // the most pixels that an image may have
	Memory  int64        // of all single images at a time, in bytes; 0 has no limit
	Pillow  int          // the version of Pillow whose resizing this is
	Cut     bool         // JPEG files may end too early
	Upright bool         // images are rotated by their orientation
	Codecs  []tiff.Codec // that Decompressor has added
	Deep    *DeepPlan    // with Depth16; otherwise nil
	Ops     []Operation
	Output  Output
	Ragged  bool
	Sizes   string // the field of Sizes, if there is one
	Derived []Derived
	Moves   bool // boxes, masks or keypoints move with the image
	Views   []Views
	Crops   Crops  // of FiveCrop or TenCrop, if it was there
	Tiles   *Tiles // if the step was there
	Frames  int    // of the results, if samples are clips; else 0
}

// Crops are the crops of FiveCrop or TenCrop, which are made when the result is stored.
type Crops struct {
	Text     string // of the step
	N        int    // 5 or 10; 0 without the step
	Size     image.Point
	Vertical bool                                            // the second five are mirrored top to bottom
	At       func(k int, size, crop image.Point) image.Point // where crop k of the first five begins
}

// begin makes the image of which they are the crops.
func (c *Crops) begin(e *Engine) error {
	if w, h := e.Size(); c.Size.X > w || c.Size.Y > h {
		return fmt.Errorf("transform: %s: the image has only %s", c.Text, figures.Pixels(w, h))
	}
	return e.Render()
}

// show makes crop k the view of the engine.
func (c *Crops) show(e *Engine, k int) error {
	e.Moved()
	if k >= 5 {
		e.Flip(c.Vertical)
	}
	at := c.At(k%5, e.View.Canvas, c.Size)
	if err := e.Crop(image.Rectangle{Min: at, Max: at.Add(c.Size)}, raster.Fill{}); err != nil {
		return err
	}
	return e.Frame.prepare(e)
}

// An Operation is one step of a program.
type Operation interface {
	Do(e *Engine, r *rand.Rand) error
}

// A leading is an operation that needs no pixels.
type leading interface{ Leads() }

// A DeepPlan is what a plan has with Depth16.
type DeepPlan struct {
	Text     string // the setting as it prints
	Channels int
	Fills    [][]float32 // of all steps
}

// Copy is a plan for steps of their own, such as those of Views.
func (d *DeepPlan) Copy() *DeepPlan {
	if d == nil {
		return nil
	}
	return &DeepPlan{Text: d.Text, Channels: d.Channels}
}

// A ChannelNorm is a Normalize: numbers per channel, or one for all.
type ChannelNorm struct{ Mean, Std []float32 }
