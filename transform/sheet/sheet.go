// Package sheet draws the images of a batch on one picture, with their classes, boxes and masks, to see what a
// pipeline makes of its images. It does what make_grid, draw_bounding_boxes and draw_segmentation_masks of
// torchvision.utils do.
//
//	s := sheet.New(6, 4, 224, 224)
//	s.Mean, s.Std = transform.ImageNetMean, transform.ImageNetStd
//	for k := range batch.Len() {
//		s.Image(k, images[k*3*224*224:], 224, 224)
//		s.Caption(k, classes[labels[k]])
//	}
//	err := s.Save("batch.png")
package sheet

import (
	"bytes"
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"math"
	"os"

	"golang.org/x/image/font"
	"golang.org/x/image/font/basicfont"
	"golang.org/x/image/math/fixed"
)

const gap = 6 // between cells, in pixels

// A Sheet is a picture with rows of cells of one size. Cell 0 is the first one of the first row.
type Sheet struct {
	// Mean and Std are what transform.Normalize has subtracted and divided by, of each channel: Image undoes it.
	// Without them, values are from 0 to 1.
	Mean, Std []float32

	picture *image.RGBA
	columns int
	cell    image.Point
}

// New makes a sheet with dark cells of width×height pixels.
func New(columns, rows, width, height int) *Sheet {
	bounds := image.Rect(0, 0, gap+columns*(width+gap), gap+rows*(height+gap))
	s := &Sheet{picture: image.NewRGBA(bounds), columns: columns, cell: image.Pt(width, height)}
	draw.Draw(s.picture, bounds, image.NewUniform(color.Gray{24}), image.Point{}, draw.Src)
	return s
}

// at is the part of the sheet that is cell k.
func (s *Sheet) at(k int) *image.RGBA {
	corner := image.Pt(gap+k%s.columns*(s.cell.X+gap), gap+k/s.columns*(s.cell.Y+gap))
	part := s.picture.SubImage(image.Rectangle{Max: s.cell}.Add(corner)).(*image.RGBA)
	part.Rect = part.Rect.Sub(part.Rect.Min)
	return part
}

// Image draws an image of planes (3, height, width), as transform.ToTensor makes them, into the upper left of cell k.
func (s *Sheet) Image(k int, planes []float32, width, height int) {
	cell, pixels := s.at(k), width*height
	for i := range pixels {
		var c [3]uint8
		for ch := range c {
			v := planes[ch*pixels+i]
			if s.Std != nil {
				v = v*s.Std[ch] + s.Mean[ch]
			}
			c[ch] = uint8(min(max(v, 0), 1)*255 + 0.5)
		}
		cell.SetRGBA(i%width, i/width, color.RGBA{c[0], c[1], c[2], 255})
	}
}

// Mask lays the colours of classes over cell k, with a class number per pixel and width of them in a row. An object's
// left and upper edges have its full colour. Class 0, the background, stays as it is.
func (s *Sheet) Mask(k int, classes []int64, width int) {
	cell := s.at(k)
	for i, class := range classes {
		if class == 0 {
			continue
		}
		x, y := i%width, i/width
		ink, under := Colour(int(class)), cell.RGBAAt(x, y)
		edge := x == 0 || classes[i-1] != class || i >= width && classes[i-width] != class
		if !edge {
			ink = color.RGBA{under.R/2 + ink.R/2, under.G/2 + ink.G/2, under.B/2 + ink.B/2, 255}
		}
		cell.SetRGBA(x, y, ink)
	}
}

// Box draws a box into cell k, in the colour of its class: left, top, right and bottom in pixels of the cell. A text
// that is not empty stands in its upper left corner.
func (s *Sheet) Box(k int, xyxy []float32, class int, text string) {
	cell := s.at(k)
	r := image.Rect(int(xyxy[0]), int(xyxy[1]), int(xyxy[2]), int(xyxy[3]))
	for _, side := range []image.Rectangle{
		{r.Min, image.Pt(r.Max.X, r.Min.Y+2)}, {image.Pt(r.Min.X, r.Max.Y-2), r.Max},
		{r.Min, image.Pt(r.Min.X+2, r.Max.Y)}, {image.Pt(r.Max.X-2, r.Min.Y), r.Max},
	} {
		draw.Draw(cell, side, image.NewUniform(Colour(class)), image.Point{}, draw.Src)
	}
	chip(cell, r.Min, text, Colour(class))
}

// Caption writes a text on the lower edge of cell k.
func (s *Sheet) Caption(k int, text string) {
	chip(s.at(k), image.Pt(0, s.cell.Y-15), text, color.RGBA{24, 24, 24, 255})
}

// chip writes a text on a filled ground.
func chip(on *image.RGBA, at image.Point, text string, ground color.RGBA) {
	if text == "" {
		return
	}
	write := font.Drawer{Dst: on, Src: image.White, Face: basicfont.Face7x13, Dot: fixed.P(at.X+3, at.Y+12)}
	if 299*int(ground.R)+587*int(ground.G)+114*int(ground.B) > 140_000 { // its luma, in thousandths
		write.Src = image.Black
	}
	r := image.Rectangle{at, at.Add(image.Pt(write.MeasureString(text).Ceil()+6, 15))}
	draw.Draw(on, r, image.NewUniform(ground), image.Point{}, draw.Src)
	write.DrawString(text)
}

// Colour is the colour of a class. Classes that follow each other have colours that are easy to tell apart: their hues
// are the golden angle apart.
func Colour(class int) color.RGBA {
	level := func(shift float64) uint8 {
		hue := math.Mod(float64(class)*0.618034+shift, 1)
		return uint8(255 * min(max(math.Abs(6*hue-3)-1, 0.15), 0.9))
	}
	return color.RGBA{level(0), level(2. / 3), level(1. / 3), 255}
}

// Picture is the sheet as an image. What is drawn later changes it.
func (s *Sheet) Picture() *image.RGBA { return s.picture }

// Save writes the sheet as a PNG file.
func (s *Sheet) Save(path string) error {
	var file bytes.Buffer // so that a picture that cannot be encoded leaves no part of a file
	if err := png.Encode(&file, s.picture); err != nil {
		return fmt.Errorf("sheet: %w", err)
	}
	if err := os.WriteFile(path, file.Bytes(), 0o666); err != nil {
		return fmt.Errorf("sheet: %w", err)
	}
	return nil
}
