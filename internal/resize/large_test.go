package resize

import (
	"image"
	"math/rand/v2"
	"testing"

	"golang.org/x/image/draw"
)

// BenchmarkLarge resizes a picture of a telephone, 4032×3024 pixels, to 1024×1024 with Pillow's bicubic, and with the
// filter of golang.org/x/image/draw that is nearest to it.
func BenchmarkLarge(b *testing.B) {
	const w, h, side = 4032, 3024, 1024
	src := noise(rand.New(rand.NewPCG(1, 1)), 4*w*h, 64)
	dst := make([]byte, 4*side*side)
	ms := func(b *testing.B) { b.ReportMetric(float64(b.Elapsed().Microseconds())/1e3/float64(b.N), "ms") }
	b.Run("penstock", func(b *testing.B) {
		x, y := Axis{Filter: Bicubic, In: w, Out: side, To: side}, Axis{Filter: Bicubic, In: h, Out: side, To: side}
		var cache Cache
		mid := make([]byte, 4*side*h, 4*side*h+64)
		for b.Loop() {
			wx, wy := cache.Weights(x), cache.Weights(y)
			Horizontal(mid, 4*side, src, 4*w, h, wx)
			for i := range side {
				Vertical(dst[4*side*i:][:4*side], mid, 4*side, wy, i)
			}
		}
		ms(b)
	})
	b.Run("draw", func(b *testing.B) {
		from := &image.RGBA{Pix: src[:4*w*h], Stride: 4 * w, Rect: image.Rect(0, 0, w, h)}
		to := &image.RGBA{Pix: dst, Stride: 4 * side, Rect: image.Rect(0, 0, side, side)}
		scaler := draw.CatmullRom.NewScaler(side, side, w, h)
		for b.Loop() {
			scaler.Scale(to, to.Rect, from, from.Rect, draw.Src, nil)
		}
		ms(b)
	})
}
