package raster

import (
	"encoding/binary"
	"math"

	"github.com/penstock-go/penstock/internal/resize"
)

// A Mapping says which point of the input a point of the output shows:
//
//	x' = (m[0]·x + m[1]·y + m[2]) / (m[6]·x + m[7]·y + 1)
//	y' = (m[3]·x + m[4]·y + m[5]) / (m[6]·x + m[7]·y + 1)
//
// The centres of pixels have halves as coordinates. It is affine where m[6] and m[7]
// are 0. These are the data of PIL's Image.transform.
type Mapping [8]float64

func (m *Mapping) isAffine() bool { return m[6] == 0 && m[7] == 0 }

func (m *Mapping) of(x, y float64) (float64, float64) {
	u := float64(m[0]*x) + float64(m[1]*y) + m[2]
	v := float64(m[3]*x) + float64(m[4]*y) + m[5]
	if m.isAffine() {
		return u, v
	}
	d := float64(m[6]*x) + float64(m[7]*y) + 1
	return u / d, v / d
}

// Warp makes dst what m shows of src, in the size that dst has. The results are those of
// PIL's Image.transform, bit for bit.
func Warp(dst, src *Image, m *Mapping, p Painter) {
	switch {
	case m.movesWholePixels(), p.Filter == resize.Nearest && m.isAffine():
		warpNearest(dst, src, m, p.Fill.Colour)
		return
	case p.Filter == resize.Bilinear && m.isAffine():
		warpBilinear(dst, src, m, p.Fill.Colour)
		return
	}
	w, h := float64(src.Width), float64(src.Height)
	for y := range dst.Height {
		row := dst.Pix[4*y*dst.Width:][:4*dst.Width]
		FillRow(row, p.Fill.Colour)
		for x := range dst.Width {
			u, v := m.of(float64(x)+0.5, float64(y)+0.5)
			if !(u >= 0 && u < w && v >= 0 && v < h) {
				continue
			}
			out := row[4*x : 4*x+4 : 4*x+4]
			switch p.Filter {
			case resize.Nearest:
				copy(out, src.Pix[4*(int(v)*src.Width+int(u)):][:4])
			case resize.Bilinear:
				src.bilinear(out, u-0.5, v-0.5)
			default:
				src.bicubic(out, u-0.5, v-0.5)
			}
		}
	}
}

// maxMove is the limit of moves by whole pixels, so that they fit into fixed point.
const maxMove = 1 << 20

// movesWholePixels reports whether no filter interpolates anything. Then all give the same.
func (m *Mapping) movesWholePixels() bool {
	return m.isAffine() && m[0] == 1 && m[1] == 0 && m[3] == 0 && m[4] == 1 &&
		m[2] == math.Trunc(m[2]) && m[5] == math.Trunc(m[5]) && math.Abs(m[2]) <= maxMove && math.Abs(m[5]) <= maxMove
}

// warpBilinear is warp for affine mappings. Most points have four neighbours within the image.
func warpBilinear(dst, src *Image, m *Mapping, fill [3]uint8) {
	w, h := float64(src.Width), float64(src.Height)
	stride := 4 * src.Width
	for y := range dst.Height {
		row := dst.Pix[4*y*dst.Width:][:4*dst.Width]
		FillRow(row, fill)
		uy, vy := float64(m[1]*(float64(y)+0.5)), float64(m[4]*(float64(y)+0.5))
		for x := range dst.Width {
			u := float64(m[0]*(float64(x)+0.5)) + uy + m[2]
			v := float64(m[3]*(float64(x)+0.5)) + vy + m[5]
			if !(u >= 0 && u < w && v >= 0 && v < h) {
				continue
			}
			out := row[4*x : 4*x+4 : 4*x+4]
			u, v = u-0.5, v-0.5
			if !(u >= 0 && u < w-1 && v >= 0 && v < h-1) {
				src.bilinear(out, u, v)
				continue
			}
			i, j := int(u), int(v)
			dx, dy := u-float64(i), v-float64(j)
			at := stride*j + 4*i
			upper, lower := src.Pix[at:at+8:at+8], src.Pix[at+stride:at+stride+8:at+stride+8]
			for c := range 3 {
				a := mix(float64(upper[c]), float64(upper[4+c]), dx)
				b := mix(float64(lower[c]), float64(lower[4+c]), dx)
				out[c] = uint8(mix(a, b, dy))
			}
		}
	}
}

