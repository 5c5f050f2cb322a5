package main

import (
	"bytes"
	"errors"
	"image"
	"image/jpeg"
	"math"
	"slices"

	"github.com/penstock-go/penstock/transform"
)

// pixels are those of an image, row by row: red, green and blue of each, with 16 bits. 8 bits are multiplied by 257.
type pixels struct {
	w, h int
	pix  []uint16
}

// photos are the pixels of one file as several decoders see them, upright or not.
type photos struct {
	plain, turned, golang, golangTurned pixels // those of Go are empty if the file is no JPEG
}

// decodeAll decodes a file in all ways.
func decodeAll(file []byte) (p photos, err error) {
	if p.plain, err = decode(file); err != nil {
		return p, err
	}
	if p.turned, err = decode(file, transform.ExifTranspose()); err != nil {
		return p, err
	}
	if slices.Equal(p.turned.pix, p.plain.pix) {
		p.turned = p.plain // one copy
	}
	m, err := jpeg.Decode(bytes.NewReader(file))
	if err != nil || m.Bounds().Size() != image.Pt(p.plain.w, p.plain.h) {
		return p, nil
	}
	p.golang = pixels{p.plain.w, p.plain.h, make([]uint16, 0, len(p.plain.pix))}
	for y := range p.golang.h {
		for x := range p.golang.w {
			r, g, b, _ := m.At(x, y).RGBA()
			p.golang.pix = append(p.golang.pix, uint16(r), uint16(g), uint16(b))
		}
	}
	if p.golangTurned = p.golang; &p.turned.pix[0] == &p.plain.pix[0] {
		return p, nil
	}
	for o := range 8 { // the one that ExifTranspose has found
		if slices.Equal(p.plain.turn(o).pix, p.turned.pix) {
			p.golangTurned = p.golang.turn(o)
			return p, nil
		}
	}
	return p, errors.New("the image turned by its Exif orientation has other pixels")
}

// decode takes the pixels as Pillow decodes them.
func decode(file []byte, first ...transform.Item) (pixels, error) {
	c, err := transform.Compile(append(first, transform.Rescale(1), transform.Layout(transform.HWC), transform.Ragged())...)
	if err != nil {
		return pixels{}, err
	}
	all, h, w, err := c.Append(nil, transform.File(file))
	if err != nil {
		return pixels{}, err
	}
	p := pixels{w, h, make([]uint16, len(all))}
	for i, v := range all {
		p.pix[i] = uint16(v) * 257
	}
	return p, nil
}

// turn mirrors the columns (bit 0), the rows (bit 1), and then makes rows of columns (bit 2).
func (p pixels) turn(o int) pixels {
	q := pixels{p.w, p.h, make([]uint16, 0, len(p.pix))}
	if o&4 != 0 {
		q.w, q.h = p.h, p.w
	}
	for y := range q.h {
		for x := range q.w {
			from := image.Pt(x, y)
			if o&4 != 0 {
				from = image.Pt(y, x)
			}
			if o&1 != 0 {
				from.X = p.w - 1 - from.X
			}
			if o&2 != 0 {
				from.Y = p.h - 1 - from.Y
			}
			at := 3 * (from.Y*p.w + from.X)
			q.pix = append(q.pix, p.pix[at:at+3]...)
		}
	}
	return q
}

// cut is a part of the image.
func (p pixels) cut(r image.Rectangle) pixels {
	q := pixels{r.Dx(), r.Dy(), make([]uint16, 0, 3*r.Dx()*r.Dy())}
	for y := r.Min.Y; y < r.Max.Y; y++ {
		q.pix = append(q.pix, p.pix[3*(y*p.w+r.Min.X):3*(y*p.w+r.Max.X)]...)
	}
	return q
}

// A filter is how an image is resized.
type filter struct {
	name    string
	pillow  transform.Filter // with the library, where named is set: bit for bit as Pillow, or as OpenCV
	named   bool
	kernel  func(x float64) float64 // nil for those that are not a convolution
	support float64                 // where the kernel ends
	blurs   bool                    // with antialias: the kernel grows as the image shrinks
}

