package raster

import (
	"math"
	"math/rand/v2"

	"github.com/penstock-go/penstock/internal/resize"
)

// A Field is the vectors of ElasticTransform, in pixels.
type Field struct {
	X, Y []float32
	soft softener
}

// Draw draws vectors for an image of w×h, and smooths them with a Gaussian.
func (f *Field) Draw(w, h int, alpha, sigma float64, r *rand.Rand) {
	n := 1
	if sigma > 0 {
		n += int(8*sigma+1) / 2 * 2
		f.soft.prepare(n, n, sigma)
	}
	for _, v := range []*[]float32{&f.X, &f.Y} {
		*v = GrowFloats(*v, w*h)
		for i := range *v {
			(*v)[i] = float32(2*r.Float64() - 1)
		}
		if n > 1 {
			f.soft.blur(*v, w, h)
		}
		for i := range *v {
			(*v)[i] = float32((*v)[i] * float32(alpha/2)) // torchvision's unit is half of the side
		}
	}
}

// Paint makes dst what the vectors show of src, which has the same size.
func (f *Field) Paint(dst, src *Image, p Painter) {
	w, h := src.Width, src.Height
	for y := range h {
		row := dst.Pix[4*w*y:][:4*w]
		FillRow(row, p.Fill.Colour)
		for x := range w {
			u, v := float64(x)+float64(f.X[w*y+x]), float64(y)+float64(f.Y[w*y+x])
			out := row[4*x : 4*x+4 : 4*x+4]
			if !near(u, w, p.Filter) || !near(v, h, p.Filter) {
				continue
			}
			if p.Filter == resize.Nearest {
				i, j := int(math.RoundToEven(u)), int(math.RoundToEven(v))
				if i >= 0 && i < w && j >= 0 && j < h {
					copy(out, src.Pix[4*(j*w+i):][:4])
				}
				continue
			}
			src.blended(out, u, v, p)
		}
	}
}

// blended writes the colour at (u, v), where whole numbers are the centres of pixels. As in torchvision, pixels
// outside the image are black, and then the fill is blended in by how much of them there is.
func (m *Image) blended(out []uint8, u, v float64, p Painter) {
	across, down := reachOf(u, p.Filter), reachOf(v, p.Filter)
	inside := 0.0
	var sum [3]float64
	for j, ky := range down.weights[:down.n] {
		for i, kx := range across.weights[:across.n] {
			px, py := across.first+i, down.first+j
			if px < 0 || px >= m.Width || py < 0 || py >= m.Height {
				continue
			}
			weight := float64(kx * ky)
			inside += weight
			pixel := m.Pix[4*(py*m.Width+px):][:3]
			for c := range sum {
				sum[c] += float64(weight * float64(pixel[c]))
			}
		}
	}
	for c, s := range sum {
		back := float64(p.Fill.Colour[c])
		out[c] = uint8(math.RoundToEven(min(max(float64(inside*(s-back))+back, 0), 255)))
	}
}

// near reports whether the filter reads pixels of a side of n at a place.
func near(at float64, n int, f resize.Filter) bool {
	reach := 1.0
	if f == resize.Bicubic {
		reach = 2
	}
	return at > -reach && at < float64(n-1)+reach
}

// A reach is the weights of the pixels that Bilinear or Bicubic reads along one side, from the first on.
type reach struct {
	weights  [4]float64
	first, n int
}

func reachOf(at float64, f resize.Filter) reach {
	first := int(math.Floor(at))
	d := at - float64(first)
	if f == resize.Bicubic {
		return reach{cubicWeights(d), first - 1, 4}
	}
	return reach{[4]float64{1 - d, d}, first, 2}
}

// single has the weights of Bilinear in float32.
func (r reach) single() reach {
	if r.n == 2 {
		d := float32(r.weights[1])
		r.weights = [4]float64{float64(1 - d), float64(d)}
	}
	return r
}

// cubicWeights are those of the four pixels around a place that is d after the second one, by Keys'
// cubic convolution with a = -0.75, as in torch's grid_sample.
func cubicWeights(d float64) [4]float64 {
	const a = -0.75
	inner := func(x float64) float64 { return float64(float64(float64(float64((a+2)*x)-(a+3))*x)*x) + 1 }
	outer := func(x float64) float64 {
		return float64(float64(float64(float64(float64(a*x)-5*a)*x)+8*a)*x) - 4*a
	}
	return [4]float64{outer(1 + d), inner(d), inner(1 - d), outer(2 - d)}
}

func (m *Bytes) Displace(f *Field, p Painter) {
	m.Spare.Resize(m.Width, m.Height)
	f.Paint(&m.Spare, &m.Image, p)
	m.Swap()
}

func (m *Floats) Displace(f *Field, p Painter) {
	w, h := m.Width, m.Height
	m.makeSpare(w, h)
	for y := range h {
		for x := range w {
			i := w*y + x
			m.paint(i, float64(x)+float64(f.X[i]), float64(y)+float64(f.Y[i]), p)
		}
	}
	m.settleSpare(p.Filter)
	m.Swap()
}