// warpNearest is warp for nearest pixels. Pillow has three ways to do it, with different rounding: if only scales
// change, if coordinates fit into fixed point with 16 digits after the point, and otherwise.
func warpNearest(dst, src *Image, m *Mapping, fill [3]uint8) {
	if m[1] == 0 && m[3] == 0 {
		scaleNearest(dst, src, m, fill)
		return
	}
	if m.fits(dst.Width, dst.Height) {
		fixedNearest(dst, src, m, fill)
		return
	}
	x0 := m[2] + float64(m[1]*0.5) + float64(m[0]*0.5)
	y0 := m[5] + float64(m[4]*0.5) + float64(m[3]*0.5)
	w, h := float64(src.Width), float64(src.Height)
	for y := range dst.Height {
		row := dst.Pix[4*y*dst.Width:][:4*dst.Width]
		FillRow(row, fill)
		u, v := x0, y0
		for x := 0; x < len(row); x += 4 {
			if u >= 0 && u < w && v >= 0 && v < h {
				copy(row[x:x+4], src.Pix[4*(int(v)*src.Width+int(u)):][:4])
			}
			u += m[0]
			v += m[3]
		}
		x0 += m[1]
		y0 += m[4]
	}
}

// scaleNearest adds up coordinates, so errors of rounding add up too.
func scaleNearest(dst, src *Image, m *Mapping, fill [3]uint8) {
	w, h := float64(src.Width), float64(src.Height)
	v := m[5] + float64(m[4]*0.5)
	for y := range dst.Height {
		row := dst.Pix[4*y*dst.Width:][:4*dst.Width]
		FillRow(row, fill)
		if v >= 0 && v < h {
			from := src.Pix[4*int(v)*src.Width:][:4*src.Width]
			u := m[2] + float64(m[0]*0.5)
			for x := 0; x < len(row); x += 4 {
				if u >= 0 && u < w {
					copy(row[x:x+4], from[4*int(u):])
				}
				u += m[0]
			}
		}
		v += m[4]
	}
}

// fits reports whether the corners of an output of w×h fit into fixed point.
func (m *Mapping) fits(w, h int) bool {
	for _, x := range [2]float64{0, float64(w)} {
		for _, y := range [2]float64{0, float64(h)} {
			u := float64(x*m[0]) + float64(y*m[1]) + m[2]
			v := float64(x*m[3]) + float64(y*m[4]) + m[5]
			if !(math.Abs(u) < 32768 && math.Abs(v) < 32768) {
				return false
			}
		}
	}
	return true
}

// fixed is v in fixed point with 16 digits after the point.
func fixed(v float64) int32 { return int32(int64(math.Floor(float64(v*65536) + 0.5))) }

func fixedNearest(dst, src *Image, m *Mapping, fill [3]uint8) {
	right, down := [2]int32{fixed(m[0]), fixed(m[3])}, [2]int32{fixed(m[1]), fixed(m[4])}
	x0 := fixed(m[2] + float64(m[0]*0.5) + float64(m[1]*0.5))
	y0 := fixed(m[5] + float64(m[3]*0.5) + float64(m[4]*0.5))
	w, h := uint32(src.Width), uint32(src.Height)
	for y := range dst.Height {
		row := dst.Pix[4*y*dst.Width:][:4*dst.Width]
		FillRow(row, fill)
		u, v := x0, y0
		for x := 0; x+4 <= len(row); x += 4 {
			if i, j := uint32(u>>16), uint32(v>>16); i < w && j < h {
				binary.LittleEndian.PutUint32(row[x:], binary.LittleEndian.Uint32(src.Pix[4*(int(j)*src.Width+int(i)):]))
			}
			u += right[0]
			v += right[1]
		}
		x0 += down[0]
		y0 += down[1]
	}
}

// neighbours are the bytes of up to four pixels in a row, from column x on. Columns beyond
// the image are those at its edge.
func (m *Image) neighbours(at *[4]int, x, n int) {
	for i := range n {
		at[i] = 4 * min(max(x+i, 0), m.Width-1)
	}
}

// rowAt is row y, or the row at the edge.
func (m *Image) rowAt(y int) []uint8 {
	y = min(max(y, 0), m.Height-1)
	return m.Pix[4*y*m.Width:][:4*m.Width]
}

// bilinear writes the colour at (u, v), where whole numbers are the centres of pixels. Results are rounded down.
func (m *Image) bilinear(out []uint8, u, v float64) {
	x, y := int(math.Floor(u)), int(math.Floor(v))
	dx, dy := u-float64(x), v-float64(y)
	var at [4]int
	m.neighbours(&at, x, 2)
	upper, lower := m.rowAt(y), m.rowAt(y+1)
	for c := range 3 {
		a := mix(float64(upper[at[0]+c]), float64(upper[at[1]+c]), dx)
		b := mix(float64(lower[at[0]+c]), float64(lower[at[1]+c]), dx)
		out[c] = uint8(mix(a, b, dy))
	}
}

