package main

import (
	"bytes"
	"image"
	"image/draw"
	"image/jpeg"
	"math"
	"slices"

	scale "golang.org/x/image/draw"

	"github.com/penstock-go/penstock/transform"
)

// A view is an image as one decoder sees it.
type view struct {
	image image.Image // what golang.org/x/image resizes
	rgba  *image.RGBA // what the others resize
}

// decodeAll decodes a file: [with image/jpeg or not][turned by its Exif orientation or not]. A view that is not there is nil.
func decodeAll(file []byte) (all [2][2]*view, err error) {
	plain, err := decode(file)
	if err != nil {
		return all, err
	}
	turned, err := decode(file, transform.ExifTranspose())
	if err != nil {
		return all, err
	}
	all[0] = [2]*view{{plain, plain}, {turned, turned}}
	m, err := jpeg.Decode(bytes.NewReader(file))
	if err != nil || m.Bounds().Size() != plain.Rect.Size() {
		return all, nil
	}
	golang := &view{m, image.NewRGBA(plain.Rect)}
	draw.Draw(golang.rgba, plain.Rect, m, m.Bounds().Min, draw.Src)
	if all[1][0] = golang; slices.Equal(plain.Pix, turned.Pix) {
		all[1][1] = golang
	}
	return all, nil
}

// decode takes the pixels as Pillow decodes them.
func decode(file []byte, first ...transform.Item) (*image.RGBA, error) {
	c, err := transform.Compile(append(first, transform.Rescale(1), transform.Layout(transform.HWC), transform.Ragged())...)
	if err != nil {
		return nil, err
	}
	all, h, w, err := c.Append(nil, transform.File(file))
	if err != nil {
		return nil, err
	}
	m := image.NewRGBA(image.Rect(0, 0, w, h))
	for i := range w * h {
		m.Pix[4*i], m.Pix[4*i+1], m.Pix[4*i+2], m.Pix[4*i+3] = uint8(all[3*i]), uint8(all[3*i+1]), uint8(all[3*i+2]), 255
	}
	return m, nil
}

// A filter is a way to resize: it makes w×h pixels of a part of a view, red, green and blue of each, from 0 to 255. nil says
// that it cannot.
type filter struct {
	name   string // in a plan, for those of the library
	says   string
	resize func(p *view, from image.Rectangle, w, h int) []float32
}

// filters are all that are tried.
var filters = slices.Concat([]filter{
	library(transform.Bilinear, ""), library(transform.Bicubic, ""), library(transform.Lanczos, ""),
	library(transform.Nearest, ""), library(transform.Box, ""), library(transform.Hamming, ""),
	library(transform.OpenCVLinear, "OpenCV's INTER_LINEAR, without antialias"), library(transform.OpenCVArea, "OpenCV's INTER_AREA"),
	drawn("ApproxBiLinear", scale.ApproxBiLinear), drawn("BiLinear", scale.BiLinear), drawn("CatmullRom", scale.CatmullRom),
	{says: "nearest from the pixel's corner, as OpenCV and torch", resize: kernel{}.resize(exact)},
	{says: "bilinear of torchvision for tensors, which transformers' fast processors use", resize: kernel{triangle, 1, true}.resize(sixteen)},
	{says: "bicubic of torchvision for tensors, which transformers' fast processors use", resize: kernel{cubic(-0.5), 2, true}.resize(sixteen)},
},
	floating("bilinear without antialias", kernel{triangle, 1, false}),
	floating("bicubic without antialias, with a = -0.75 as OpenCV and torch", kernel{cubic(-0.75), 2, false}),
	floating("bicubic without antialias, with a = -0.5", kernel{cubic(-0.5), 2, false}),
	floating("bilinear with antialias", kernel{triangle, 1, true}),
	floating("bicubic with antialias", kernel{cubic(-0.5), 2, true}),
)

// library is a filter of the library: that of Pillow or of OpenCV, bit for bit.
func library(f transform.Filter, says string) filter {
	if says == "" {
		says = f.String()
	}
	return filter{f.String(), says, func(p *view, from image.Rectangle, w, h int) []float32 {
		pix := make([]float32, 3*w*h)
		c, err := transform.Compile(transform.Crop(from.Min.Y, from.Min.X, from.Dy(), from.Dx()),
			transform.Resize([2]int{h, w}, transform.Interpolation(f)), transform.Rescale(1), transform.Layout(transform.HWC))
		if err == nil {
			err = c.Into(pix, transform.Decoded(p.rgba))
		}
		if err != nil {
			return nil
		}
		return pix
	}}
}

