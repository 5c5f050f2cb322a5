package transform

import (
	"encoding/binary"
	"errors"
	"math"
)

// A mapping says which point of the input a point of the output shows:
//
//	x' = (m[0]·x + m[1]·y + m[2]) / (m[6]·x + m[7]·y + 1)
//	y' = (m[3]·x + m[4]·y + m[5]) / (m[6]·x + m[7]·y + 1)
//
// The centres of pixels have halves as coordinates. It is affine where m[6] and m[7]
// are 0. These are the data of PIL's Image.transform.
type mapping [8]float64

func (m *mapping) isAffine() bool { return m[6] == 0 && m[7] == 0 }

func (m *mapping) of(x, y float64) (float64, float64) {
	u := float64(m[0]*x) + float64(m[1]*y) + m[2]
	v := float64(m[3]*x) + float64(m[4]*y) + m[5]
	if m.isAffine() {
		return u, v
	}
	d := float64(m[6]*x) + float64(m[7]*y) + 1
	return u / d, v / d
}

// A painter says how a warp fills its result.
type painter struct {
	filter Filter // Nearest, Bilinear or Bicubic, which do not antialias here
	fill   [3]uint8
}

func (p painter) options(usual Filter) string {
	text := ""
	if p.filter != usual {
		text += ".Filter(" + p.filter.String() + ")"
	}
	if p.fill != [3]uint8{} {
		text += fillCall(p.fill)
	}
	return text
}

func (p painter) check() error {
	switch p.filter {
	case Nearest, Bilinear, Bicubic:
		return nil
	}
	return errors.New("want the filter Nearest, Bilinear or Bicubic")
}

// warp replaces the image, which render has made, by what m shows of it, in w×h pixels.
func (e *engine) warp(m *mapping, w, h int, p painter) error {
	if e.deep != nil {
		if err := e.deep.warp(e, m, w, h, p.filter); err != nil {
			return err
		}
	} else {
		e.spare.resize(w, h)
		warp(&e.spare, &e.img, m, p)
		e.swap()
	}
	return e.annotations.follow(m, w, h)
}

// warp makes dst what m shows of src, in the size that dst has. The results are those of
// PIL's Image.transform, bit for bit.
func warp(dst, src *Image, m *mapping, p painter) {
	switch {
	case m.movesWholePixels(), p.filter == Nearest && m.isAffine():
		warpNearest(dst, src, m, p.fill)
		return
	case p.filter == Bilinear && m.isAffine():
		warpBilinear(dst, src, m, p.fill)
		return
	}
	w, h := float64(src.Width), float64(src.Height)
	for y := range dst.Height {
		row := dst.Pix[4*y*dst.Width:][:4*dst.Width]
		fillRow(row, p.fill)
		for x := range dst.Width {
			u, v := m.of(float64(x)+0.5, float64(y)+0.5)
			if !(u >= 0 && u < w && v >= 0 && v < h) {
				continue
			}
			out := row[4*x : 4*x+4 : 4*x+4]
			switch p.filter {
			case Nearest:
				copy(out, src.Pix[4*(int(v)*src.Width+int(u)):][:4])
			case Bilinear:
				src.bilinear(out, u-0.5, v-0.5)
			default:
				src.bicubic(out, u-0.5, v-0.5)
			}
		}
	}
}

// movesWholePixels reports whether no filter interpolates anything. Then all give the same.
func (m *mapping) movesWholePixels() bool {
	return m.isAffine() && m[0] == 1 && m[1] == 0 && m[3] == 0 && m[4] == 1 &&
		m[2] == math.Trunc(m[2]) && m[5] == math.Trunc(m[5]) && math.Abs(m[2]) <= maxSide && math.Abs(m[5]) <= maxSide
}

// warpBilinear is warp for affine mappings. Most points have four neighbours within the image.
func warpBilinear(dst, src *Image, m *mapping, fill [3]uint8) {
	w, h := float64(src.Width), float64(src.Height)
	stride := 4 * src.Width
	for y := range dst.Height {
		row := dst.Pix[4*y*dst.Width:][:4*dst.Width]
		fillRow(row, fill)
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

// warpNearest is warp for nearest pixels. Pillow has three ways to do it, with different
// rounding: if only scales change, if coordinates fit into fixed point with 16 digits
// after the point, and otherwise.
func warpNearest(dst, src *Image, m *mapping, fill [3]uint8) {
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
		fillRow(row, fill)
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
func scaleNearest(dst, src *Image, m *mapping, fill [3]uint8) {
	w, h := float64(src.Width), float64(src.Height)
	v := m[5] + float64(m[4]*0.5)
	for y := range dst.Height {
		row := dst.Pix[4*y*dst.Width:][:4*dst.Width]
		fillRow(row, fill)
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
func (m *mapping) fits(w, h int) bool {
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

func fixedNearest(dst, src *Image, m *mapping, fill [3]uint8) {
	right, down := [2]int32{fixed(m[0]), fixed(m[3])}, [2]int32{fixed(m[1]), fixed(m[4])}
	x0 := fixed(m[2] + float64(m[0]*0.5) + float64(m[1]*0.5))
	y0 := fixed(m[5] + float64(m[3]*0.5) + float64(m[4]*0.5))
	w, h := uint32(src.Width), uint32(src.Height)
	for y := range dst.Height {
		row := dst.Pix[4*y*dst.Width:][:4*dst.Width]
		fillRow(row, fill)
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

// bilinear writes the colour at (u, v), where whole numbers are the centres of pixels.
// Results are rounded down.
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

// cubic interpolates between b and c by Keys' cubic convolution with a = -1, as Pillow does
// in Image.transform.
func cubic(a, b, c, e, d float64) float64 {
	p2 := -a + c
	p3 := 2*(a-b) + c - e
	p4 := -a + b - c + e
	return b + float64(d*(p2+float64(d*(p3+float64(d*p4)))))
}
