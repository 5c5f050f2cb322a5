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
	mem.blur.run(img, w, h, s.sigma.draw(r), mem)
	return nil
}

// A blur is memory of GaussianBlur. A row is computed from top to bottom first, and kept with
// 8 bits after the point. Numbers of two colours lie in the halves of a word.
type blur struct {
	across, down []uint64 // half of the kernel, from its edge to its middle, which add up to unit
	columns      []int    // by pixel of the row with its reflections: its place
	redBlue      []uint64
	green        []uint64
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
	return append(k, unit-2*used)
}

func (b *blur) run(img *Image, kw, kh int, sigma float64, mem *scratch) {
	w, h := img.Width, img.Height
	b.across, b.down = kernel(b.across, kw, sigma), kernel(b.down, kh, sigma)
	b.columns = b.columns[:0]
	for x := range w + kw - 1 {
		b.columns = append(b.columns, Reflect.index(x-kw/2, w))
	}
	if cap(b.redBlue) < len(b.columns) {
		b.redBlue, b.green = make([]uint64, len(b.columns)), make([]uint64, len(b.columns))
	}
	b.redBlue, b.green = b.redBlue[:len(b.columns)], b.green[:len(b.columns)]
	mem.spare.resize(w, h)
	for y := range h {
		b.column(img, y)
		b.row(mem.spare.Pix[4*w*y:][:4*w])
	}
	*img, mem.spare = mem.spare, *img
}

// column computes row y from the rows around it.
func (b *blur) column(img *Image, y int) {
	const low = 0x0000ffff0000ffff
	w, half := img.Width, len(b.down)-1
	redBlue, green := b.redBlue[len(b.across)-1:][:w], b.green[len(b.across)-1:][:w]
	for x := range redBlue {
		redBlue[x], green[x] = 1<<38+1<<6, 1<<6 // so that the shift below rounds
	}
	for i, k := range b.down {
		above := img.Pix[4*w*Reflect.index(y-half+i, img.Height):][:4*w]
		below := img.Pix[4*w*Reflect.index(y+half-i, img.Height):][:4*w]
		if i == half {
			below = nil
		}
		for x := range redBlue {
			p := above[4*x : 4*x+4 : 4*x+4]
			rb, g := uint64(p[0])|uint64(p[2])<<32, uint64(p[1])
			if below != nil {
				p = below[4*x : 4*x+4 : 4*x+4]
				rb += uint64(p[0]) | uint64(p[2])<<32
				g += uint64(p[1])
			}
			redBlue[x] += k * rb
			green[x] += k * g
		}
	}
	for x := range redBlue {
		redBlue[x] = redBlue[x] >> 7 & low
		green[x] >>= 7
	}
	// The reflections are beyond what has been computed, and come from it.
	edge := len(b.across) - 1
	for x := range edge {
		from := edge + b.columns[x]
		b.redBlue[x], b.green[x] = b.redBlue[from], b.green[from]
		x = len(b.columns) - 1 - x
		from = edge + b.columns[x]
		b.redBlue[x], b.green[x] = b.redBlue[from], b.green[from]
	}
}

// row computes a row of the result.
func (b *blur) row(dst []byte) {
	const round = 1 << 22 // half a level
	half := len(b.across) - 1
	for x := 0; 4*x < len(dst); x++ {
		redBlue, green := b.redBlue[x:x+2*half+1], b.green[x:x+2*half+1]
		rb, g := uint64(round<<32+round), uint64(round)
		for i, k := range b.across[:half] {
			rb += k * (redBlue[i] + redBlue[2*half-i])
			g += k * (green[i] + green[2*half-i])
		}
		rb += b.across[half] * redBlue[half]
		g += b.across[half] * green[half]
		p := dst[4*x : 4*x+4 : 4*x+4]
		p[0], p[1], p[2] = uint8(rb>>23), uint8(g>>23), uint8(rb>>55)
	}
}

// GaussianNoise adds random numbers of a normal distribution to all values, with the mean and the
// standard deviation sigma as parts of the range from 0 to 255: torchvision's GaussianNoise.
// Torchvision's defaults are GaussianNoise(0, 0.1). The numbers are rounded towards 0 and the
// results limited to 0 and 255, as with torchvision's uint8 tensors and clip=True.
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
