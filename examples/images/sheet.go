package main

import (
	"image"
	"image/color"
	"image/draw"
	"math"

	"golang.org/x/image/font"
	"golang.org/x/image/font/basicfont"
	"golang.org/x/image/math/fixed"

	sheets "github.com/penstock-go/penstock/examples/internal/sheet"
	"github.com/penstock-go/penstock/loader"
	"github.com/penstock-go/penstock/transform"
)

// drawSheet draws the images of a batch as a contact sheet, with their classes.
func drawSheet(path string, batch *loader.Batch, classes []string) error {
	const gap, caption = 8, 20
	pixels := batch.Tensor("image")
	size := pixels.Shape()[2:] // height, width
	columns := int(math.Ceil(math.Sqrt(float64(batch.Len()))))
	rows := (batch.Len() + columns - 1) / columns
	sheet := image.NewRGBA(image.Rect(0, 0, gap+columns*(size[1]+gap), gap+rows*(size[0]+gap+caption)))
	draw.Draw(sheet, sheet.Bounds(), image.NewUniform(color.Gray{24}), image.Point{}, draw.Src)

	values := loader.Values[float32](batch, "image")
	labels := loader.Values[int64](batch, "label")
	for k := range batch.Len() {
		at := image.Pt(gap+k%columns*(size[1]+gap), gap+k/columns*(size[0]+gap+caption))
		drawImage(sheet, at, values[k*3*size[0]*size[1]:], size[0], size[1])
		text := font.Drawer{Dst: sheet, Src: image.White, Face: basicfont.Face7x13,
			Dot: fixed.P(at.X+2, at.Y+size[0]+caption-5)}
		text.DrawString(classes[labels[k]])
	}
	return sheets.Save(path, sheet)
}

// drawImage undoes the normalisation of planes (3, height, width).
func drawImage(dst *image.RGBA, at image.Point, planes []float32, height, width int) {
	for y := range height {
		for x := range width {
			var c [3]uint8
			for ch := range c {
				v := planes[(ch*height+y)*width+x]*transform.ImageNetStd[ch] + transform.ImageNetMean[ch]
				c[ch] = uint8(min(max(v, 0), 1)*255 + 0.5)
			}
			dst.SetRGBA(at.X+x, at.Y+y, color.RGBA{c[0], c[1], c[2], 255})
		}
	}
}
