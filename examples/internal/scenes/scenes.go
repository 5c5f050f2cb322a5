// Package scenes paints images of discs, squares and triangles, with their boxes and
// masks, so that examples of detection and segmentation need no download.
package scenes

import (
	"bytes"
	"context"
	"image"
	"image/color"
	"image/jpeg"
	"image/png"
	"math"
	"math/rand/v2"

	"github.com/penstock-go/penstock/dataset"
)

// Classes are the names of the class numbers. 0 is the background.
var Classes = []string{"background", "disc", "square", "triangle"}

// A scene is an encoded image and what is in it.
type scene struct {
	photo, mask []byte    // JPEG, and PNG with a palette
	boxes       []float32 // left, top, right, bottom of each object
	labels      []int64
}

// New paints n images of different sizes. The fields of a sample are "image" (a JPEG
// file), "mask" (a PNG file with a class number per pixel), "boxes" (XYXY) and "label"
// (a class number per box).
func New(n int) (dataset.Dataset, error) {
	all := make([]scene, n)
	for i := range all {
		var err error
		if all[i], err = paint(rand.New(rand.NewPCG(uint64(i), 17))); err != nil {
			return nil, err
		}
	}
	spec := dataset.Spec{
		{Name: "image", Dtype: dataset.Uint8, Ragged: true, Kind: dataset.Image},
		{Name: "mask", Dtype: dataset.Uint8, Ragged: true, Kind: dataset.Mask},
		{Name: "boxes", Dtype: dataset.Float32, Shape: dataset.Shape{4}, Ragged: true, Kind: dataset.BoxesXYXY},
		{Name: "label", Dtype: dataset.Int64, Ragged: true, Of: "boxes"},
	}
	return dataset.Func(n, spec, func(_ context.Context, i int, dst dataset.Slot) error {
		s := &all[i]
		copy(dataset.Grow[uint8](dst, 0, len(s.photo)), s.photo)
		copy(dataset.Grow[uint8](dst, 1, len(s.mask)), s.mask)
		copy(dataset.Grow[float32](dst, 2, len(s.labels)), s.boxes)
		copy(dataset.Grow[int64](dst, 3, len(s.labels)), s.labels)
		return nil
	}), nil
}

// Palette has a colour per class.
var Palette = color.Palette{color.Black, color.RGBA{230, 60, 60, 255}, color.RGBA{60, 200, 90, 255}, color.RGBA{70, 110, 240, 255}}

func paint(r *rand.Rand) (scene, error) {
	w, h := 200+r.IntN(160), 160+r.IntN(120)
	photo, mask := image.NewRGBA(image.Rect(0, 0, w, h)), image.NewPaletted(image.Rect(0, 0, w, h), Palette)
	base := [3]float64{90 + 100*r.Float64(), 90 + 100*r.Float64(), 90 + 100*r.Float64()}
	slope := 60 * (r.Float64() - 0.5)
	for y := range h {
		for x := range w {
			shade := slope*(float64(x)/float64(w)-0.5) + 14*r.Float64()
			photo.SetRGBA(x, y, color.RGBA{level(base[0] + shade), level(base[1] + shade), level(base[2] - shade), 255})
		}
	}
	var s scene
	for range 1 + r.IntN(4) {
		class := 1 + r.IntN(3)
		radius := 18 + 38*r.Float64()
		cx, cy := radius+(float64(w)-2*radius)*r.Float64(), radius+(float64(h)-2*radius)*r.Float64()
		ink := color.RGBA{uint8(r.IntN(256)), uint8(r.IntN(256)), uint8(r.IntN(256)), 255}
		box := image.Rectangle{}
		for y := int(cy - radius); y <= int(cy+radius); y++ {
			for x := int(cx - radius); x <= int(cx+radius); x++ {
				if inside(class, (float64(x)+0.5-cx)/radius, (float64(y)+0.5-cy)/radius) && image.Pt(x, y).In(photo.Rect) {
					photo.SetRGBA(x, y, ink)
					mask.SetColorIndex(x, y, uint8(class))
					box = box.Union(image.Rect(x, y, x+1, y+1))
				}
			}
		}
		s.boxes = append(s.boxes, float32(box.Min.X), float32(box.Min.Y), float32(box.Max.X), float32(box.Max.Y))
		s.labels = append(s.labels, int64(class))
	}
	var a, b bytes.Buffer
	if err := jpeg.Encode(&a, photo, &jpeg.Options{Quality: 90}); err != nil {
		return s, err
	}
	err := png.Encode(&b, mask)
	s.photo, s.mask = a.Bytes(), b.Bytes()
	return s, err
}

func level(v float64) uint8 { return uint8(min(max(v, 0), 255)) }

// inside reports whether a point is in the shape of a class with radius 1.
func inside(class int, x, y float64) bool {
	switch class {
	case 1:
		return math.Hypot(x, y) < 1
	case 2:
		return max(math.Abs(x), math.Abs(y)) < 0.8
	}
	return y < 0.8 && math.Abs(x) < 0.55*(y+1)
}
