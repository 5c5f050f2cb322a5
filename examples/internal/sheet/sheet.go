// Package sheet draws contact sheets of batches, with boxes and masks.
package sheet

import (
	"bytes"
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"os"

	"golang.org/x/image/font"
	"golang.org/x/image/font/basicfont"
	"golang.org/x/image/math/fixed"
)

const gap = 6

// A Sheet is a table of cells of one size.
type Sheet struct {
	*image.RGBA
	cell image.Point
}

// New makes a sheet with cells of width×height pixels.
func New(columns, rows, width, height int) *Sheet {
	s := &Sheet{image.NewRGBA(image.Rect(0, 0, gap+columns*(width+gap), gap+rows*(height+gap))), image.Pt(width, height)}
	draw.Draw(s, s.Rect, image.NewUniform(color.Gray{24}), image.Point{}, draw.Src)
	return s
}

// at is the upper left corner of a cell.
func (s *Sheet) at(column, row int) image.Point {
	return image.Pt(gap+column*(s.cell.X+gap), gap+row*(s.cell.Y+gap))
}

// Image draws planes (3, height, width) with values from 0 to 1.
func (s *Sheet) Image(column, row int, planes []float32, width, height int) {
	at := s.at(column, row)
	for i := range width * height {
		level := func(c int) uint8 { return uint8(min(max(planes[c*width*height+i], 0), 1)*255 + 0.5) }
		s.SetRGBA(at.X+i%width, at.Y+i/width, color.RGBA{level(0), level(1), level(2), 255})
	}
}

// Mask lays the colours of class numbers over a cell. Numbers without a colour, and 0,
// stay as they are, but those of ignore become grey.
func (s *Sheet) Mask(column, row int, numbers []int64, width int, colours color.Palette, ignore int64) {
	at := s.at(column, row)
	for i, n := range numbers {
		p := at.Add(image.Pt(i%width, i/width))
		switch {
		case n == ignore:
			s.SetRGBA(p.X, p.Y, color.RGBA{70, 70, 70, 255})
		case n > 0 && n < int64(len(colours)):
			a, b := s.RGBAAt(p.X, p.Y), color.RGBAModel.Convert(colours[n]).(color.RGBA)
			s.SetRGBA(p.X, p.Y, color.RGBA{a.R/2 + b.R/2, a.G/2 + b.G/2, a.B/2 + b.B/2, 255})
		}
	}
}

// Box draws a box in XYXY with a text.
func (s *Sheet) Box(column, row int, box []float32, c color.Color, text string) {
	at := s.at(column, row)
	r := image.Rect(int(box[0]), int(box[1]), int(box[2]), int(box[3])).Add(at)
	for _, side := range []image.Rectangle{
		{r.Min, image.Pt(r.Max.X, r.Min.Y+2)}, {image.Pt(r.Min.X, r.Max.Y-2), r.Max},
		{r.Min, image.Pt(r.Min.X+2, r.Max.Y)}, {image.Pt(r.Max.X-2, r.Min.Y), r.Max},
	} {
		draw.Draw(s, side, image.NewUniform(c), image.Point{}, draw.Src)
	}
	d := font.Drawer{Dst: s, Src: image.White, Face: basicfont.Face7x13, Dot: fixed.P(r.Min.X+4, r.Min.Y+13)}
	d.DrawString(text)
}

// Save writes the sheet as a PNG file.
func (s *Sheet) Save(path string) error { return Save(path, s) }

// Save writes an image as a PNG file, at once: an interrupted program leaves no part of it.
func Save(path string, m image.Image) error {
	var file bytes.Buffer
	if err := png.Encode(&file, m); err != nil {
		return err
	}
	return os.WriteFile(path, file.Bytes(), 0o666)
}
