package raster

import (
	"errors"
	"image"
	"math"
	"math/rand/v2"

	"github.com/penstock-go/penstock/internal/codec/jpeg"
)

// A blur is memory of GaussianBlur. The image is blurred along rows first, and kept with 8
// bits after the point. Words hold the numbers of two colours in their halves.
type blur struct {
	across, down []uint64 // half of the kernel, from its edge to its middle
	row          words    // a row with its reflections
	image        words    // all rows, blurred along themselves
	sum          words    // a row of the result
}

// words are red and blue, and green, of pixels.
type words struct{ redBlue, green []uint64 }

func (w *words) resize(n int) {
	if cap(w.green) < n {
		w.redBlue, w.green = make([]uint64, n), make([]uint64, n)
	}
	w.redBlue, w.green = w.redBlue[:n], w.green[:n]
}

func (w words) part(from, n int) words {
	return words{w.redBlue[from:][:n], w.green[from:][:n]}
}

// set sets all numbers to v.
func (w words) set(v uint64) {
	for x := range w.green {
		w.redBlue[x], w.green[x] = v<<32+v, v
	}
}

// add adds k times a and b.
func (w words) add(k uint64, a, b words) {
	weigh(w.redBlue, k, a.redBlue, b.redBlue)
	weigh(w.green, k, a.green, b.green)
}

func weigh(sum []uint64, k uint64, a, b []uint64) {
	a, b = a[:len(sum)], b[:len(sum)]
	for x := range sum {
		sum[x] += k * (a[x] + b[x])
	}
}

// unit is the sum of a kernel.
const unit = 1 << 15

// kernel makes the first half of a Gaussian kernel of n pixels, with the middle.
func kernel(k []uint64, n int, sigma float64) []uint64 {
	k = k[:0]
	weight := func(i int) float64 {
		x := float64(i-n/2) / sigma
		return math.Exp(-x * x / 2)
	}
	total := 0.0
	for i := range n {
		total += weight(i)
	}
	sum, used := 0.0, uint64(0)
	for i := range n / 2 {
		sum += weight(i)
		v := uint64(sum/total*unit+0.5) - used // sums are rounded, so that errors do not add up
		k = append(k, v)
		used += v
	}
	return append(k, unit-2*used) // even
}

// Blur is within one level of torchvision's, which is the same for PIL images and tensors. The image is reflected at its edges,
// repeatedly if the kernel is larger than the image.
func (m *Bytes) Blur(kw, kh int, sigma float64) {
	w, h, b := m.Width, m.Height, &m.blur
	b.across, b.down = kernel(b.across, kw, sigma), kernel(b.down, kh, sigma)
	b.row.resize(w + kw - 1)
	b.image.resize(w * h)
	b.sum.resize(w)
	for y := range h {
		b.read(m.Pix[4*w*y:][:4*w], kw/2)
		out := b.image.part(w*y, w)
		out.set(1 << 6) // so that the shift below rounds
		for i, k := range b.across {
			if other := kw - 1 - i; other > i {
				out.add(k, b.row.part(i, w), b.row.part(other, w))
			} else {
				out.add(k/2, b.row.part(i, w), b.row.part(i, w))
			}
		}
		for x := range out.green {
			out.redBlue[x] = out.redBlue[x] >> 7 & 0x0000ffff0000ffff
			out.green[x] >>= 7
		}
	}
	for y := range h {
		b.sum.set(1 << 22)
		for i, k := range b.down {
			far := kh/2 - i
			above := b.image.part(w*Reflect.Index(y-far, h), w)
			if far == 0 {
				k /= 2
			}
			b.sum.add(k, above, b.image.part(w*Reflect.Index(y+far, h), w))
		}
		out := m.Pix[4*w*y:][:4*w]
		for x, rb := range b.sum.redBlue {
			p := out[4*x : 4*x+4 : 4*x+4]
			p[0], p[1], p[2] = uint8(rb>>23), uint8(b.sum.green[x]>>23), uint8(rb>>55)
		}
	}
}

