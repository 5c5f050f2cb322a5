package transform

import (
	"errors"
	"math"
	"math/rand/v2"

	"github.com/penstock-go/penstock/internal/steps"
)

// ElasticTransform moves every pixel by a random vector that changes smoothly over the image:
// torchvision's ElasticTransform, whose defaults are ElasticTransform(50, 5). Alpha is the
// strength, and sigma the standard deviation in pixels of the Gaussian that smooths the
// vectors; with 0 they are not smoothed. The result is within one level of torchvision's for the
// same vectors, which is the same for PIL images and tensors.
//
// Masks take the nearest pixels. Boxes and keypoints move by the vectors of single pixels,
// as in torchvision. A keypoint takes the vector of the pixel that it is in, and loses its
// fraction. A box takes the vectors of its corners, rounded up.
func ElasticTransform(alpha, sigma float64) Elastic { return Elastic{alpha: alpha, sigma: sigma} }

// Elastic is the step that [ElasticTransform] makes.
type Elastic struct {
	alpha, sigma float64
	painter      painter
}

// Filter sets the filter: [Nearest], [Bilinear] or [Bicubic]. The default is Bilinear, as in
// torchvision. Values that Bicubic makes above white or below black become white and black; in
// torchvision those of integers start again at the other end.
func (s Elastic) Filter(f Filter) Elastic {
	s.painter.filter = f
	return s
}

// Fill sets the colour of what is outside the image. The default is black.
func (s Elastic) Fill(r, g, b uint8) Elastic {
	s.painter.fill = [3]uint8{r, g, b}
	return s
}

// String prints the call that made the step.
func (s Elastic) String() string {
	return steps.Call("ElasticTransform", s.alpha, s.sigma) + s.painter.options(Bilinear)
}

func (s Elastic) add(p *program) error {
	switch {
	case !(math.Abs(s.alpha) <= maxSide):
		return errors.New("want a finite alpha, up to 2^20")
	case !(s.sigma >= 0 && s.sigma <= maxSmooth):
		return errors.New("want a sigma from 0 to 100")
	}
	if err := s.painter.check(); err != nil {
		return err
	}
	return p.warpBy(s, displacing{editing{s}})
}

// displacing is the operation of ElasticTransform.
type displacing struct{ editing }

func (s displacing) do(e *engine, r *rand.Rand) error {
	if err := s.editing.do(e, r); err != nil {
		return err
	}
	return e.annotations.displace(&e.scratch.field)
}

// maxSmooth bounds the work per pixel.
const maxSmooth = 100

func (s Elastic) edit(img *Image, r *rand.Rand, mem *scratch) error {
	f := &mem.field
	f.draw(img.Width, img.Height, s.alpha, s.sigma, r)
	mem.spare.resize(img.Width, img.Height)
	f.paint(&mem.spare, img, s.painter)
	*img, mem.spare = mem.spare, *img
	return nil
}

// editDeep is edit for images of Depth16.
func (s Elastic) editDeep(e *engine, m *Planes, r *rand.Rand) error {
	f := &e.scratch.field
	f.draw(m.Width, m.Height, s.alpha, s.sigma, r)
	e.deep.displace(e, f, s.painter.filter)
	return nil
}

// A field is the vectors of ElasticTransform, in pixels.
type field struct {
	x, y   []float32
	pass   []float32
	kernel []float32
}

// draw draws vectors for an image of w×h.
func (f *field) draw(w, h int, alpha, sigma float64, r *rand.Rand) {
	f.smooth(sigma)
	for _, v := range []*[]float32{&f.x, &f.y} {
		if cap(*v) < w*h {
			*v = make([]float32, w*h)
		}
		*v = (*v)[:w*h]
		for i := range *v {
			(*v)[i] = float32(2*r.Float64() - 1)
		}
		f.blur(*v, w, h)
		for i := range *v {
			(*v)[i] = float32((*v)[i] * float32(alpha/2)) // torchvision's unit is half of the side
		}
	}
}

// smooth makes the kernel: its middle, and what follows.
func (f *field) smooth(sigma float64) {
	f.kernel = append(f.kernel[:0], 1)
	if sigma == 0 {
		return
	}
	n := int(8*sigma+1) / 2
	sum := 1.0
	for i := 1; i <= n; i++ {
		v := math.Exp(-float64(i*i) / (2 * sigma * sigma))
		f.kernel = append(f.kernel, float32(v))
		sum += 2 * v
	}
	for i := range f.kernel {
		f.kernel[i] /= float32(sum)
	}
}