func mix(a, b, d float64) float64 { return a + float64((b-a)*d) }

// bicubic is bilinear with the 16 nearest pixels.
func (m *Image) bicubic(out []uint8, u, v float64) {
	x, y := int(math.Floor(u)), int(math.Floor(v))
	dx, dy := u-float64(x), v-float64(y)
	var at [4]int
	m.neighbours(&at, x-1, 4)
	var rows [4][]uint8
	for i := range rows {
		rows[i] = m.rowAt(y - 1 + i)
	}
	for c := range 3 {
		var k [4]float64
		for i, row := range rows {
			k[i] = cubic(float64(row[at[0]+c]), float64(row[at[1]+c]), float64(row[at[2]+c]), float64(row[at[3]+c]), dx)
		}
		out[c] = uint8(min(max(cubic(k[0], k[1], k[2], k[3], dy), 0), 255))
	}
}

// cubic interpolates between b and c by Keys' cubic convolution with a = -1, as Pillow does in Image.transform.
func cubic(a, b, c, e, d float64) float64 {
	p2 := -a + c
	p3 := 2*(a-b) + c - e
	p4 := -a + b - c + e
	return b + float64(d*(p2+float64(d*(p3+float64(d*p4)))))
}

func (m *Bytes) Warp(shown Mapping, w, h int, p Painter) {
	m.Spare.Resize(w, h)
	Warp(&m.Spare, &m.Image, &shown, p)
	m.Swap()
}

func (m *Floats) Warp(shown Mapping, w, h int, p Painter) {
	m.makeSpare(w, h)
	for y := range h {
		for x := range w {
			u, v := shown.of(float64(x)+0.5, float64(y)+0.5)
			m.paint(w*y+x, u-0.5, v-0.5, p)
		}
	}
	m.settleSpare(p.Filter)
	m.Swap()
}

// settleSpare rounds the result of an interpolation, but not the fill.
func (m *Floats) settleSpare(f resize.Filter) {
	if f != resize.Nearest {
		m.depth().Settle(m.Spare.Pix)
	}
}

// paint writes pixel i of the spare image: that at (u, v), where whole numbers are the centres of pixels. As in
// torchvision, pixels outside the image are 0, and then the fill is blended in by how much of them there is.
func (m *Floats) paint(i int, u, v float64, p Painter) {
	src, out := &m.Planes, &m.Spare
	area, n := out.Width*out.Height, src.Width*src.Height
	if !near(u, src.Width, p.Filter) || !near(v, src.Height, p.Filter) {
		for c := range src.Channels {
			out.Pix[c*area+i] = p.Fill.Of(c)
		}
		return
	}
	if p.Filter == resize.Nearest {
		x, y := int(math.RoundToEven(u)), int(math.RoundToEven(v))
		inside := x >= 0 && x < src.Width && y >= 0 && y < src.Height
		for c := range src.Channels {
			if inside {
				out.Pix[c*area+i] = src.Pix[c*n+y*src.Width+x]
			} else {
				out.Pix[c*area+i] = p.Fill.Of(c)
			}
		}
		return
	}
	across, down := reachOf(u, p.Filter).single(), reachOf(v, p.Filter).single()
	var at [16]int
	var weights [16]float32
	used, inside, all := 0, float32(0), true
	for j, ky := range down.weights[:down.n] {
		for k, kx := range across.weights[:across.n] {
			px, py, weight := across.first+k, down.first+j, float32(kx*ky)
			if weight == 0 {
				continue
			}
			if px < 0 || px >= src.Width || py < 0 || py >= src.Height {
				all = false
				continue
			}
			at[used], weights[used] = py*src.Width+px, weight
			inside += weight
			used++
		}
	}
	m.mix(i, at[:used], weights[:used], inside, all, p)
}

// mix writes pixel i of the spare image: the sum of pixels with their weights. Inside is the
// sum of the weights, which is 1 if all pixels that the filter reads are in the image.
func (m *Floats) mix(i int, at []int, weights []float32, inside float32, all bool, p Painter) {
	src, out := &m.Planes, &m.Spare
	area, n := out.Width*out.Height, src.Width*src.Height
	for c := range src.Channels {
		var sum float32
		plane := src.Pix[c*n:][:n]
		for k, weight := range weights {
			sum += float32(plane[at[k]] * weight)
		}
		if !all {
			back := p.Fill.Of(c)
			sum = float32((sum-back)*inside) + back
		}
		out.Pix[c*area+i] = sum
	}
}