// drawn is a filter of golang.org/x/image/draw.
func drawn(name string, s scale.Scaler) filter {
	return filter{says: "draw." + name + " of golang.org/x/image", resize: func(p *view, from image.Rectangle, w, h int) []float32 {
		to := image.NewRGBA(image.Rect(0, 0, w, h))
		s.Scale(to, to.Rect, p.image, from.Add(p.image.Bounds().Min), draw.Src, nil)
		pix := make([]float32, 3*w*h)
		for i := range pix {
			pix[i] = float32(to.Pix[i/3*4+i%3])
		}
		return pix
	}}
}

// floating are the filters of a kernel in floating point.
func floating(says string, k kernel) []filter {
	return []filter{
		{says: says + ", in floating point", resize: k.resize(rounded)},
		{says: says + ", in floating point and not rounded to 8 bits", resize: k.resize(exact)},
		{says: says + ", in floating point with the fractions cut off", resize: k.resize(cutOff)},
	}
}

// A kernel says what the pixels around a place weigh. The zero kernel takes the nearest one from the corner of a new pixel.
type kernel struct {
	at        func(x float64) float64
	support   float64 // where it ends
	antialias bool    // it grows as the image shrinks
}

func triangle(x float64) float64 { return max(0, 1-math.Abs(x)) }

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

// arithmetic says what becomes of a sum.
type arithmetic int

const (
	exact arithmetic = iota
	rounded
	cutOff
	sixteen // weights of 16 bits, and each of the two passes rounds
)

// Sums that are whole, or a half, but for the last bits of a float64 are so.
func (a arithmetic) finish(v float64) float64 {
	const little = 1e-9
	switch a {
	case exact:
		return v
	case cutOff:
		return math.Floor(min(max(v, 0), 255) + little)
	}
	return math.Floor(min(max(v, 0), 255) + 0.5 + little)
}

func (k kernel) resize(a arithmetic) func(p *view, from image.Rectangle, w, h int) []float32 {
	return func(p *view, from image.Rectangle, w, h int) []float32 {
		across, down := k.weigh(from.Dx(), w, a), k.weigh(from.Dy(), h, a)
		rows, pix := make([]float64, 0, 3*w*from.Dy()), make([]float32, 0, 3*w*h)
		for y := range from.Dy() {
			line := p.rgba.Pix[p.rgba.PixOffset(from.Min.X, from.Min.Y+y):]
			for _, t := range across {
				var sum [3]float64
				for i, weight := range t.weights {
					for c, v := range line[4*(t.first+i):][:3] {
						sum[c] += weight * float64(v)
					}
				}
				for _, v := range sum {
					if a == sixteen {
						v = a.finish(v)
					}
					rows = append(rows, v)
				}
			}
		}
		for _, t := range down {
			for i := range 3 * w {
				sum := 0.0
				for j, weight := range t.weights {
					sum += weight * rows[3*w*(t.first+j)+i]
				}
				pix = append(pix, float32(a.finish(sum)))
			}
		}
		return pix
	}
}

// taps are the weights that make one pixel of a row, from the first one on.
type taps struct {
	first   int
	weights []float64
}

// weigh makes the taps with which in pixels become out.
func (k kernel) weigh(in, out int, a arithmetic) []taps {
	all, scale, most := make([]taps, out), float64(in)/float64(out), 0.0
	for x := range all {
		if k.at == nil {
			all[x] = taps{min(int(float64(x)*scale), in-1), []float64{1}}
			continue
		}
		wide, centre := 1.0, (float64(x)+0.5)*scale
		if k.antialias {
			wide = max(scale, 1)
		}
		from, to := int(math.Floor(centre-k.support*wide+0.5)), int(math.Floor(centre+k.support*wide+0.5))
		t, sum := taps{first: min(max(from, 0), in-1)}, 0.0
		for i := from; i < to; i++ {
			if k.antialias && (i < 0 || i >= in) {
				continue
			}
			weight, at := k.at((float64(i)+0.5-centre)/wide), min(max(i, 0), in-1)-t.first // pixels beyond the edge are those at the edge
			if at == len(t.weights) {
				t.weights = append(t.weights, 0)
			}
			t.weights[at] += weight
			sum += weight
		}
		for i := range t.weights {
			t.weights[i] /= sum
			most = max(most, t.weights[i])
		}
		all[x] = t
	}
	if a == sixteen {
		whole(all, most)
	}
	return all
}

// whole rounds weights to the whole numbers of 16 bits that torch has. most is the greatest.
func whole(all []taps, most float64) {
	bits := 0
	for bits < 22 && int(0.5+math.Ldexp(most, bits+1)) < 1<<15 {
		bits++
	}
	for _, t := range all {
		for i, w := range t.weights {
			t.weights[i] = math.Ldexp(math.Round(math.Ldexp(w, bits)), -bits)
		}
	}
}
