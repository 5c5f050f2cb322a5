package engine

import (
	"image"

	"github.com/penstock-go/penstock/internal/resize"
	"github.com/penstock-go/penstock/transform/internal/raster"
)

// A view is geometry that is not applied yet. A window of the current image is resampled. A part of the result is
// placed on a canvas, and may be mirrored. The rest of the canvas is filled.
type view struct {
	window  image.Rectangle // of the current image
	size    image.Point     // of the window once resampled
	filter  resize.Filter
	Part    image.Rectangle // of the resampled window
	at      image.Rectangle // where the part is on the canvas; its size is the part's
	Canvas  image.Point
	fill    raster.Fill
	mirror  bool // left and right
	upended bool // top and bottom
}

// whole is the view of an image as it is.
func whole(w, h int) view {
	r := image.Rect(0, 0, w, h)
	return view{window: r, size: r.Max, Part: r, at: r, Canvas: r.Max}
}

func (v *view) isWhole(w, h int) bool { return *v == whole(w, h) }

func (v *view) resampled() bool { return v.size != v.window.Size() }

func (v *view) padded() bool { return v.at != image.Rectangle{Max: v.Canvas} }

// canResample reports whether a resize can join the view. It can if the view has
// only crops inside the image, which become the window.
func (v *view) canResample() bool {
	return !v.resampled() && !v.padded() && !v.mirror && !v.upended
}

// Resample adds a resize. canResample must be true.
func (v *view) Resample(w, h int, f resize.Filter) {
	window := v.Part.Add(v.window.Min)
	*v = whole(w, h)
	v.window, v.filter = window, f
}

// canCrop reports whether a crop to r, on the canvas, can join the view. What is
// outside the canvas is filled, and a view has only one fill.
func (v *view) canCrop(r image.Rectangle, fill raster.Fill) bool {
	return r.In(image.Rectangle{Max: v.Canvas}) || !v.padded() || v.fill == fill
}

// Crop makes r the canvas. canCrop must be true.
func (v *view) Crop(r image.Rectangle, fill raster.Fill) {
	if !r.In(image.Rectangle{Max: v.Canvas}) {
		v.fill = fill
	}
	at := v.at.Intersect(r)
	if at.Empty() {
		v.Part, v.at, v.Canvas = image.Rectangle{}, image.Rectangle{}, r.Size()
		return
	}
	left, right := at.Min.X-v.at.Min.X, v.at.Max.X-at.Max.X
	top, bottom := at.Min.Y-v.at.Min.Y, v.at.Max.Y-at.Max.Y
	if v.mirror {
		left, right = right, left
	}
	if v.upended {
		top, bottom = bottom, top
	}
	v.Part = image.Rect(v.Part.Min.X+left, v.Part.Min.Y+top, v.Part.Max.X-right, v.Part.Max.Y-bottom)
	v.at, v.Canvas = at.Sub(r.Min), r.Size()
}

func (v *view) flipX() {
	v.mirror = !v.mirror
	v.at.Min.X, v.at.Max.X = v.Canvas.X-v.at.Max.X, v.Canvas.X-v.at.Min.X
}

func (v *view) flipY() {
	v.upended = !v.upended
	v.at.Min.Y, v.at.Max.Y = v.Canvas.Y-v.at.Max.Y, v.Canvas.Y-v.at.Min.Y
}

// axes are the two passes of the resampling. The part must not be empty.
func (v *view) axes() (x, y resize.Axis) {
	x = resize.Axis{Filter: v.filter, In: v.window.Dx(), Out: v.size.X, From: v.Part.Min.X, To: v.Part.Max.X, Reverse: v.mirror}
	y = resize.Axis{Filter: v.filter, In: v.window.Dy(), Out: v.size.Y, From: v.Part.Min.Y, To: v.Part.Max.Y, Reverse: v.upended}
	return x, y
}

// verticalFirst reports whether this version of Pillow runs the vertical pass
// first, which torch never does. Values are rounded between the passes, so the order changes the result.
func (v *view) verticalFirst(pillow int) bool {
	if v.filter.IsTorch() {
		return false
	}
	w, h := v.window.Dx(), v.window.Dy()
	if pillow >= 13 {
		return h > v.size.Y && h-v.size.Y > 2*(w-v.size.X)
	}
	return h > 100*w && h > v.size.Y
}