// filters are all that are tried.
var filters = []filter{
	{"bilinear", transform.Bilinear, true, triangle, 1, true},
	{"bicubic", transform.Bicubic, true, cubic(-0.5), 2, true},
	{"lanczos", transform.Lanczos, true, lanczos, 3, true},
	{"nearest", transform.Nearest, true, nil, 0, false},
	{"box", transform.Box, true, box, 0.5, true},
	{"hamming", transform.Hamming, true, hamming, 1, true},
	{"bilinear without antialias", 0, false, triangle, 1, false},
	{"bilinear without antialias, in the whole numbers of OpenCV", transform.OpenCVLinear, true, nil, 0, false},
	{"bicubic without antialias, a = -0.75, as OpenCV and torch", 0, false, cubic(-0.75), 2, false},
	{"bicubic without antialias, a = -0.5", 0, false, cubic(-0.5), 2, false},
	{"nearest from the pixel's corner, as OpenCV and torch", 0, false, nil, 0, false},
	{"area, as OpenCV", 0, false, nil, 0, true},
}

// filterOf is the place of a filter in the list, or -1.
func filterOf(name string) int {
	return slices.IndexFunc(filters, func(f filter) bool { return f.name == name })
}

func triangle(x float64) float64 { return max(0, 1-math.Abs(x)) }

func box(x float64) float64 {
	if x > -0.5 && x <= 0.5 {
		return 1
	}
	return 0
}

// cubic is Keys' convolution.
func cubic(a float64) func(x float64) float64 {
	return func(x float64) float64 {
		switch x = math.Abs(x); {
		case x < 1:
			return ((a+2)*x-(a+3))*x*x + 1
		case x < 2:
			return (((x-5)*x+8)*x - 4) * a
		}
		return 0
	}
}

func sinc(x float64) float64 {
	if x == 0 {
		return 1
	}
	return math.Sin(math.Pi*x) / (math.Pi * x)
}

func lanczos(x float64) float64 {
	if math.Abs(x) >= 3 {
		return 0
	}
	return sinc(x) * sinc(x/3)
}

func hamming(x float64) float64 {
	if math.Abs(x) >= 1 {
		return 0
	}
	return sinc(x) * (0.54 + 0.46*math.Cos(math.Pi*x))
}

// A rounding says how exactly a resize computes.
type rounding int

const (
	usual       rounding = iota // with the library's filters as Pillow; the others compute in floating point and round the result
	torchvision                 // weights of 16 bits, 8 bits between the passes
	once                        // floating point, and the result is rounded
	cutOff                      // floating point, and the fraction of the result is cut off
	none                        // floating point
	xImage                      // golang.org/x/image/draw: 16 bits, of which the lower 8 are cut off
)

// taps are the weights that make one pixel of a row, from the first one on.
type taps struct {
	first   int
	weights []float64
}

// weigh makes the taps with which in pixels become out.
func (f filter) weigh(in, out int) []taps {
	all := make([]taps, out)
	scale := float64(in) / float64(out)
	for x := range all {
		var t taps
		switch centre := (float64(x) + 0.5) * scale; {
		case f.kernel == nil && !f.blurs:
			t = taps{min(int(float64(x)*scale), in-1), []float64{1}}
		case f.kernel == nil: // how much of each pixel the new one covers
			from, to := float64(x)*scale, min(float64(x+1)*scale, float64(in))
			t.first = int(from)
			for k := t.first; float64(k) < to-1e-9; k++ {
				t.weights = append(t.weights, min(float64(k+1), to)-max(float64(k), from))
			}
		case f.blurs:
			wide := max(scale, 1)
			t.first = max(int(centre-f.support*wide+0.5), 0)
			for k := t.first; k < min(int(centre+f.support*wide+0.5), in); k++ {
				t.weights = append(t.weights, f.kernel((float64(k)+0.5-centre)/wide))
			}
		default: // pixels beyond the edge are those at the edge
			left, reach := int(math.Floor(centre-0.5)), int(f.support)
			t.first = min(max(left-reach+1, 0), in-1)
			t.weights = make([]float64, min(max(left+reach, 0), in-1)-t.first+1)
			for k := left - reach + 1; k <= left+reach; k++ {
				t.weights[min(max(k, 0), in-1)-t.first] += f.kernel(float64(k) + 0.5 - centre)
			}
		}
		sum := 0.0
		for _, w := range t.weights {
			sum += w
		}
		for k := range t.weights {
			t.weights[k] /= sum
		}
		all[x] = t
	}
	return all
}

