package transform

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/penstock-go/penstock/internal/steps"
)

// GaussianBlur blurs the image with a Gaussian kernel of size×size pixels, or, with two
// sizes, height×width: torchvision's GaussianBlur. Sizes are odd. The result is within one
// level of torchvision's, which is the same for PIL images and tensors. The image is reflected
// at its edges, repeatedly if the kernel is larger than the image.
func GaussianBlur(size ...int) Blurring { return Blurring{size: size, sigma: span{0.1, 2}} }

// Blurring is the step that [GaussianBlur] makes.
type Blurring struct {
	size  []int
	sigma span
}

// Sigma sets the range from which the standard deviation is drawn, in pixels. The default is
// 0.1 to 2.
func (s Blurring) Sigma(least, greatest float64) Blurring {
	s.sigma = span{least, greatest}
	return s
}

// String prints the call that made the step.
func (s Blurring) String() string {
	text := steps.Call("GaussianBlur", steps.Anys(s.size)...)
	if s.sigma != (span{0.1, 2}) {
		text += s.sigma.call(".Sigma")
	}
	return text
}

func (s Blurring) add(p *program) error {
	if _, _, err := extent(s.size); err != nil {
		return err
	}
	for _, n := range s.size {
		if n%2 == 0 || n > maxKernel {
			return fmt.Errorf("want odd sizes up to %d", maxKernel)
		}
	}
	if err := s.sigma.check("Sigma"); err != nil {
		return err
	}
	return p.edit(s)
}

// maxKernel keeps the errors of rounded weights small.
const maxKernel = 255

func (s Blurring) edit(img *Image, r *rand.Rand, mem *scratch) error {
	h, w, err := extent(s.size)
	if err != nil {
		return err
	}
	mem.blur.run(img, w, h, s.sigma.draw(r))
	return nil
}

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

func (b *blur) run(img *Image, kw, kh int, sigma float64) {
	w, h := img.Width, img.Height
	b.across, b.down = kernel(b.across, kw, sigma), kernel(b.down, kh, sigma)
	b.row.resize(w + kw - 1)
	b.image.resize(w * h)
	b.sum.resize(w)
	for y := range h {
		b.read(img.Pix[4*w*y:][:4*w], kw/2)
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
			above := b.image.part(w*Reflect.index(y-far, h), w)
			if far == 0 {
				k /= 2
			}
			b.sum.add(k, above, b.image.part(w*Reflect.index(y+far, h), w))
		}
		out := img.Pix[4*w*y:][:4*w]
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
			from := edge + Reflect.index(to-edge, w)
			b.row.redBlue[to], b.row.green[to] = b.row.redBlue[from], b.row.green[from]
		}
	}
}

// GaussianNoise adds random numbers of a normal distribution to all values, with the mean and the
// standard deviation sigma as parts of the range from 0 to 255: torchvision's GaussianNoise.
// Torchvision's defaults are GaussianNoise(0, 0.1). The numbers are rounded towards 0 and the
// results limited to 0 and 255, as with torchvision's uint8 tensors and clip=True.
//
// With [Depth16] they are parts of the greatest value, and floats are limited to 0 and 1, as in
// torchvision. It has no noise for uint16 and int16: they are rounded as uint8 is, and limited to the range
// of their dtype.
func GaussianNoise(mean, sigma float64) Step { return noise{mean, sigma} }

type noise struct{ mean, sigma float64 }

func (s noise) String() string { return steps.Call("GaussianNoise", s.mean, s.sigma) }

func (s noise) add(p *program) error {
	const most = 128 // torchvision's numbers of 16 bits end there
	if !(math.Abs(s.mean) <= most && s.sigma >= 0 && s.sigma <= most) {
		return errors.New("want a mean from -128 to 128, and a sigma from 0 to 128")
	}
	return p.edit(s)
}

func (s noise) edit(img *Image, r *rand.Rand, _ *scratch) error {
	for i := 0; i+4 <= len(img.Pix); i += 4 {
		p := img.Pix[i : i+4 : i+4]
		for c := range 3 {
			p[c] = uint8(min(max(int(p[c])+int(s.mean*255+s.sigma*255*r.NormFloat64()), 0), 255))
		}
	}
	return nil
}