// blur smooths values with both passes of the kernel, which are reflected at the edges.
func (f *field) blur(v []float32, w, h int) {
	if len(f.kernel) == 1 {
		return
	}
	if cap(f.pass) < w*h {
		f.pass = make([]float32, w*h)
	}
	pass := f.pass[:w*h]
	for y := range h {
		row := pass[w*y:][:w]
		clear(row)
		for i, k := range f.kernel {
			above, below := v[w*Reflect.index(y-i, h):][:w], v[w*Reflect.index(y+i, h):][:w]
			if i == 0 {
				k /= 2 // the middle is added twice
			}
			for x := range row {
				row[x] += float32(k * (above[x] + below[x]))
			}
		}
	}
	n := len(f.kernel) - 1
	for y := range h {
		row, out := pass[w*y:][:w], v[w*y:][:w]
		for x := range out {
			sum := float32(f.kernel[0] * row[x])
			if x >= n && x+n < w {
				for i := 1; i <= n; i++ {
					sum += float32(f.kernel[i] * (row[x-i] + row[x+i]))
				}
			} else {
				for i := 1; i <= n; i++ {
					sum += float32(f.kernel[i] * (row[Reflect.index(x-i, w)] + row[Reflect.index(x+i, w)]))
				}
			}
			out[x] = sum
		}
	}
}

// paint makes dst what the vectors show of src, which has the same size.
func (f *field) paint(dst, src *Image, p painter) {
	w, h := src.Width, src.Height
	for y := range h {
		row := dst.Pix[4*w*y:][:4*w]
		fillRow(row, p.fill)
		for x := range w {
			u, v := float64(x)+float64(f.x[w*y+x]), float64(y)+float64(f.y[w*y+x])
			out := row[4*x : 4*x+4 : 4*x+4]
			if !near(u, w, p.filter) || !near(v, h, p.filter) {
				continue
			}
			if p.filter == Nearest {
				i, j := int(math.RoundToEven(u)), int(math.RoundToEven(v))
				if i >= 0 && i < w && j >= 0 && j < h {
					copy(out, src.Pix[4*(j*w+i):][:4])
				}
				continue
			}
			if p.filter == Bicubic {
				src.blendedCubic(out, u, v, p.fill)
			} else {
				src.blended(out, u, v, p.fill)
			}
		}
	}
}

// blended writes the colour at (u, v), where whole numbers are the centres of pixels. As in
// torchvision, pixels outside the image are black, and then the fill is blended in by how much of
// them there is.
func (m *Image) blended(out []uint8, u, v float64, fill [3]uint8) {
	x, y := int(math.Floor(u)), int(math.Floor(v))
	dx, dy := u-float64(x), v-float64(y)
	inside := 0.0
	var sum [3]float64
	for i, weight := range [4]float64{(1 - dx) * (1 - dy), dx * (1 - dy), (1 - dx) * dy, dx * dy} {
		px, py := x+i&1, y+i>>1
		if px < 0 || px >= m.Width || py < 0 || py >= m.Height {
			continue
		}
		inside += weight
		p := m.Pix[4*(py*m.Width+px):][:3]
		for c := range sum {
			sum[c] += float64(weight * float64(p[c]))
		}
	}
	for c, s := range sum {
		back := float64(fill[c])
		out[c] = uint8(math.RoundToEven(float64(inside*(s-back)) + back))
	}
}

// near reports whether the filter reads pixels of a side of n at a place.
func near(at float64, n int, f Filter) bool {
	reach := 1.0
	if f == Bicubic {
		reach = 2
	}
	return at > -reach && at < float64(n-1)+reach
}

// blendedCubic is blended with the 16 nearest pixels.
func (m *Image) blendedCubic(out []uint8, u, v float64, fill [3]uint8) {
	x, y := int(math.Floor(u)), int(math.Floor(v))
	across, down := cubicWeights(u-float64(x)), cubicWeights(v-float64(y))
	inside := 0.0
	var sum [3]float64
	for j, ky := range down {
		for i, kx := range across {
			px, py := x-1+i, y-1+j
			if px < 0 || px >= m.Width || py < 0 || py >= m.Height {
				continue
			}
			weight := float64(kx * ky)
			inside += weight
			p := m.Pix[4*(py*m.Width+px):][:3]
			for c := range sum {
				sum[c] += float64(weight * float64(p[c]))
			}
		}
	}
	for c, s := range sum {
		back := float64(fill[c])
		out[c] = uint8(math.RoundToEven(min(max(float64(inside*(s-back))+back, 0), 255)))
	}
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
