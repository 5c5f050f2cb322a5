// Command make paints the images in examples/images/photos: four classes of
// images in many sizes, one of them grey, and one file that ends too early. The
// same architecture always paints the same bytes.
//
//	go run ./examples/images/make [-out DIR]
package main

import (
	"bytes"
	"fmt"
	"image"
	"image/color"
	"image/jpeg"
	"math/rand/v2"
	"os"
	"path/filepath"

	"github.com/penstock-go/penstock/internal/usage"
)

// Sizes of the images of every class, in pixels. Loaders meet both
// orientations, squares, panoramas and odd numbers.
var sizes = []image.Point{
	{500, 375}, {375, 500}, {640, 480}, {320, 320}, {800, 200}, {333, 251}, {500, 333},
}

// A painter composes one image of its class, aspect times as wide as high.
type painter func(r *rand.Rand, n int, aspect float64) shader

var classes = map[string]painter{
	"hills":   hills,
	"spheres": spheres,
	"stripes": stripes,
	"tiles":   tiles,
}

func main() {
	var out string
	usage.NewFolder(&out, "out", filepath.FromSlash("examples/images/photos"), "`folder` for the class folders")
	usage.Parse("Make paints the images of the examples.")
	if err := makeAll(out); err != nil {
		usage.Fatal(err)
	}
}

func makeAll(out string) error {
	for class, paint := range classes {
		if err := os.MkdirAll(filepath.Join(out, class), 0o755); err != nil {
			return err
		}
		for n, size := range sizes {
			data, err := encode(paintImage(class, paint, n, size))
			if err != nil {
				return fmt.Errorf("%s %d: %w", class, n, err)
			}
			if err := write(out, class, fmt.Sprintf("%d.jpg", n+1), data); err != nil {
				return err
			}
		}
	}
	small := image.Pt(400, 300)
	data, err := encode(gray(paintImage("hills", hills, 7, small)))
	if err != nil {
		return err
	}
	if err := write(out, "hills", "gray.jpg", data); err != nil {
		return err
	}
	data, err = encode(paintImage("tiles", tiles, 7, small))
	if err != nil {
		return err
	}
	return write(out, "tiles", "truncated.jpg", data[:len(data)*2/5])
}

// paintImage paints image n of a class.
func paintImage(class string, paint painter, n int, size image.Point) *image.RGBA {
	seed := [2]uint64{uint64(n) + 1}
	for _, c := range class {
		seed[1] = seed[1]*131 + uint64(c)
	}
	r := rand.New(rand.NewPCG(seed[0], seed[1]))
	return render(size, paint(r, n, float64(size.X)/float64(size.Y)))
}

func gray(m *image.RGBA) *image.Gray {
	g := image.NewGray(m.Bounds())
	for y := range g.Rect.Dy() {
		for x := range g.Rect.Dx() {
			g.Set(x, y, color.GrayModel.Convert(m.At(x, y)))
		}
	}
	return g
}

func encode(m image.Image) ([]byte, error) {
	var b bytes.Buffer
	err := jpeg.Encode(&b, m, &jpeg.Options{Quality: 82})
	return b.Bytes(), err
}

func write(out, class, name string, data []byte) error {
	return os.WriteFile(filepath.Join(out, class, name), data, 0o644)
}
