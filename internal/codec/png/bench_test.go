package png_test

import (
	"bytes"
	"image"
	"image/color"
	"image/draw"
	stdpng "image/png"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/penstock-go/penstock/internal/codec/png"
)

// photo is smooth with a little noise, so that the encoder uses all filters.
func photo(w, h int) *image.RGBA {
	r := rand.New(rand.NewPCG(1, 2))
	m := image.NewRGBA(image.Rect(0, 0, w, h))
	for i := 0; i < len(m.Pix); i += 4 {
		x, y := float64(i/4%w), float64(i/4/w)
		for c := range 3 {
			m.Pix[i+c] = uint8(128 + 90*math.Sin(x/(40+9*float64(c)))*math.Cos(y/60) + 6*r.NormFloat64())
		}
		m.Pix[i+3] = 255
	}
	return m
}

func encode(b *testing.B, m image.Image) []byte {
	b.Helper()
	var out bytes.Buffer
	if err := stdpng.Encode(&out, m); err != nil {
		b.Fatal(err)
	}
	return out.Bytes()
}

// BenchmarkDecode decodes images of 500×375 pixels. The standard library decodes the whole image,
// which is then still to be converted to RGB.
func BenchmarkDecode(b *testing.B) {
	const w, h = 500, 375
	m := photo(w, h)
	indices := image.NewPaletted(m.Bounds(), nil)
	grey := image.NewGray(m.Bounds())
	draw.Draw(grey, m.Bounds(), m, image.Point{}, draw.Src)
	for i := range 256 {
		indices.Palette = append(indices.Palette, color.RGBA{uint8(i), uint8(3 * i), uint8(7 * i), 255})
	}
	for i, v := range grey.Pix {
		indices.Pix[i] = v / 16
	}
	for name, data := range map[string][]byte{"RGB": encode(b, m), "grey": encode(b, grey), "palette": encode(b, indices)} {
		for part, window := range map[string]image.Rectangle{"whole": image.Rect(0, 0, w, h), "upper half": image.Rect(100, 0, 400, h/2)} {
			b.Run(name+"/"+part, func(b *testing.B) {
				b.ReportAllocs()
				var d png.Decoder
				dst := make([]byte, 4*window.Dx()*window.Dy())
				for b.Loop() {
					if _, _, err := d.Header(data); err != nil {
						b.Fatal(err)
					}
					if err := d.Decode(dst, 4*window.Dx(), window); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
		b.Run(name+"/standard library", func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := stdpng.Decode(bytes.NewReader(data)); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