// read expands a row and its reflections, edge pixels on each side.
func (b *blur) read(pix []byte, edge int) {
	w := len(pix) / 4
	for x := range w {
		p := pix[4*x : 4*x+4 : 4*x+4]
		b.row.redBlue[edge+x], b.row.green[edge+x] = uint64(p[0])|uint64(p[2])<<32, uint64(p[1])
	}
	for x := range edge {
		for _, to := range [2]int{edge - 1 - x, edge + w + x} {
			from := edge + Reflect.Index(to-edge, w)
			b.row.redBlue[to], b.row.green[to] = b.row.redBlue[from], b.row.green[from]
		}
	}
}

// gaussian makes a kernel of n pixels, the sum of which is 1.
func gaussian(k []float32, n int, sigma float64) []float32 {
	k = k[:0]
	sum := 0.0
	for i := range n {
		x := float64(i-n/2) / sigma
		v := math.Exp(-x * x / 2)
		k = append(k, float32(v))
		sum += v
	}
	for i := range k {
		k[i] /= float32(sum)
	}
	return k
}

// addTimes adds k times src.
func addTimes(dst, src []float32, k float32) {
	src = src[:len(dst)]
	for x, v := range src {
		dst[x] += float32(v * k)
	}
}

// A softener blurs planes with a Gaussian. They are reflected at their edges.
type softener struct {
	across, down []float32
	wide, row    []float32
}

// prepare makes kernels of kw×kh values.
func (s *softener) prepare(kw, kh int, sigma float64) {
	s.across, s.down = gaussian(s.across, kw, sigma), gaussian(s.down, kh, sigma)
}

func (s *softener) blur(plane []float32, w, h int) {
	kw, kh := len(s.across), len(s.down)
	s.wide, s.row = GrowFloats(s.wide, w*h), GrowFloats(s.row, w+kw-1)
	for y := range h {
		for x := range s.row {
			s.row[x] = plane[w*y+Reflect.Index(x-kw/2, w)]
		}
		out := s.wide[w*y:][:w]
		clear(out)
		for i, k := range s.across {
			addTimes(out, s.row[i:], k)
		}
	}
	for y := range h {
		out := plane[w*y:][:w]
		clear(out)
		for i, k := range s.down {
			addTimes(out, s.wide[w*Reflect.Index(y+i-kh/2, h):], k)
		}
	}
}

func (m *Floats) Blur(kw, kh int, sigma float64) {
	m.soft.prepare(kw, kh, sigma)
	for c := range m.Planes.Channels {
		m.soft.blur(m.Plane(c), m.Width, m.Height)
	}
	m.depth().Settle(m.Pix)
}

func (m *Bytes) Noise(mean, sigma float64, r *rand.Rand) {
	for i := 0; i+4 <= len(m.Pix); i += 4 {
		p := m.Pix[i : i+4 : i+4]
		for c := range 3 {
			p[c] = uint8(min(max(int(p[c])+int(mean*255+sigma*255*r.NormFloat64()), 0), 255))
		}
	}
}

func (m *Floats) Noise(mean, sigma float64, r *rand.Rand) {
	d := m.depth()
	most, n := float64(d.Most), m.Width*m.Height
	for i := range n {
		for k := i; k < len(m.Pix); k += n {
			x := r.NormFloat64()
			v := float32(mean) + float32(float32(x)*float32(sigma))
			if d.Whole {
				v = float32(math.Trunc(float64(mean*most) + float64(sigma*most*x)))
			}
			m.Pix[k] = min(max(m.Pix[k]+v, d.Least), d.Most)
		}
	}
}

// Sharpness blends with what PIL's filter SMOOTH makes: the pixel counts five times,
// and its eight neighbours once. Pixels at the edge are not smoothed.
func (m *Bytes) Sharpness(factor float64) {
	w, h := m.Width, m.Height
	if w < 3 || h < 3 || factor == 1 {
		return
	}
	m.Spare.Resize(w, h)
	stride := 4 * w
	copy(m.Spare.Pix[:stride], m.Pix)
	copy(m.Spare.Pix[stride*(h-1):], m.Pix[stride*(h-1):])
	f := float32(factor)
	for y := 1; y < h-1; y++ {
		smoothRow(m.Spare.Pix[stride*y:][:stride], m.Pix[stride*(y-1):][:3*stride], f)
	}
	m.Swap()
}