// sixteen rounds weights to the whole numbers that torch has in 16 bits, and says what one is divided by.
func sixteen(all []taps) float64 {
	most, bits := 0.0, 0
	for _, t := range all {
		most = max(most, slices.Max(t.weights))
	}
	for bits < 22 && int(0.5+most*float64(int(1)<<(bits+1))) < 1<<15 {
		bits++
	}
	one := float64(int(1) << bits)
	for _, t := range all {
		for k, w := range t.weights {
			t.weights[k] = math.Trunc(w*one + math.Copysign(0.5, w))
		}
	}
	return one
}

// resize makes an image of w×h pixels with values from 0 to 255. Not every filter has every rounding.
func (p pixels) resize(w, h int, f filter, r rounding) (pix []float32, ok bool) {
	switch {
	case r == usual && f.named, w == p.w && h == p.h:
		return p.resizeByLibrary(w, h, f)
	case f.named && f.kernel == nil, r == torchvision && (!f.blurs || f.support < 1): // no arithmetic, or not in torchvision
		return nil, false
	}
	across, down := f.weigh(p.w, w), f.weigh(p.h, h)
	finish := func(v float64) float64 { return v } // what a pass does with its results
	last := map[rounding]func(v float64) float64{
		usual: halfUp, once: halfUp, none: finish,
		cutOff: func(v float64) float64 { return math.Floor(min(max(v, 0), 255) + 1e-9) },
		xImage: func(v float64) float64 {
			if v *= 257; f.blurs {
				v += 0.5
			}
			return math.Floor(math.Floor(min(max(v, 0), 65535)+1e-9) / 256)
		},
	}[r]
	oneAcross, oneDown := 1.0, 1.0
	if r == torchvision {
		oneAcross, oneDown = sixteen(across), sixteen(down)
		finish, last = halfUp, halfUp
	}
	rows, row := make([]float64, 0, 3*w*p.h), make([]float64, 3*p.w)
	for y := range p.h {
		for i, v := range p.pix[3*y*p.w:][:3*p.w] {
			if r != xImage {
				v = (v >> 8) * 257
			}
			row[i] = float64(v) / 257
		}
		for _, t := range across {
			var red, green, blue float64
			for k, weight := range t.weights {
				v := row[3*(t.first+k):][:3]
				red, green, blue = red+weight*v[0], green+weight*v[1], blue+weight*v[2]
			}
			rows = append(rows, finish(red/oneAcross), finish(green/oneAcross), finish(blue/oneAcross))
		}
	}
	pix = make([]float32, 0, 3*w*h)
	sums := make([]float64, 3*w)
	for _, t := range down {
		clear(sums)
		for k, weight := range t.weights {
			for i, v := range rows[3*w*(t.first+k):][:3*w] {
				sums[i] += weight * v
			}
		}
		for _, v := range sums {
			pix = append(pix, float32(last(v/oneDown)))
		}
	}
	return pix, true
}

// halfUp rounds to 8 bits. Sums that are a half but for the last bits of a float64 are a half.
func halfUp(v float64) float64 { return math.Floor(min(max(v, 0), 255) + 0.5 + 1e-9) }

// resizeByLibrary resizes with the library.
func (p pixels) resizeByLibrary(w, h int, f filter) ([]float32, bool) {
	c, err := transform.Compile(transform.Resize([2]int{h, w}, transform.Interpolation(f.pillow)), transform.Rescale(1), transform.Layout(transform.HWC))
	if err != nil {
		return nil, false
	}
	pix8 := make([]uint8, len(p.pix))
	for i, v := range p.pix {
		pix8[i] = uint8(v >> 8)
	}
	pix := make([]float32, 3*w*h)
	err = c.Into(pix, transform.RGB(pix8, p.w, p.h))
	return pix, err == nil
}
