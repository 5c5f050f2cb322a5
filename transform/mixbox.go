package transform

import (
	"math"

	"github.com/penstock-go/penstock/dataset"
)

// A cutBox is the part of images that CutMix replaces: columns x1 to x2-1 and lines
// y1 to y2-1.
type cutBox struct{ x1, y1, x2, y2 int }

// drawBox draws the box of CutMix for images of that width and height. intN draws a
// number from 0 to n-1.
func drawBox(lambda float64, w, h int, intN func(n int) int) cutBox {
	x, y := intN(w), intN(h)
	r := 0.5 * math.Sqrt(1-lambda)
	rw, rh := int(r*float64(w)), int(r*float64(h))
	return cutBox{max(x-rw, 0), max(y-rh, 0), min(x+rw, w), min(y+rh, h)}
}

// kept is the share of the image's area outside the box.
func (b cutBox) kept(w, h int) float64 {
	return 1 - float64((b.x2-b.x1)*(b.y2-b.y1))/float64(w*h)
}

// A grid is where the pixels of an image are.
type grid struct {
	planes, h, w int
	pixel        int // bytes of a pixel in one plane
}

// gridOf finds height and width in the shape of images, which has two dimensions at
// least.
func gridOf(f dataset.Field) grid {
	g, d := grid{planes: 1, pixel: f.Dtype.Size()}, len(f.Shape)
	if d == 3 && f.Shape[2] <= 4 && f.Shape[0] > 4 {
		g.h, g.w, g.pixel = f.Shape[0], f.Shape[1], g.pixel*f.Shape[2]
		return g
	}
	g.h, g.w = f.Shape[d-2], f.Shape[d-1]
	for _, n := range f.Shape[:d-2] {
		g.planes *= n
	}
	return g
}

// exchange replaces the box of every image of n by that of the one before it. Before
// the first image comes the last one.
func (g grid) exchange(images []byte, n int, b cutBox) {
	var piece [4096]byte
	size, line := g.planes*g.h*g.w*g.pixel, g.w*g.pixel
	for plane := range g.planes {
		for y := b.y1; y < b.y2; y++ {
			begin := (plane*g.h + y) * line
			for from, end := begin+b.x1*g.pixel, begin+b.x2*g.pixel; from < end; from += len(piece) {
				to := min(from+len(piece), end)
				last := piece[:copy(piece[:], images[(n-1)*size+from:(n-1)*size+to])]
				for k := n - 1; k > 0; k-- {
					copy(images[k*size+from:k*size+to], images[(k-1)*size+from:])
				}
				copy(images[from:to], last)
			}
		}
	}
}