// smoothRow computes the middle one of three rows.
func smoothRow(dst, rows []byte, factor float32) {
	n := len(dst)
	above, row, below := rows[:n:n], rows[n:2*n:2*n], rows[2*n:3*n:3*n]
	copy(dst[:4], row)
	copy(dst[n-4:], row[n-4:])
	// Sums of the columns before, at and after the pixel, per channel.
	var left, middle [3]int
	for c := range 3 {
		left[c] = int(above[c]) + int(row[c]) + int(below[c])
		middle[c] = int(above[4+c]) + int(row[4+c]) + int(below[4+c])
	}
	for x := 4; x+8 <= n; x += 4 {
		up, on, low, out := above[x+4:x+8:x+8], row[x:x+8:x+8], below[x+4:x+8:x+8], dst[x:x+4:x+4]
		for c := range 3 {
			right := int(up[c]) + int(on[4+c]) + int(low[c])
			sum := left[c] + middle[c] + right + 4*int(on[c])
			left[c], middle[c] = middle[c], right
			// Pillow divides in float32 and adds a half. Thirteenths are never close to a half.
			smooth := (2*sum + 13) / 26
			v := float32(smooth) + float32(factor*float32(int(on[c])-smooth))
			out[c] = uint8(min(max(v, 0), 255))
		}
	}
}

// Sharpness blends the image with a smoothed one, whose values at the edge are those of the image. All are clamped.
func (m *Floats) Sharpness(factor float64) {
	d := m.depth()
	w, h := m.Width, m.Height
	if w < 3 || h < 3 {
		return
	}
	m.makeSpare(w, h)
	for c := range m.Planes.Channels {
		src, dst := m.Plane(c), m.Spare.Plane(c)
		for y := range h {
			row, out := src[w*y:][:w], dst[w*y:][:w]
			if y == 0 || y == h-1 {
				for x, v := range row {
					out[x] = d.cut(v)
				}
				continue
			}
			d.sharpenRow(out, src[w*(y-1):][:w], row, src[w*(y+1):][:w], float32(1-factor))
		}
	}
	m.Swap()
}

// sharpenRow computes a row from three. Rest is the part of the smoothed image.
func (d Depth) sharpenRow(out, above, row, below []float32, rest float32) {
	const side, middle = float32(1.0 / 13), float32(5.0 / 13)
	last := len(row) - 1
	out[0], out[last] = d.cut(row[0]), d.cut(row[last])
	column := func(x int) float64 { return float64(above[x]) + float64(row[x]) + float64(below[x]) }
	left, here := column(0), column(1)
	for x := 1; x < last; x++ {
		right, v := column(x+1), row[x]
		sum := left + (here - float64(v)) + right
		smooth := float32(float64(sum*float64(side)) + float64(float64(v)*float64(middle)))
		if d.Whole {
			smooth = roundEven(smooth)
		}
		out[x] = d.cut(plusTimes(v, smooth-v, rest))
		left, here = here, right
	}
}

// A recoding is memory of Recode.
type recoding struct {
	lossy   jpeg.Lossy
	decoder jpeg.Decoder
}

// Recode makes the image what it is after coding it as JPEG with this quality, from 1 to 100, and decoding it. The pixels
// are those of libjpeg-turbo.
func (m *Bytes) Recode(quality int) error {
	if m.recoding == nil {
		m.recoding = new(recoding)
	}
	c := m.recoding
	w, h := m.Width, m.Height
	if w > maxCoded || h > maxCoded {
		return errors.New("transform: JPEG: want an image of at most 65535×65535 pixels")
	}
	frame := c.lossy.Prepare(m.Pix, w, h, quality)
	c.decoder.MaxPixels = w * h
	if _, err := c.decoder.Open(frame, &c.lossy); err != nil {
		return err
	}
	m.Spare.Resize(w, h)
	if err := c.decoder.Decode(m.Spare.Pix, 4*w, image.Rect(0, 0, w, h)); err != nil {
		return err
	}
	m.Swap()
	return nil
}

// maxCoded is the longest side of a JPEG image.
const maxCoded = 1<<16 - 1
